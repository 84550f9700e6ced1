import { expect, test } from "vitest";
import { BEGINNING } from "../../src/ports/events.js";
import type { MemoryLogEntry } from "../../src/ports/memory-log.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { entryOf, memoryLogContract, NOW, recordOfText } from "../contract/memory-log.contract.js";
import { ALICE } from "../support/journal-records.js";
import { CutEngine, contentsOf } from "./cut-engine.js";

memoryLogContract("engine", async () => {
  const engine = new MemoryEngine();
  return { log: new EngineMemoryLog(engine), ledger: new EngineOwnerLedger(engine), dispose: async () => {} };
});

async function entriesOf(log: EngineMemoryLog): Promise<readonly MemoryLogEntry[]> {
  const all: MemoryLogEntry[] = [];
  for await (const entry of log.read(ALICE)) all.push(entry);
  return all;
}

const SIX = [1, 2, 3, 4, 5, 6];
const seqsTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const long = (text: string) => `${text} ${"ö".repeat(450)}`;

test("entries over the limit of a value lie in parts, are read over many pages, redacted and erased whole", async () => {
  const engine = new MemoryEngine();
  const log = new EngineMemoryLog(new CutEngine(engine, {}, { maxValueBytes: 4_000, maxCommitBytes: 100_000 }));
  const count = 80;
  for (let seq = 0; seq < count; seq++)
    await log.append(ALICE, entryOf(`short ${seq}`, ...SIX.map((n) => long(`text ${seq} ${n}`))), { expectedSeq: seq, now: NOW });
  const entries = await entriesOf(log);
  expect(entries.map(({ seq, puts }) => [seq, puts.at(-1)?.text])).toEqual(seqsTo(count).map((seq) => [seq, long(`text ${seq - 1} 6`)]));
  expect(await log.residue(ALICE)).toBe(count);
  await log.redact(ALICE, (record) => (record.text.startsWith("text") ? null : record));
  expect((await entriesOf(log)).map(({ puts }) => puts.map(({ text }) => text))).toEqual(seqsTo(count).map((seq) => [`short ${seq - 1}`]));
  expect(await contentsOf(engine)).not.toContain("ö");
  expect(await log.erase(ALICE)).toBe(count);
  expect(await log.residue(ALICE)).toBe(0);
  expect(await contentsOf(engine)).not.toContain("memory-log");
});

test("a log of thousands of short entries is read in a few round trips", async () => {
  const engine = new CutEngine(new MemoryEngine());
  const log = new EngineMemoryLog(engine);
  const count = 3_000;
  for (let seq = 0; seq < count; seq++) await log.append(ALICE, entryOf(`text ${seq}`), { expectedSeq: seq, now: NOW });
  const before = engine.reads;
  expect((await entriesOf(log)).map(({ seq }) => seq)).toEqual(seqsTo(count));
  expect(engine.reads - before).toBeLessThanOrEqual(4);
});

test("an append whose reply is lost is there once, and told once", async () => {
  for (let lostReply = 1, commits = 9; lostReply <= commits; lostReply++) {
    const engine = new MemoryEngine();
    const cut = new CutEngine(engine, { lostReply });
    const events = new EngineEventLog(cut, { queued: true });
    const log = new EngineMemoryLog(cut, events);
    for (const seq of [0, 1]) await log.append(ALICE, entryOf(`text ${seq}`), { expectedSeq: seq, now: NOW });
    expect((await entriesOf(log)).map(({ seq }) => seq)).toEqual([1, 2]);
    expect((await events.read("all", { after: BEGINNING, limit: 10 })).map(({ event }) => event.type)).toEqual([
      "memory.added",
      "memory.added",
    ]);
    commits = cut.commits - 1;
  }
});

test("what waits is known where another process wrote of it, and in parts where it is much", async () => {
  const engine = new MemoryEngine();
  const logs = [1, 2].map(() => new EngineMemoryLog(new CutEngine(engine, {}, { maxValueBytes: 4_000, maxCommitBytes: 1_000_000 })));
  const [one, other] = logs as [EngineMemoryLog, EngineMemoryLog];
  const waiting = (n: number) => ({ ...recordOfText(`text ${n}`), status: "review" as const });
  const settled = { kind: "settle", turn: null, removed: [] } as const;
  const many = seqsTo(200).map(waiting);
  await one.append(ALICE, { ...settled, puts: many }, { expectedSeq: 0, now: NOW });
  await other.append(ALICE, { ...settled, puts: seqsTo(150).map((n) => recordOfText(`text ${n}`)) }, { expectedSeq: 1, now: NOW });
  expect((await one.waiting({})).data).toEqual([ALICE]);
  const last = { ...settled, puts: seqsTo(200).map((n) => recordOfText(`text ${n}`)) };
  await expect(one.append(ALICE, last, { expectedSeq: 1, now: NOW })).rejects.toMatchObject({ code: "MEMORIES_CHANGED" });
  await one.append(ALICE, last, { expectedSeq: 2, now: NOW });
  expect((await other.waiting({})).data).toEqual([]);
  expect(await contentsOf(engine)).not.toContain("memory-waiting");
});

test("what another process appended since is seen by one that knew the last entry", async () => {
  const engine = new MemoryEngine();
  const [one, other] = [new EngineMemoryLog(engine), new EngineMemoryLog(engine)];
  await one.append(ALICE, entryOf("a"), { expectedSeq: 0, now: NOW });
  await other.append(ALICE, entryOf("b"), { expectedSeq: 1, now: NOW });
  await expect(one.append(ALICE, entryOf("c"), { expectedSeq: 1, now: NOW })).rejects.toMatchObject({ code: "MEMORIES_CHANGED" });
  await one.append(ALICE, entryOf("c"), { expectedSeq: 2, now: NOW });
  await other.erase(ALICE);
  await expect(one.append(ALICE, entryOf("d"), { expectedSeq: 3, now: NOW })).rejects.toMatchObject({ code: "MEMORIES_CHANGED" });
  expect(await one.lastSeq(ALICE)).toBe(0);
});

test("an erasure and a redaction that were killed are done by doing them again", async () => {
  for (const killed of [1, 2, 3]) {
    const engine = new MemoryEngine();
    const small = { maxOperations: 100 };
    const log = new EngineMemoryLog(engine);
    for (let seq = 0; seq < 200; seq++) await log.append(ALICE, entryOf(`text ${seq}`), { expectedSeq: seq, now: NOW });
    await expect(new EngineMemoryLog(new CutEngine(engine, { killed }, small)).redact(ALICE, () => null)).rejects.toThrow("killed");
    await log.redact(ALICE, () => null);
    expect((await entriesOf(log)).flatMap(({ puts }) => puts)).toEqual([]);
    const erased = new EngineMemoryLog(new CutEngine(engine, { killed }, small)).erase(ALICE);
    await expect(erased).rejects.toThrow("killed");
    expect(await log.lastSeq(ALICE)).toBe(200);
    await log.erase(ALICE);
    expect([await log.residue(ALICE), await log.lastSeq(ALICE)]).toEqual([0, 0]);
  }
});
