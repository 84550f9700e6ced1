import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JsonValue, NewRecord } from "../../src/domain/session.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { ImportService } from "../../src/import/import.js";
import { DisabledMemories } from "../../src/memories/disabled-memories.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { DomainRecords } from "../../src/ports/agent.js";
import { exportDocument } from "../../src/privacy/export.js";
import { IndexedSessionWriter } from "../../src/state/jsonl/session-writer.js";
import { VectorHistory } from "../../src/vectors/history/vector-history.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { openFileStore } from "../support/file-store.js";

const T = (minute: number) => new Date(Date.UTC(2026, 2, 12, 18, minute)).toISOString();

/** Bookings in memory, as a domain would keep them. */
function bookings(): DomainRecords {
  const kept = new Map<Owner, JsonValue[]>();
  return {
    name: "bookings",
    async *export(owner) {
      yield* kept.get(owner) ?? [];
    },
    restore: async (owner, records) => {
      const there = kept.get(owner) ?? [];
      const fresh = records.filter((record) => !there.some((known) => JSON.stringify(known) === JSON.stringify(record)));
      kept.set(owner, [...there, ...fresh]);
      return fresh.length;
    },
    erase: async (owner) => Number(kept.delete(owner)),
    residue: async (owner) => kept.get(owner)?.length ?? 0,
  };
}

async function open() {
  const dir = await mkdtemp(join(tmpdir(), "maitred-restore-"));
  const { store, ledger } = await openFileStore({ dir, clock: { now: () => new Date(T(59)) } });
  const vectors = await openLocalQdrant({ path: ":memory:" });
  const history = await VectorHistory.open({
    store: vectors,
    embedder: new HashingEmbedder({ dimension: 64 }),
    sparse: { documentVector, queryVector },
  });
  const records = bookings();
  const longTerm = new DisabledMemories();
  const writer = new IndexedSessionWriter(store, { onLag: () => expect.unreachable("the index lags"), logger: silentLogger });
  const imports = new ImportService({
    ...{ store, writer, history, lockWaitMs: 1000, promote: null },
    clock: { now: () => new Date(T(59)) },
    gate: { begin: () => ({ signal: new AbortController().signal, end: () => {} }) },
    restore: { longTerm, ledger, records },
  });
  return {
    ...{ store, history, ledger, records, writer, imports },
    export: async (owner: Owner): Promise<string> => {
      let text = "";
      const counts = { sessions: 0, messages: 0, memories: 0, records: 0 };
      for await (const piece of exportDocument({ store, longTerm, records, ledger }, owner, new Date(T(59)), counts)) text += piece;
      return text;
    },
    close: async () => {
      await vectors.close();
      await store.close();
      await rm(dir, { recursive: true });
    },
  };
}
type Place = Awaited<ReturnType<typeof open>>;

/** A session with everything that an export can hold: tool calls, a failed try, an edited message, a summary, tags, an archive. */
async function liveSession({ writer }: Place, owner: Owner): Promise<string> {
  const id = newId();
  const user = (turn: number, minute: number, content: string, extra: object = {}): NewRecord => ({
    ...{ type: "message", id: newId(), turn, at: T(minute) },
    body: { role: "user", content, page_context: "the season's programme", time_zone: "Europe/Vienna", ...extra },
  });
  const answer = (turn: number, minute: number, content: string, outcome: "completed" | "failed" = "completed"): NewRecord => ({
    ...{ type: "message", id: newId(), turn, at: T(minute) },
    body: { role: "assistant", content, outcome, metadata: { model: "m", tokens: { input_tokens: 3, output_tokens: 2 } } },
  });
  const step = (turn: number, minute: number): NewRecord => {
    const stepId = newId();
    const call = {
      type: "tool_call",
      name: "search_events",
      call_id: "c",
      iteration: 0,
      input: { genre: "jazz" },
      output: "two",
      error: null,
    } as const;
    return { type: "step", id: stepId, turn, at: T(minute), body: { id: stepId, ...call, started_at: T(minute), duration_ms: 2 } };
  };
  await writer.create(owner, id, [
    { type: "session", id: newId(), turn: 0, at: T(0), body: { owner, title: "Jazz night", metadata: { channel: "web" } } },
    user(1, 1, "Any jazz on Friday?"),
    step(1, 1),
    answer(1, 2, "Two concerts."),
    { type: "write_back_done", id: newId(), turn: 1, at: T(2), body: { status: "stored", memory_ids: [], attempts: 1 } },
  ]);
  const first = await writer.append(owner, id, [user(2, 3, "Book the frist one"), answer(2, 4, "Which?")]);
  const before = (first[0]?.seq ?? 0) - 1;
  await writer.append(owner, id, [{ type: "rewind", id: newId(), turn: 2, at: T(5), body: { to_seq: before, to_offset: 0 } }]);
  await writer.append(owner, id, [
    user(3, 5, "Book the first one", { edit_of: "x" }),
    answer(3, 6, "", "failed"),
    answer(3, 7, "Booked."),
    { type: "write_back_done", id: newId(), turn: 3, at: T(7), body: { status: "stored", memory_ids: [], attempts: 1 } },
    { type: "summary", id: newId(), turn: 0, at: T(8), body: { text: "Booked jazz.", from_turn: 1, to_turn: 1, by: "extractive" } },
    { type: "session_patch", id: newId(), turn: 0, at: T(9), body: { tags: ["jazz"], by: "user" } },
    { type: "session_patch", id: newId(), turn: 0, at: T(10), body: { status: "archived", by: "user" } },
  ]);
  return id;
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe("an export that is taken back", () => {
  let here: Place;
  let elsewhere: Place;
  let owner: Owner;
  beforeEach(async () => {
    [here, elsewhere] = [await open(), await open()];
    owner = ownerOf("test", randomUUID());
  });
  afterEach(() => Promise.all([here.close(), elsewhere.close()]));

  async function fill(): Promise<string> {
    const id = await liveSession(here, owner);
    await here.imports.import(owner, bytes('{"session_id":"old","role":"user","content":"We met in Graz","message_id":"m1"}\n'), {
      format: "ndjson",
      extract: false,
    });
    await here.records.restore(owner, [{ booking: "b1", seats: ["F7"] }]);
    await here.ledger.addTombstone(owner, { memoryId: newId(), messageIds: ["gone"], textHash: "0".repeat(64), at: T(30) });
    return id;
  }
  const take = (place: Place, whose: Owner, document: string) =>
    place.imports.import(whose, bytes(document), { format: "export", extract: false });

  test("[export-complete] export, import into an empty place, export: the same content", async () => {
    await fill();
    const first = await here.export(owner);
    expect(await take(elsewhere, owner, first)).toEqual({ sessions: 2, messages: 8, skipped_duplicates: 0 });
    expect(JSON.parse(await elsewhere.export(owner))).toEqual(JSON.parse(first));
    expect((await elsewhere.history.search(owner, { query: "Graz", limit: 1 }))[0]).toMatchObject({ message_id: "m1" });
    expect(await elsewhere.store.turns.due(Number.MAX_SAFE_INTEGER, 10), "nothing is extracted again").toEqual([]);
  });

  test("records that the domain leaves out are named in the answer", async () => {
    await fill();
    elsewhere.records.leftOut = async (_owner, records) => records.map((_, at) => ({ at, detail: "is taken here" }));
    const result = await take(elsewhere, owner, await here.export(owner));
    expect(result.left_out).toEqual([{ pointer: "/records/bookings/0", detail: "is taken here" }]);
  });

  test("[export-complete] a name that was made of a first message said again is the session's name there too", async () => {
    const id = newId();
    const user = (turn: number, content: string): NewRecord => ({
      ...{ type: "message", id: newId(), turn, at: T(turn) },
      body: { role: "user", content },
    });
    await here.writer.create(owner, id, [{ type: "session", id: newId(), turn: 0, at: T(0), body: { owner } }, user(1, "Jazz in Lisbon")]);
    await here.writer.append(owner, id, [
      { type: "rewind", id: newId(), turn: 2, at: T(2), body: { to_seq: 1, to_offset: 0 } },
      user(2, "Theatre in Vienna"),
      { type: "session_patch", id: newId(), turn: 0, at: T(2), body: { title: "An evening at the Burgtheater", by: "derived" } },
    ]);
    const first = await here.export(owner);
    expect(JSON.parse(first)).toMatchObject({ sessions: [{ title: "An evening at the Burgtheater", title_by: "derived" }] });
    await take(elsewhere, owner, first);
    expect(JSON.parse(await elsewhere.export(owner))).toEqual(JSON.parse(first));
    expect((await elsewhere.store.index.list(owner, {})).data[0]?.title).toBe("An evening at the Burgtheater");
  });

  test("what was taken back can't be found where it was taken back by the user: edits and failed tries", async () => {
    await fill();
    await take(elsewhere, owner, await here.export(owner));
    expect((await elsewhere.history.search(owner, { query: "book the frist one" })).map(({ content }) => content)).not.toContain(
      "Book the frist one",
    );
  });

  test("taking it back again changes nothing", async () => {
    await fill();
    const first = await here.export(owner);
    expect(await take(here, owner, first)).toEqual({ sessions: 2, messages: 0, skipped_duplicates: 8 });
    expect(JSON.parse(await here.export(owner))).toEqual(JSON.parse(first));
  });

  test("a session that a broken-off import left half-written is written anew", async () => {
    const id = await fill();
    const first = await here.export(owner);
    await take(elsewhere, owner, first);
    await elsewhere.store.journal.rewrite(owner, id, (record) => (record.type === "message" && record.turn === 3 ? null : record));
    expect((await take(elsewhere, owner, first)).messages).toBe(7);
    expect(JSON.parse(await elsewhere.export(owner))).toEqual(JSON.parse(first));
  });

  test("[owner-isolation] somebody else's export gives sessions of one's own, and leaves theirs alone", async () => {
    const id = await fill();
    const theirs = await here.export(owner);
    const me = ownerOf("test", "me");
    expect(await take(here, me, theirs)).toMatchObject({ sessions: 2, messages: 8 });
    expect(await here.store.index.get(me, id)).toBeNull();
    expect(JSON.parse(await here.export(owner))).toEqual(JSON.parse(theirs));
    expect((await here.history.search(me, { query: "Graz" })).length).toBeGreaterThan(0);
  });

  test("a document that is not valid is refused whole, with pointers", async () => {
    await fill();
    const document = JSON.parse(await here.export(owner));
    document.sessions[1].messages[0].role = "robot";
    const error = await take(elsewhere, owner, JSON.stringify(document)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INVALID_IMPORT", errors: [{ pointer: "/sessions/1/messages/0/role" }] });
    expect((await elsewhere.store.index.list(owner, {})).data).toEqual([]);
  });
});
