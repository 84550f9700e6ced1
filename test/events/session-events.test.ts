import { expect, test } from "vitest";
import { mergedEvent, sessionEvents } from "../../src/domain/event.js";
import type { JournalRecord, NewRecord } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import type { MemoryLogEntry } from "../../src/ports/memory-log.js";
import { memoryEvents } from "../../src/state/memory-log/memory-log.js";
import { entryOf, NOW, recordOfText } from "../contract/memory-log.contract.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";

const records = new JournalRecords();
const SESSION = newId();
const at = NOW.toISOString();

function typesOf(...given: readonly NewRecord[]): string[] {
  const numbered = given.map((record, index) => ({ v: 1, seq: index + 1, ...record }) as JournalRecord);
  return sessionEvents(ALICE, SESSION, numbered).map(({ type }) => type);
}

function logged(entry: Partial<MemoryLogEntry>): string[] {
  return memoryEvents(ALICE, { v: 1, seq: 1, at, ...entryOf(), ...entry }).map(({ type }) => type);
}

test("an answer that was imported, copied by a fork, said in between, or waits for its caller's tools ends no turn", () => {
  const answer = (body: object) => {
    const record = records.assistant(1, "interrupted");
    return { ...record, body: { ...record.body, ...body } } as NewRecord;
  };
  expect(typesOf(answer({ imported: true }), answer({ origin_id: newId() }), answer({ interim: true }))).toEqual([]);
  expect(typesOf(answer({ suspended: { steps: [], calls: ["a"], elements: [], sources: [] } }))).toEqual([]);
  expect(typesOf(answer({}))).toEqual(["turn.failed"]);
  expect(typesOf(records.user(1), records.step(1), records.summary(1), records.done(1))).toEqual([]);
  expect(typesOf(records.patch({ status: "active", by: "user" }), records.patch({ tags: [], by: "derived" }))).toEqual([]);
});

test("an entry tells what happened to its memories in it, and not what had happened to them before", () => {
  const base = recordOfText("Prefers jazz");
  const now = (event: "added" | "edited" | "confirmed" | "approved" | "superseded" | "expired") => ({ at, event });
  const before = { at: "2025-01-01T00:00:00.000Z", event: "added" as const };
  const put = (more: object) => logged({ puts: [{ ...base, ...more }] });
  expect(put({ events: [now("added")] })).toEqual(["memory.added"]);
  expect(put({ events: [now("added")], status: "review" })).toEqual(["memory.to_confirm"]);
  expect(put({ events: [before, now("confirmed")] })).toEqual(["memory.confirmed"]);
  expect(put({ events: [before, now("approved")] })).toEqual(["memory.confirmed"]);
  expect(put({ events: [now("edited")] })).toEqual(["memory.added"]);
  expect(put({ events: [before, now("edited")] })).toEqual(["memory.confirmed"]);
  expect(put({ events: [before, now("superseded")], status: "superseded" })).toEqual(["memory.superseded"]);
  expect(put({ events: [before, now("expired")], status: "superseded" })).toEqual(["memory.superseded"]);
  expect(put({ events: [before] })).toEqual([]);
  expect(logged({ kind: "import", puts: [{ ...base, events: [before] }] })).toEqual(["memory.added"]);
  for (const kind of ["seed", "recalled", "narrative", "merge"] as const)
    expect(logged({ kind, puts: [{ ...base, events: [now("added")] }], removed: ["x"] })).toEqual([]);
});

test("a change that waits is told once, however often its memory is put again", () => {
  const change = { op: "end", statement: null, reason: "unclear_change", source: null, stated_at: at, asked: 0 } as const;
  const record = { ...recordOfText("Needs step-free access"), events: [], pending_change: change };
  const ids = ["2026-03-02T00:00:00.000Z", "2026-03-03T00:00:00.000Z"].flatMap((later) =>
    memoryEvents(ALICE, { v: 1, seq: 1, ...entryOf(), at: later, puts: [{ ...record, asked: 1 }] }).map(({ id, type }) => [type, id]),
  );
  expect(ids[0]?.[0]).toBe("memory.to_confirm");
  expect(ids[1]).toEqual(ids[0]);
});

test("a merge is the known user's to be told of, and names the visitor", () => {
  const event = mergedEvent(ALICE, { id: "m", from: BOB, at: NOW });
  expect(event).toMatchObject({ type: "owner.merged", timestamp: at, data: { merge_id: "m", from: "bob" } });
  expect(mergedEvent(ALICE, { id: "m", from: BOB, at: new Date() }).id).toBe(event.id);
});
