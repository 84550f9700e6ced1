import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { category } from "../../src/domain/categories.js";
import { statementSchema } from "../../src/domain/memory.js";
import type { MemoryRecord } from "../../src/domain/memory-record.js";
import { recordFrom } from "../../src/memories/statement-record.js";
import { collected } from "../../src/platform/collected.js";
import { derivedId } from "../../src/platform/ids.js";
import type { MemoryLog, NewMemoryLogEntry } from "../../src/ports/memory-log.js";
import type { OwnerLedger } from "../../src/ports/owner-ledger.js";
import { everyItem } from "../../src/ports/pages.js";
import { type ContractOptions, optionalTests } from "../../src/testing/supports.js";
import { ALICE, BOB } from "../support/journal-records.js";

export interface MemoryLogUnderTest {
  readonly log: MemoryLog;
  readonly ledger: OwnerLedger;
  dispose(): Promise<void>;
}

export const NOW = new Date("2026-03-01T10:00:00.000Z");

const CATEGORIES = [category("genre", "kinds of music", "preference", "soft", [], "the genre")];

export function recordOfText(text: string): MemoryRecord {
  const source = { session_id: "s", turn: 1, message_id: "m", quote: `I said: ${text}` };
  const statement = statementSchema.parse({ text, category: "genre" });
  return recordFrom({ id: derivedId("memory", text), statedAt: NOW.toISOString(), source, statement, waits: null }, NOW, CATEGORIES);
}

export function entryOf(...texts: readonly string[]): NewMemoryLogEntry {
  const turn = { session_id: "s", turn: 1, message_id: "m", reader: "test" };
  return { kind: "turn", turn, puts: texts.map(recordOfText), removed: [], dropped: { over: 1 } };
}

/** `epochs`: late work is refused after an erasure; `redact`: texts can be taken out; `waiting`: who waits for a word can be listed. */
export type MemoryLogFeature = "epochs" | "redact" | "waiting";

/** What every memory log promises. */
export function memoryLogContract(
  name: string,
  make: () => Promise<MemoryLogUnderTest>,
  { supports }: ContractOptions<MemoryLogFeature> = {},
): void {
  const when = optionalTests(supports);
  describe(`memory log: ${name}`, () => {
    let made: MemoryLogUnderTest;
    let log: MemoryLog;
    beforeEach(async () => {
      made = await make();
      log = made.log;
    });
    afterEach(() => made.dispose());

    const entries = (owner = ALICE, fromSeq = 1, toSeq?: number) =>
      collected(log.read(owner, { fromSeq, ...(toSeq !== undefined && { toSeq }) }));
    const append = (entry: NewMemoryLogEntry, expectedSeq: number, owner = ALICE) => log.append(owner, entry, { expectedSeq, now: NOW });

    test("an owner without a log has an empty one", async () => {
      expect(await entries()).toEqual([]);
      expect(await log.lastSeq(ALICE)).toBe(0);
      expect(await log.residue(ALICE)).toBe(0);
      expect(await log.erase(ALICE)).toBe(0);
      await log.redact(ALICE, () => null);
    });

    test("entries are numbered from 1 and read back as they were, each owner's own", async () => {
      const first = await append(entryOf("jazz"), 0);
      expect(first).toEqual({ v: 1, seq: 1, at: NOW.toISOString(), ...entryOf("jazz") });
      const second = await append({ kind: "hand", turn: null, puts: [], removed: ["x"], happened_cursor: "c" }, 1);
      const request = { id: "r", hash: "h", place: 0, memory_id: "jazz" };
      const third = await append({ kind: "hand", turn: null, puts: [], removed: [], request }, 2);
      expect(await entries()).toEqual([first, second, third]);
      expect(await entries(ALICE, 2)).toEqual([second, third]);
      expect(await entries(ALICE, 1, 2)).toEqual([first, second]);
      expect(await entries(ALICE, 2, 9)).toEqual([second, third]);
      expect(await log.lastSeq(ALICE)).toBe(3);
      expect(await entries(BOB)).toEqual([]);
      await append(entryOf("polka"), 0, BOB);
      const owners = await collected(log.owners());
      expect(owners.sort()).toEqual([ALICE, BOB].sort());
    });

    when("waiting")("who waits for a word is listed until nothing waits any more, page by page", async () => {
      const waiting = (text: string) => ({ ...recordOfText(text), status: "review" as const, reason: "unsure" as const });
      const listed = async (query: { readonly tenant?: string; readonly limit?: number } = {}) =>
        (await collected(everyItem((at) => log.waiting({ ...query, ...at })))).toSorted();
      expect(await listed()).toEqual([]);
      await append({ ...entryOf("jazz"), puts: [waiting("nuts"), waiting("stairs"), recordOfText("jazz")] }, 0);
      await append(entryOf("polka"), 0, BOB);
      expect(await listed()).toEqual([ALICE]);
      const [row] = entryOf("polka").puts;
      if (row === undefined) return expect.fail("there is no record");
      const change = { kind: "retract", statement: null, stated_at: NOW.toISOString(), source: row.source, reason: "unsure", asked: 0 };
      const changed = { ...row, pending_change: change } as unknown as MemoryRecord;
      await append({ kind: "tool", turn: null, puts: [changed], removed: [] }, 1, BOB);
      expect(await listed({ limit: 1 })).toEqual([ALICE, BOB].toSorted());
      expect(await listed({ tenant: "nobody's" })).toEqual([]);
      // One is settled, the other goes.
      await append({ kind: "settle", turn: null, puts: [recordOfText("nuts")], removed: [] }, 1);
      expect(await listed()).toEqual([ALICE, BOB].toSorted());
      await append({ kind: "forget", turn: null, puts: [], removed: [waiting("stairs").id] }, 2);
      expect(await listed()).toEqual([BOB]);
      await log.erase(BOB);
      expect(await listed()).toEqual([]);
      await expect(log.waiting({ cursor: "zz" })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
    });

    test("of many who saw the same last entry one appends, the others are told", async () => {
      const tries = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => append(entryOf(`band ${n}`), 0)));
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const tried of tries) if (tried.status === "rejected") expect(tried.reason).toMatchObject({ code: "MEMORIES_CHANGED" });
      expect(await entries()).toHaveLength(1);
    });

    when("epochs")("while an erasure is open nobody writes but who says that they may", async () => {
      await append(entryOf("jazz"), 0);
      await made.ledger.beginErasure(ALICE, NOW.toISOString());
      const epoch = await made.ledger.epoch(ALICE);
      for (const options of [{}, { epoch }])
        await expect(log.append(ALICE, entryOf("opera"), { expectedSeq: 1, now: NOW, ...options })).rejects.toMatchObject({
          code: "OWNER_ERASED",
        });
      await log.append(ALICE, entryOf("chess"), { expectedSeq: 1, now: NOW, behindFence: true });
      await made.ledger.withdrawErasure(ALICE);
      expect(await append(entryOf("opera"), 2)).toMatchObject({ seq: 3 });
    });

    when("epochs")("work of an epoch before an erasure is refused", async () => {
      const epoch = await made.ledger.epoch(ALICE);
      await log.append(ALICE, entryOf("jazz"), { expectedSeq: 0, epoch, now: NOW });
      await made.ledger.beginErasure(ALICE, NOW.toISOString());
      await expect(log.append(ALICE, entryOf("opera"), { expectedSeq: 1, epoch, now: NOW })).rejects.toMatchObject({
        code: "OWNER_ERASED",
      });
      expect(await entries()).toHaveLength(1);
    });

    when("redact")("a redaction changes and drops records, and keeps every entry's number", async () => {
      await append(entryOf("jazz", "opera"), 0);
      await append(entryOf("polka"), 1);
      await log.redact(ALICE, (record) => {
        if (record.text === "opera") return null;
        return record.text === "jazz" && record.source !== null ? { ...record, source: { ...record.source, quote: "" } } : record;
      });
      const [first, second] = await entries();
      expect(first?.puts.map(({ text, source }) => [text, source?.quote])).toEqual([["jazz", ""]]);
      expect(second?.puts.map(({ text }) => text)).toEqual(["polka"]);
      expect((await append(entryOf("swing"), 2)).seq).toBe(3);
    });

    when("redact")("a redaction is told by which entry a record was put", async () => {
      await append(entryOf("jazz"), 0);
      await append(entryOf("polka"), 1);
      await log.redact(ALICE, (record, seq) => (seq === 1 ? null : record));
      expect((await entries()).map(({ puts }) => puts.map(({ text }) => text))).toEqual([[], ["polka"]]);
    });

    test("an erased log is gone, and begins anew", async () => {
      await append(entryOf("jazz"), 0);
      await append(entryOf("polka"), 0, BOB);
      expect(await log.residue(ALICE)).toBe(1);
      expect(await log.erase(ALICE)).toBe(1);
      expect(await log.residue(ALICE)).toBe(0);
      expect(await log.lastSeq(ALICE)).toBe(0);
      expect((await append(entryOf("opera"), 0)).seq).toBe(1);
      expect(await log.lastSeq(BOB)).toBe(1);
    });
  });
}
