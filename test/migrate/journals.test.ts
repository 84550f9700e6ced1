import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import { migrate } from "../../src/operations/migrate.js";
import { collected } from "../../src/platform/collected.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { MovableState } from "../../src/ports/transfer.js";
import { committed } from "../../src/state/durable-commit.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { FileMemoryService } from "../../src/state/jsonl/file-memory-service.js";
import { ERASURE_KEY } from "../../src/state/ledger/ledger-values.js";
import { named, ownerPartition } from "../../src/state/partition.js";
import { EngineJournal } from "../../src/state/sessions/journal.js";
import { jobKey, sessionKey } from "../../src/state/sessions/keys.js";
import { NO_JOURNAL, rowOf, SessionHeads } from "../../src/state/sessions/session-row.js";
import { EngineSessionWriter } from "../../src/state/sessions/session-writer.js";
import { FaultyEngine } from "../state/faulty-engine.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";
import { contentsOf } from "./sample-state.js";

let base: string;
const opened: FileMemoryService[] = [];
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "maitred-migrate-"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((files) => files.close()));
  await rm(base, { recursive: true });
});

async function filesIn(name: string, engine: StateEngine = new MemoryEngine()): Promise<MovableState> {
  const store = await FileMemoryService.open({ dir: join(base, name), fileSystem: nodeFileSystem, logger: silentLogger });
  opened.push(store);
  return { name, engine, journals: { keptIn: "files", store }, leases: async () => new Map() };
}

function rowsIn(engine: StateEngine): MovableState {
  const writer = new EngineSessionWriter({ engine, leases: null, events: null });
  const store = new EngineJournal({ engine, writer, heads: new SessionHeads() });
  return { name: "rows", engine, journals: { keptIn: "rows", store }, leases: async () => new Map() };
}

/** A session in files, with its row as the index has it. */
async function begin({ engine, journals: { store } }: MovableState, owner: Owner, records: Parameters<typeof store.create>[2]) {
  const id = newId();
  await store.create(owner, id, records);
  const at = "2026-03-01T10:00:00.000Z";
  const state = { owner, indexedSeq: 1, session: { id, status: "active", updated_at: at }, turns: [] };
  const row = { v: 2, ...NO_JOURNAL, fold: "f", state };
  const job = { v: 1, state: "pending", attempts: 3, dueAtMs: 5 };
  const puts = { [sessionKey(id)]: row, [`standing/${id}/f/1`]: [1], [jobKey(id, 1)]: job };
  await committed(engine, ownerPartition(owner), {
    puts: [named(owner), ...Object.entries(puts).map(([key, value]) => ({ key, value: JSON.stringify(value) }))],
  });
  return id;
}

/** Journals with all that can be in one: Alice's was written on, taken back and emptied in part; of Bob data is being erased. */
async function fill(state: MovableState): Promise<readonly (readonly [Owner, string])[]> {
  const { store } = state.journals;
  const records = new JournalRecords();
  const alice = await begin(state, ALICE, [records.session(ALICE), ...records.round(1, 2), records.summary(1)]);
  await store.append(ALICE, alice, [records.user(2), records.assistant(2)]);
  await store.append(ALICE, alice, [records.rewind(2, 5), records.user(3, "again 👩‍👧"), records.assistant(3)]);
  await store.rewrite(ALICE, alice, (record) => (record.turn === 3 && record.type === "message" ? null : record));
  const long = await begin(state, ALICE, [records.session(ALICE)]);
  for (let turn = 1; turn <= 400; turn += 1) await store.append(ALICE, long, records.round(turn, 1));
  const bobs = await begin(state, BOB, [records.session(BOB), ...records.round(1)]);
  await committed(state.engine, ownerPartition(BOB), { puts: [{ key: ERASURE_KEY, value: '{"epoch":1}' }] });
  return [
    [ALICE, alice],
    [ALICE, long],
    [BOB, bobs],
  ];
}

const run = (source: MovableState, target: MovableState) =>
  migrate(source, target, { signal: new AbortController().signal, now: new Date() });

async function journalsOf({ journals: { store } }: MovableState, sessions: readonly (readonly [Owner, string])[]) {
  return Promise.all(
    sessions.map(async ([owner, id]) => {
      const { lastSeq, lastTurn, rounds } = await store.window(owner, id, { rounds: 2 });
      const records = await collected(store.read(owner, id, { includeRewound: true }));
      const placed = records.map((record) => (record.type === "rewind" ? { ...record, body: { ...record.body, to_offset: 0 } } : record));
      return { lastSeq, lastTurn, rounds: rounds.map(({ turn }) => turn), records: placed };
    }),
  );
}

/** The same in rows and beside files: what a session's row says of a journal is its store's own. */
async function entriesOf(engine: StateEngine) {
  const all = [...(await contentsOf(engine))].map(([partition, { entries }]) => {
    const kept = Object.entries(entries).filter(([key]) => !key.startsWith("journal/"));
    const same = ([key, value]: readonly [string, string]) =>
      [key, key.startsWith("session/") ? { ...rowOf({ key, value }), ...NO_JOURNAL } : value] as const;
    return [partition, Object.fromEntries(kept.map(same))] as const;
  });
  return Object.fromEntries(all);
}

test("journals go from files to rows and back to files as they were, with pending work beside them", async () => {
  const [source, between, back] = [await filesIn("a"), rowsIn(new MemoryEngine()), await filesIn("b")];
  const sessions = await fill(source);
  const [journals, entries] = [await journalsOf(source, sessions), await entriesOf(source.engine)];
  const counted = { sessions: 3, messages: 2 * 401 + 4 + 2, users: 2 };
  for (const [from, to] of [
    [source, between],
    [between, back],
  ] as const) {
    const report = await run(from, to);
    expect(report).toMatchObject({ differences: [], source: report.target });
    expect(report.target).toMatchObject({ sessions: counted.sessions, users: counted.users });
    expect(await journalsOf(to, sessions)).toEqual(journals);
    expect(await entriesOf(to.engine)).toEqual(entries);
    expect(await run(from, to)).toMatchObject({ differences: [], moved: 0 });
  }
  expect(Object.values(await contentsOf(back.engine)).flatMap(({ entries: rows }) => Object.keys(rows))).toEqual([]);
});

test("a session goes on where it was: the next record has the next number", async () => {
  const [source, target] = [await filesIn("a"), rowsIn(new MemoryEngine())];
  const [[owner, id] = [ALICE, ""]] = await fill(source);
  await run(source, target);
  const { lastSeq } = await source.journals.store.window(owner, id, { rounds: 1 });
  const [record] = await target.journals.store.append(owner, id, [new JournalRecords().user(4)]);
  expect(record?.seq).toBe(lastSeq + 1);
});

test("broken off anywhere, the same again goes on, also with what was said or removed in the source since", async () => {
  const source = await filesIn("a");
  const [first = [ALICE, ""] as const, second = [ALICE, ""] as const] = await fill(source);
  const engine = new MemoryEngine();
  for (const at of [2, 3, 4]) {
    const faulty = new FaultyEngine(engine);
    faulty.crashAfter(at);
    await expect(run(source, rowsIn(faulty))).rejects.toThrow("crashed");
  }
  await source.journals.store.append(...first, new JournalRecords().round(4));
  await source.journals.store.remove(...second);
  const gone = [sessionKey(second[1]), `standing/${second[1]}/f/1`, jobKey(second[1], 1)];
  await committed(source.engine, ownerPartition(ALICE), { deletes: gone });
  const target = rowsIn(engine);
  expect(await run(source, target)).toMatchObject({ differences: [], target: { sessions: 2 } });
  expect(await journalsOf(target, [first])).toEqual(await journalsOf(source, [first]));
  const keys = Object.keys((await contentsOf(engine)).get(ownerPartition(ALICE))?.entries ?? {});
  expect(keys.filter((key) => key.includes(second[1]))).toEqual([]);
  expect(keys.filter((key) => key.startsWith("trash/"))).toEqual([]);
});

test("files that hold another session are refused; those that a broken move left go, where the source has the session no more", async () => {
  const source = rowsIn(new MemoryEngine());
  const filled = await filesIn("a");
  const sessions = await fill(filled);
  await run(filled, source);
  const others = await filesIn("others");
  await others.journals.store.create(BOB, newId(), [new JournalRecords().session(BOB)]);
  await expect(run(source, others)).rejects.toMatchObject({ code: "TARGET_NOT_EMPTY" });

  const faulty = new FaultyEngine(new MemoryEngine());
  const half = await filesIn("half", faulty);
  faulty.crashAfter(2);
  await expect(run(source, half)).rejects.toThrow("crashed");
  faulty.heal();
  const [, , [owner, id] = [BOB, ""]] = sessions;
  const partition = ownerPartition(owner);
  await committed(source.engine, partition, { deletes: [ERASURE_KEY, jobKey(id, 1), `standing/${id}/f/1`] });
  await source.journals.store.remove(owner, id);
  await committed(source.engine, partition, { deletes: [sessionKey(id)] });
  expect(await run(source, half)).toMatchObject({ differences: [], target: { sessions: 2 } });
  expect((await collected(half.journals.store.list())).map(({ sessionId }) => sessionId).sort()).toEqual(
    sessions
      .slice(0, 2)
      .map(([, sessionId]) => sessionId)
      .sort(),
  );
});

test("what can't be read in the source is told", async () => {
  const [source, target] = [await filesIn("a"), rowsIn(new MemoryEngine())];
  const sessions = await fill(source);
  const path = join(base, "a", `${sessions[0]?.[1]}.jsonl`);
  await appendFile(path, "{ no record\n");
  await appendFile(path, `${(await readFile(path, "utf8")).split("\n").at(-3)}\n`);
  const { left_behind } = await run(await filesIn("a", source.engine), target);
  expect(left_behind).toMatchObject({ damaged_records: 1, damaged_journals: 0 });
});
