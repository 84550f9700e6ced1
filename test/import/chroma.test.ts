import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { readOtherProduct } from "../../src/import/other-products.js";
import type { ImportResult } from "../../src/ports/application.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { type ChromaServer, openChromaServer } from "../support/chroma-server.js";
import { needing } from "../support/needing.js";

const NOW = new Date("2026-05-01T12:00:00.000Z");
const SAID_AT = "2026-01-05T10:00:00.000Z";

/** Two collections, as a service that keeps what it knows beside what was said has them. */
const MEMORY = {
  ids: ["k1", "k2", "k3"],
  documents: ["Prefers the front stalls", "Must have step-free access", null],
  metadatas: [
    { user_id: "ada", category: "seating", created_at: SAID_AT, importance: 0.8 },
    { user_id: "ada", type: "constraint", created_at: SAID_AT },
    // As Mem0 keeps them.
    { user_id: "ada", data: "Likes jazz", hash: "c0ffee", created_at: SAID_AT },
  ],
};
const HISTORY = {
  ids: ["c2", "c1"],
  documents: ["Two seats are left.", "Any seats for the quartet?"],
  metadatas: [
    { session_id: "t1", role: "assistant", created_at: "2026-01-05T10:00:02.000Z", user_id: "ada" },
    { session_id: "t1", role: "user", created_at: SAID_AT, user_id: "ada" },
  ],
};
const changed = (at: number, about: object) => ({
  ...MEMORY,
  metadatas: MEMORY.metadatas.map((each, index) => (index === at ? { ...each, ...about } : each)),
});

const importTo = (world: World, document: unknown) => world.as("ada").post<ImportResult>("/v1/import", document);
const knownTo = async (world: World) => {
  const of = async (status: string) => (await world.as("ada").get<{ data: Memory[] }>(`/v1/memories?status=${status}`)).body.data;
  const all = [...(await of("active")), ...(await of("review"))];
  return all.map(({ text, status, category, stated_at }) => [text, status, category, stated_at]).sort();
};
const KNOWN = [
  ["Likes jazz", "active", "other", SAID_AT],
  ["Must have step-free access", "review", "other", SAID_AT],
  ["Prefers the front stalls", "active", "seating", SAID_AT],
];

describe.each([
  ["by their names", { memory: MEMORY, history: HISTORY }],
  ["in a list", [MEMORY, HISTORY]],
])("both collections %s", (_, both) => {
  test("memories are known, messages are said; the same again adds nothing", async () => {
    const world = await startWorld(await tempDir());
    expect((await importTo(world, both)).body).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0, memories: 3 });
    expect(await knownTo(world)).toEqual(KNOWN);
    expect((await importTo(world, both)).body).toEqual({ sessions: 1, messages: 0, skipped_duplicates: 2, memories: 0 });
    expect(await knownTo(world)).toEqual(KNOWN);
  });
});

test("one collection after the other is the same, and what was forgotten stays so", async () => {
  const world = await startWorld(await tempDir());
  expect((await importTo(world, HISTORY)).body).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0 });
  expect((await importTo(world, MEMORY)).body).toEqual({ sessions: 0, messages: 0, skipped_duplicates: 0, memories: 3 });
  const { data } = (await world.as("ada").get<{ data: Memory[] }>("/v1/memories")).body;
  const jazz = data.find(({ text }) => text === "Likes jazz");
  expect((await world.as("ada").delete(`/v1/memories/${jazz?.id}`)).status).toBe(204);
  expect((await importTo(world, MEMORY)).body).toMatchObject({ memories: 0 });
  expect(await knownTo(world)).toEqual(KNOWN.slice(1));
});

test("another user's memory of the same id is another one", async () => {
  const world = await startWorld(await tempDir());
  await importTo(world, MEMORY);
  expect((await world.as("ben").post<ImportResult>("/v1/import", MEMORY)).body).toMatchObject({ memories: 3 });
  expect(await knownTo(world)).toEqual(KNOWN);
});

const memoriesOf = (id: string, document: string) => ({ ids: [id], documents: [document], metadatas: [null] });
const messagesOf = (id: string, document: string) => ({
  ids: [id],
  documents: [document],
  metadatas: [{ session_id: "t1", role: "user" }],
});

test("what two collections have under one id is kept of both, once", async () => {
  const world = await startWorld(await tempDir());
  const document = {
    ...{ facts: memoriesOf("1", "Lives in Bergen"), prefs: memoriesOf("1", "Likes jazz") },
    ...{ web: messagesOf("1", "Any seats?"), phone: messagesOf("1", "Two, please.") },
  };
  expect((await importTo(world, document)).body).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0, memories: 2 });
  expect((await importTo(world, document)).body).toEqual({ sessions: 1, messages: 0, skipped_duplicates: 2, memories: 0 });
});

test("an id of its own stays the same beside another collection", () => {
  const { memories = [] } = readOtherProduct({ facts: memoriesOf("1", "Lives in Bergen"), web: messagesOf("1", "Any seats?") }, NOW) ?? {};
  expect(memories.map(({ externalId }) => externalId)).toEqual(["1"]);
});

test.each(["chat_sessions", "sessions", "conversations"])("a history that is called %s is Chroma's", (name) => {
  const { lines = [], memories = [] } = readOtherProduct({ [name]: HISTORY, memory: MEMORY }, NOW) ?? {};
  expect([lines.length, memories.length]).toEqual([2, 3]);
});

test("memories that are not active stay there, whatever is wrong with them", () => {
  const { memories = [] } = readOtherProduct(changed(0, { status: "active" }), NOW) ?? {};
  expect(memories).toHaveLength(3);
  const superseded = changed(2, { status: "superseded", data: "" });
  const read = readOtherProduct([superseded, { ...memoriesOf("k4", "Likes opera"), metadatas: [{ status: "deleted" }] }], NOW);
  expect(read?.memories.map(({ externalId }) => externalId)).toEqual(["k1", "k2"]);
});

test.each([-1e20, 1e20, { _seconds: 1e20 }])("%j is no time: it is of the import", (created_at) => {
  const message = { ...messagesOf("c1", "Any seats?"), metadatas: [{ session_id: "t1", role: "user", created_at }] };
  const { lines = [], memories = [] } = readOtherProduct([changed(0, { created_at }), message], NOW) ?? {};
  expect(lines).toEqual([expect.not.objectContaining({ created_at: expect.anything() })]);
  expect(memories[0]?.stated_at).toBe(NOW.toISOString());
});

test("how far it is is told, memories in batches and then messages; broken off, the same again does the rest", async () => {
  const world = await startWorld(await tempDir());
  const count = 450;
  const numbers = Array.from({ length: count }, (_, n) => n);
  const many = {
    memory: { ids: numbers.map((n) => `k${n}`), documents: numbers.map((n) => `Likes venue ${n}`), metadatas: null },
    history: HISTORY,
  };
  const steps: string[] = [];
  const stop = new AbortController();
  const take = (signal?: AbortSignal) =>
    world.application.imports.import(ownerOf("default", "ada"), asBody(many), {
      format: "export",
      extract: false,
      ...(signal && { signal }),
      onProgress: (done, total) => {
        steps.push(`${done}/${total}`);
        if (steps.length === 1) stop.abort();
      },
    });
  await expect(take(stop.signal)).rejects.toThrow();
  expect(steps.splice(0)).toEqual(["200/450"]);
  expect(await take()).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0, memories: 250 });
  expect(steps).toEqual(["200/450", "400/450", "450/450", "1/2", "2/2"]);
});

test.each([
  [
    "a memory that is too long",
    { memory: { ...MEMORY, documents: ["x", "s".repeat(501), null] } },
    /^Collection memory, record 2 \(k2\): text/,
  ],
  ["a memory without a text", { memory: changed(2, { data: undefined }) }, /^Collection memory, record 3 \(k3\): text/],
  ["a memory of blanks", { memory: changed(2, { data: "  " }) }, /^Collection memory, record 3 \(k3\): text/],
  ["a category that is too long", changed(1, { category: "c".repeat(65) }), /^Record 2 \(k2\): category/],
  ["an aspect that is too long", changed(1, { aspect: "a".repeat(65) }), /^Record 2 \(k2\): aspect/],
  ["a memory of tomorrow's tomorrow", changed(0, { created_at: "2026-05-03T12:00:01Z" }), /^Record 1 \(k1\): created_at: .*ahead/],
  [
    "a message of no session",
    [MEMORY, { ...HISTORY, metadatas: [HISTORY.metadatas[0], { role: "user" }] }],
    /^Collection 2, record 2 \(c1\): session_id/,
  ],
  [
    "another user's message of the same session",
    { ...HISTORY, metadatas: [HISTORY.metadatas[0], { ...HISTORY.metadatas[1], user_id: "ben" }] },
    /2 users/,
  ],
  ["another user's memory", { memory: changed(1, { user_id: "ben" }), history: HISTORY }, /2 users/],
])("%s is refused with its place", (_, document, said) => {
  expect(() => readOtherProduct(document, NOW)).toThrow(said);
});

test("of a file with something wrong nothing is kept", async () => {
  const world = await startWorld(await tempDir());
  const { status, body } = await importTo(world, { history: HISTORY, memory: changed(1, { subject: "everybody" }) });
  expect([status, body]).toMatchObject([400, { code: "INVALID_IMPORT", detail: expect.stringContaining("record 2 (k2): subject") }]);
  expect(await knownTo(world)).toEqual([]);
  expect((await world.as("ada").get<{ data: unknown[] }>("/v1/sessions")).body.data).toEqual([]);
});

test("of a file with a session that takes no import nothing is kept", async () => {
  const world = await startWorld(await tempDir());
  await importTo(world, HISTORY);
  const { data } = (await world.as("ada").get<{ data: { id: string }[] }>("/v1/sessions")).body;
  expect((await world.as("ada").delete(`/v1/sessions/${data[0]?.id}`)).status).toBe(204);
  expect((await importTo(world, { history: HISTORY, memory: MEMORY })).body).toMatchObject({ code: "SESSION_NOT_ACTIVE" });
  expect(await knownTo(world)).toEqual([]);
});

test("memories are refused where long-term memory is off, before anything is kept", async () => {
  const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
  expect(await importTo(world, { memory: MEMORY, history: HISTORY })).toMatchObject({ body: { code: "LONG_TERM_MEMORY_DISABLED" } });
  expect((await world.as("ada").get<{ data: unknown[] }>("/v1/sessions")).body.data).toEqual([]);
});

test("a memory that holds a secret is not taken", async () => {
  const world = await startWorld(await tempDir());
  const secret = { ids: ["k1"], documents: ["The password is sesame42"], metadatas: [null] };
  expect((await importTo(world, secret)).body).toMatchObject({ memories: 0 });
});

interface Theirs {
  createCollection(args: object): Promise<{ add(records: object): Promise<unknown>; get(): Promise<object> }>;
}

needing("chroma", "clouds")("Chroma's own server", () => {
  let server: ChromaServer;
  beforeAll(async () => {
    server = await openChromaServer();
  }, 60_000);
  afterAll(() => server.close());

  test("what its client gets of the two collections is taken in", async () => {
    const name = "chromadb";
    const { ChromaClient } = (await import(name)) as { readonly ChromaClient: new (address: object) => Theirs };
    const client = new ChromaClient({ host: "127.0.0.1", port: Number(new URL(server.url).port), ssl: false });
    const got = async (of: string, { ids, documents, metadatas }: typeof MEMORY | typeof HISTORY) => {
      const collection = await client.createCollection({ name: of, embeddingFunction: null });
      const embeddings = ids.map((_, n) => [1, n]);
      const texts = documents.map((document, at) => document ?? (metadatas[at] as { data?: string }).data ?? "");
      await collection.add({ ids, embeddings, metadatas, documents: texts });
      return JSON.parse(JSON.stringify(await collection.get())) as object;
    };
    const both = { memory: await got("memory", MEMORY), history: await got("history", HISTORY) };
    const world = await startWorld(await tempDir());
    expect((await importTo(world, both)).body).toEqual({ sessions: 1, messages: 2, skipped_duplicates: 0, memories: 3 });
    expect(await knownTo(world)).toEqual(KNOWN);
  });
});

async function* asBody(document: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(document));
}
