import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { importedSessionId, type Owner, ownerOf } from "../../src/domain/owner.js";
import { ImportService } from "../../src/import/import.js";
import { DisabledMemories } from "../../src/memories/disabled-memories.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ImportResult } from "../../src/ports/application.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import type { HistoryMessage } from "../../src/ports/resources.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { IndexedSessionWriter } from "../../src/state/jsonl/session-writer.js";
import { InMemoryOwnerLedger, memorySessionStore } from "../support/memory-stores.js";
import { sampleMemory } from "../support/samples.js";

const NOW = new Date("2026-05-01T12:00:00.000Z");

/** Keeps messages by id as an index would; everything that an import has no business calling throws. */
function recordingHistory(): ConversationHistory & { readonly messages: Map<string, HistoryMessage>; failNext: boolean } {
  const refuse = () => {
    throw new Error("not expected of an import");
  };
  const messages = new Map<string, HistoryMessage>();
  return {
    messages,
    failNext: false,
    async addSession(_owner, sessionId, added) {
      if (this.failNext) {
        this.failNext = false;
        throw new Error("the index is out of reach");
      }
      let count = 0;
      for await (const message of added) {
        expect(message.session_id).toBe(sessionId);
        if (!messages.has(message.message_id)) count += 1;
        messages.set(message.message_id, message);
      }
      return count;
    },
    addEvents: refuse,
    search: refuse,
    removeSession: refuse,
    removeMessages: refuse,
    count: refuse,
    counts: refuse,
    erase: refuse,
    residue: refuse,
    health: refuse,
    close: async () => {},
  };
}

async function* chunksOf(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const lines = (...values: readonly object[]) => `${values.map((value) => JSON.stringify(value)).join("\n")}\n`;
const TRIP = [
  { session_id: "trip", role: "user", content: "We are off to Lyon — 里昂!", created_at: "2025-01-02T10:00:00+02:00", message_id: "m1" },
  { session_id: "trip", role: "assistant", content: "A fine choice.", message_id: "m2", name: "Desk", metadata: { mood: "kind" } },
  { session_id: "gift", role: "user", content: "A gift for my mother?" },
  { session_id: "trip", role: "user", content: "Thanks", message_id: "m3" },
];

describe("imports", () => {
  let store: SessionStore;
  let history: ReturnType<typeof recordingHistory>;
  let promoted: string[];
  let spoolDir: string;
  let imports: ImportService;
  let owner: Owner;
  let now: Date;

  beforeEach(async () => {
    now = NOW;
    store = memorySessionStore();
    history = recordingHistory();
    promoted = [];
    spoolDir = await mkdtemp(join(tmpdir(), "maitred-test-"));
    owner = ownerOf("test", randomUUID());
    imports = new ImportService({
      store,
      writer: new IndexedSessionWriter(store, { onLag: () => expect.unreachable("the index lags"), logger: silentLogger }),
      history,
      clock: { now: () => now },
      gate: { begin: () => ({ signal: new AbortController().signal, end: () => {} }) },
      promote: async (_owner, sessionId, _signal, onMessage) => {
        promoted.push(sessionId);
        onMessage(1, 2);
        onMessage(2, 2);
      },
      restore: { longTerm: new DisabledMemories(), ledger: new InMemoryOwnerLedger(), records: null },
      lockWaitMs: 1000,
      spoolDir,
    });
  });
  afterEach(async () => {
    expect(await readdir(spoolDir), "nothing is left of what was spooled").toEqual([]);
    await rm(spoolDir, { recursive: true });
    await store.close();
  });

  const take = (
    body: string | Uint8Array,
    options: { format?: "ndjson" | "export"; extract?: boolean; size?: number } = {},
  ): Promise<ImportResult> =>
    imports.import(owner, chunksOf(body, options.size), { format: options.format ?? "ndjson", extract: options.extract ?? false });
  async function journalOf(externalId: string) {
    const records = [];
    for await (const record of store.journal.read(owner, importedSessionId(owner, externalId))) records.push(record);
    return records;
  }
  const messagesOf = async (externalId: string) =>
    (await journalOf(externalId)).flatMap((record) =>
      record.type === "message" ? [{ turn: record.turn, role: record.body.role, content: record.body.content, at: record.at }] : [],
    );

  test("lines become sessions, in order, with turns of a question and its answer, and can be searched at once", async () => {
    expect(await take(lines(...TRIP))).toEqual({ sessions: 2, messages: 4, skipped_duplicates: 0 });
    expect(await messagesOf("trip")).toEqual([
      { turn: 1, role: "user", content: "We are off to Lyon — 里昂!", at: "2025-01-02T08:00:00.000Z" },
      { turn: 1, role: "assistant", content: "A fine choice.", at: NOW.toISOString() },
      { turn: 2, role: "user", content: "Thanks", at: NOW.toISOString() },
    ]);
    const session = await store.index.findByExternalId(owner, "trip");
    expect(session).toMatchObject({ external_id: "trip", title: "We are off to Lyon — 里昂!", message_count: 3, status: "active" });
    expect(
      [...history.messages.values()].map(({ external_id, custom_metadata, position }) => [external_id, custom_metadata, position]),
    ).toEqual([
      ["m1", undefined, 0],
      ["m2", { mood: "kind" }, 1],
      ["m3", undefined, 2],
      [undefined, undefined, 0],
    ]);
    expect((await store.turns.due(Number.MAX_SAFE_INTEGER, 10)).length, "imported turns wait for no write-back").toBe(0);
  });

  test("[import-not-ahead] a time that has not come yet is taken as now, in the order of the lines, and the same file again finds it", async () => {
    const file = lines(
      { session_id: "c9", role: "user", content: "I am allergic to nuts", created_at: "2026-05-01T15:00:00Z" },
      { session_id: "c9", role: "user", content: "and to shrimps", created_at: "2026-05-02T11:59:59+00:00" },
      { session_id: "c9", role: "user", content: "That was before", created_at: "2026-05-01T13:59:59+02:00" },
    );
    await take(file);
    expect((await messagesOf("c9")).map(({ content, at }) => [content, at])).toEqual([
      ["I am allergic to nuts", NOW.toISOString()],
      ["and to shrimps", NOW.toISOString()],
      ["That was before", "2026-05-01T11:59:59.000Z"],
    ]);
    expect((await store.index.findByExternalId(owner, "c9"))?.updated_at).toBe(NOW.toISOString());
    now = new Date("2026-05-03T12:00:00.000Z");
    expect(await take(file)).toMatchObject({ messages: 0, skipped_duplicates: 3 });
  });

  test("[import-not-ahead] over 24 hours ahead a time is refused with its line and what may be wrong with it; nothing is kept", async () => {
    const ahead = { session_id: "c9", role: "user", content: "I am allergic to nuts", created_at: "2099-01-01T00:00:00Z" };
    await expect(take(lines({ ...ahead, created_at: "2026-05-02T12:00:00Z" }, ahead))).rejects.toMatchObject({
      code: "INVALID_IMPORT",
      status: 400,
      errors: [{ pointer: "/2/created_at", detail: expect.stringMatching(/^Line 2: created_at: .*24 hours ahead.*offset.*milliseconds/u) }],
    });
    const said = {
      id: "m",
      author: { role: "user" },
      create_time: Date.parse("2099-01-01") / 1_000,
      content: { content_type: "text", parts: ["x"] },
    };
    const chat = [{ id: "c", title: "Nuts", mapping: { a: { message: said } } }];
    await expect(take(JSON.stringify(chat), { format: "export" })).rejects.toMatchObject({
      code: "INVALID_IMPORT",
      message: expect.stringMatching(/^Conversation “Nuts” \(c\), message m: created_at: /u),
    });
    expect((await store.index.list(owner, {})).data).toEqual([]);
  });

  test("the same file again changes nothing; a longer one adds what is new", async () => {
    await take(lines(...TRIP));
    expect(await take(lines(...TRIP))).toEqual({ sessions: 2, messages: 0, skipped_duplicates: 4 });
    const more = [...TRIP, { session_id: "trip", role: "assistant", content: "You are welcome", message_id: "m4" }];
    expect(await take(lines(...more))).toEqual({ sessions: 2, messages: 1, skipped_duplicates: 4 });
    expect((await messagesOf("trip")).at(-1)).toMatchObject({ turn: 2, role: "assistant", content: "You are welcome" });
  });

  test("lines without an id that say the same twice are two messages, also when imported again", async () => {
    const same = { session_id: "s", role: "user", content: "again!" };
    expect(await take(lines(same, same))).toMatchObject({ messages: 2 });
    expect(await take(lines(same, same))).toMatchObject({ messages: 0, skipped_duplicates: 2 });
  });

  test("a bad line anywhere refuses the whole, by its number, without its content", async () => {
    const bad = `${lines(...TRIP)}\n{"session_id":"trip","role":"robot","content":"secret words"}\nnot json\n{"session_id":"x","role":"user"}\n`;
    const error = await take(bad).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "INVALID_IMPORT" });
    expect((error as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer)).toEqual(["/6/role", "/7", "/8/content"]);
    expect(JSON.stringify(error)).not.toContain("secret words");
    expect(await store.index.findByExternalId(owner, "trip")).toBeNull();
    expect(history.messages.size).toBe(0);
  });

  test("bytes that are not UTF-8, misspelt keys and times without a zone are bad lines", async () => {
    const invalid = Buffer.concat([
      Buffer.from('{"session_id":"s","role":"user","content":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}\n'),
    ]);
    await expect(take(invalid)).rejects.toMatchObject({ code: "INVALID_IMPORT", message: "Line 1: is not UTF-8" });
    await expect(take(lines({ session_id: "s", role: "user", content: "x", sesion: 1 }))).rejects.toMatchObject({ code: "INVALID_IMPORT" });
    await expect(take(lines({ session_id: "s", role: "user", content: "x", created_at: "yesterday" }))).rejects.toMatchObject({
      code: "INVALID_IMPORT",
    });
    await expect(
      take(lines({ session_id: "s", role: "user", content: "x", metadata: { blob: "a".repeat(600_000) } }), { size: 65_536 }),
    ).rejects.toMatchObject({
      message: "Line 1: is over 512 KiB",
    });
  });

  test("[limits-hold] a line over the limit is not parsed", async () => {
    const parsing = vi.spyOn(JSON, "parse");
    onTestFinished(() => parsing.mockRestore());
    const long = lines({ session_id: "s", role: "user", content: "x", metadata: { blob: "a".repeat(600_000) } });
    await expect(take(long)).rejects.toMatchObject({ message: "Line 1: is over 512 KiB" });
    expect(Math.max(0, ...parsing.mock.calls.map(([text]) => text.length))).toBeLessThan(600_000);
  });

  test("[limits-hold] more than 64 MiB is refused while it comes in", async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        sent += 1024 * 1024;
        yield Buffer.alloc(1024 * 1024, "\n");
      }
    }
    await expect(imports.import(owner, endless(), { format: "ndjson", extract: false })).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    });
    expect(sent).toBe(65 * 1024 * 1024);
  });

  test("a session with live turns is refused, and then nothing of the file is kept", async () => {
    const id = importedSessionId(owner, "trip");
    const at = NOW.toISOString();
    const created = await store.journal.create(owner, id, [
      { type: "session", id: newId(), turn: 0, at, body: { owner, external_id: "trip" } },
      { type: "message", id: newId(), turn: 1, at, body: { role: "user", content: "live" } },
    ]);
    await store.index.apply(owner, id, created);
    await expect(take(lines({ session_id: "gift", role: "user", content: "first" }, ...TRIP))).rejects.toMatchObject({
      code: "SESSION_HAS_LIVE_TURNS",
    });
    expect(await store.index.findByExternalId(owner, "gift")).toBeNull();
  });

  test("goes into the session of that name that there is, whatever its id, as long as nobody talks in it", async () => {
    const [id, at] = [newId(), NOW.toISOString()];
    const first = { type: "session" as const, id: newId(), turn: 0, at, body: { owner, external_id: "trip" } };
    await store.index.apply(owner, id, await store.journal.create(owner, id, [first]));
    await take(lines(...TRIP));
    expect(await store.index.get(owner, id)).toMatchObject({ message_count: 3 });
    expect((await store.index.list(owner, {})).data).toHaveLength(2);
  });

  test("an import that was broken off before it could be searched is completed by the next", async () => {
    history.failNext = true;
    await expect(take(lines(...TRIP))).rejects.toThrow("out of reach");
    expect(await take(lines(...TRIP))).toMatchObject({ messages: 1, skipped_duplicates: 3 });
    expect(history.messages.size).toBe(4);
  });

  test("[owner-isolation] two users' imports of one file never meet", async () => {
    await take(lines(...TRIP));
    const mine = importedSessionId(owner, "trip");
    owner = ownerOf("test", randomUUID());
    expect(await take(lines(...TRIP))).toEqual({ sessions: 2, messages: 4, skipped_duplicates: 0 });
    expect(importedSessionId(owner, "trip")).not.toBe(mine);
    expect(history.messages.size).toBe(8);
  });

  test("preferences are promoted only when asked for", async () => {
    await take(lines(...TRIP));
    expect(promoted).toEqual([]);
    await take(lines(...TRIP), { extract: true });
    expect(promoted).toEqual(["trip", "gift"].map((id) => importedSessionId(owner, id)));
  });

  test("reading what was taken in is reported too, message by message", async () => {
    const seen: [number, number][] = [];
    await imports.import(owner, chunksOf(lines(...TRIP)), {
      format: "ndjson",
      extract: true,
      onProgress: (done, total) => seen.push([done, total]),
    });
    expect(seen.slice(-5)).toEqual([
      [4, 4],
      [5, 6],
      [6, 6],
      [7, 8],
      [8, 8],
    ]);
  });

  test("a thousand messages are reported as they are taken in", async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      session_id: "long",
      role: i % 2 === 0 ? "user" : "assistant",
      content: `line ${i}`,
    }));
    const seen: number[] = [];
    await imports.import(owner, chunksOf(lines(...many), 4096), {
      format: "ndjson",
      extract: false,
      onProgress: (done, total) => seen.push(done / total),
    });
    expect(seen).toHaveLength(1_000);
    expect(seen.at(-1)).toBe(1);
    expect(await messagesOf("long")).toHaveLength(1_000);
  });

  test("a ChatGPT export: the branch that was shown last, without hidden and tool messages, under its title", async () => {
    const node = (id: string, parent: string | null, role: string, parts: unknown[], extra: object = {}) => ({
      [id]: {
        id,
        parent,
        message: { id, author: { role }, create_time: 1_700_000_000.5, content: { content_type: "text", parts }, ...extra },
      },
    });
    const conversation = {
      title: "Wine",
      conversation_id: "c-1",
      current_node: "a2",
      mapping: {
        root: { id: "root", parent: null, message: null },
        ...node("s", "root", "system", [""], {}),
        ...node("u1", "s", "user", ["Which wine goes with fish?"]),
        ...node("a1", "u1", "assistant", ["An old branch"]),
        ...node("t", "u1", "tool", ["internal"]),
        ...node("h", "t", "user", ["hidden"], { metadata: { is_visually_hidden_from_conversation: true } }),
        ...node("a2", "h", "assistant", ["A dry white.", { asset_pointer: "x" }]),
      },
    };
    expect(await take(JSON.stringify([conversation]), { format: "export" })).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0 });
    expect((await messagesOf("c-1")).map(({ content, at }) => [content, at])).toEqual([
      ["Which wine goes with fish?", "2023-11-14T22:13:20.500Z"],
      ["A dry white.", "2023-11-14T22:13:20.500Z"],
    ]);
    expect(await store.index.findByExternalId(owner, "c-1")).toMatchObject({ title: "Wine" });
  });

  test("[poison-refused] a title that another product's model made is kept without the secrets in it", async () => {
    const said = { id: "m", author: { role: "user" }, create_time: 1_700_000_000, content: { content_type: "text", parts: ["Hello"] } };
    const chat = [{ id: "c", title: "Card 4111 1111 1111 1111 declined", mapping: { a: { message: said } } }];
    await take(JSON.stringify(chat), { format: "export" });
    expect((await store.index.findByExternalId(owner, "c"))?.title).toBe("Card … declined");
  });

  test("of a ChatGPT export, a message that is too long to keep is left out and named; what is wrong is named by conversation and message", async () => {
    const conversation = (id: string, title: string | null, messages: readonly { id: string; text: string }[]) => ({
      ...{ title, conversation_id: id, current_node: messages.at(-1)?.id },
      mapping: Object.fromEntries(
        messages.map((each, i) => {
          const message = { id: each.id, author: { role: "user" }, content: { content_type: "text", parts: [each.text] } };
          return [each.id, { parent: messages[i - 1]?.id ?? null, message }];
        }),
      ),
    });
    const long = { id: "m-2", text: "z".repeat(100_001) };
    const wine = conversation("c-1", "Wine", [{ id: "m-1", text: "Which wine?" }, long, { id: "m-3", text: "And with cheese?" }]);
    expect(await take(JSON.stringify([wine]), { format: "export", size: 65_536 })).toEqual({
      ...{ sessions: 1, messages: 2, skipped_duplicates: 0 },
      left_out: [{ pointer: "/1", detail: "Conversation “Wine” (c-1), message m-2: is over 100,000 characters" }],
    });
    expect((await messagesOf("c-1")).map(({ content }) => content)).toEqual(["Which wine?", "And with cheese?"]);

    const bad = conversation("c-2", "Bread\u001b[2J", [{ id: `m-${"4".repeat(300)}`, text: "Which flour?" }]);
    const error = await take(JSON.stringify([wine, bad]), { format: "export", size: 65_536 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "INVALID_IMPORT",
      message: expect.stringMatching(/^Conversation “Bread \[2J” \(c-2\), message m-4+/u),
    });
    expect(JSON.stringify(error)).not.toContain("flour");
  });

  test.each([
    ["category", "c".repeat(65)],
    ["aspect", "a".repeat(65)],
    ["condition", "c".repeat(121)],
    ["about", "a".repeat(201)],
    ["need", "n".repeat(65)],
  ])("an export whose memory has a longer %s than any other door takes is refused", async (field, value) => {
    const memory = { ...sampleMemory({ id: newId() }), history: [], [field]: value };
    const body = JSON.stringify({ format: "maitred-export", version: 1, user: null, sessions: [], memories: [memory] });
    await expect(take(body, { format: "export" })).rejects.toMatchObject({
      code: "INVALID_IMPORT",
      message: expect.stringContaining(`memories/0/${field}`),
    });
  });

  test("JSON that is no export says what would be one", async () => {
    for (const body of ['{"format":"other"}', "[]x", "3", '{"format":"maitred-export","version":99,"sessions":[]}'])
      await expect(take(body, { format: "export" }), body).rejects.toMatchObject({ code: "INVALID_IMPORT" });
  });
});
