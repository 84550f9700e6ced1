import { afterEach, expect, test } from "vitest";
import { startupBlock } from "../../src/cli/startup-block.js";
import { type EmbeddingsStub, type EmbeddingsStubOptions, openEmbeddingsStub } from "../support/openai-embeddings-stub.js";
import { World } from "./world.js";

const DIMENSION = 32;
let stub: EmbeddingsStub;
let world: World;

async function start(service: Partial<EmbeddingsStubOptions> = {}, variables: Readonly<Record<string, string>> = {}): Promise<void> {
  stub = await openEmbeddingsStub({ dimension: DIMENSION, ...service });
  world = await World.open({ EMBEDDING_BASE_URL: stub.baseUrl, ...variables });
}

afterEach(async () => {
  await world.close();
  await stub.close();
});

const sent = (from = 0) => stub.requests.slice(from).flatMap(({ input }) => input);

test("a turn asks for its message's vector once: recall, history, extraction and write-back share it", async () => {
  await start();
  const guest = world.guest();
  const message = "I prefer jazz concerts. What did I say about seats last week?";
  await guest.says(message);
  expect(sent().filter((text) => text === message)).toHaveLength(1);
  expect(await guest.holds()).not.toEqual([]);
  expect(new Set(sent()).size, "no text is sent twice").toBe(sent().length);
  const from = stub.requests.length;
  await guest.says("Thanks!");
  expect(sent(from)).toContain("Thanks!");
  // The anchors of occasions are asked for once in a process, by themselves.
  const asked = stub.requests.slice(from).filter(({ input }) => input.length === 1);
  expect(asked, "the message, then the answer").toHaveLength(2);
});

test("a model that wants prefixes gets them: queries and documents apart", async () => {
  await start({}, { MEMORY_EMBEDDING_MODEL: "nomic-embed-text" });
  const guest = world.guest();
  await guest.says("I love opera.");
  const message = "I prefer jazz concerts.";
  await guest.says(message);
  const texts = sent(1);
  expect(texts.filter((text) => text.includes(message)).sort()).toEqual([`search_document: ${message}`, `search_query: ${message}`]);
  expect(texts.every((text) => /^search_(?:query|document): /.test(text))).toBe(true);
});

test("while the embedder fails: memories are formed and recalled, history is found by words, and all of it says so", async () => {
  let down = true;
  const refuse = () => (down ? { status: 500, body: { error: { message: "down" } } } : null);
  await start({ refuse }, { MEMORY_EMBEDDING_DIMENSIONALITY: String(DIMENSION) });
  expect(startupBlock(world.app.info, "http://127.0.0.1")).toMatch(/Embedder .*it fails.*500/);
  const guest = world.guest();
  await guest.says("I am allergic to peanuts. I prefer jazz concerts.");
  const memories = await guest.memories({ status: "active" });
  expect(memories.map(({ strength }) => strength).sort()).toEqual(["hard", "soft"]);

  const answer = await guest.newSession().says("What is on tonight?");
  expect(answer.memory.status).toBe("degraded");
  expect(answer.memory.recalled.map(({ id }) => id).sort()).toEqual(memories.map(({ id }) => id).sort());
  const [found] = await world.app.history.search(guest.owner, { query: "peanuts" });
  expect(found?.content).toContain("peanuts");
  expect((await world.app.readiness()).parts.embedder).toMatchObject({ status: "degraded" });

  down = false;
  const from = stub.requests.length;
  await guest.says("I prefer opera on Sundays.");
  const missing = sent(from).filter((text) => /peanut/i.test(text));
  expect(missing.length, "what had no vector got one").toBeGreaterThan(0);
  expect((await world.app.readiness()).parts.embedder).toMatchObject({ status: "ok" });
  const similar = await world.app.memories.search(guest.owner, { text: "peanuts", limit: 5 });
  expect(similar.map(({ id }) => id)).toEqual(expect.arrayContaining(memories.map(({ id }) => id)));
});

test("a model that takes no dimension is used with its own, also when it is out of reach at the next start", async () => {
  let down = false;
  const refuse = ({ dimensions }: { readonly dimensions?: number | undefined }) => {
    if (down) return { status: 503, body: {} };
    return dimensions === undefined ? null : { status: 400, body: { error: { message: "dimensions is not supported" } } };
  };
  await start({ refuse });
  expect(world.app.info.embedder).toMatchObject({ dimension: DIMENSION, remote: true, problem: null });
  expect(startupBlock(world.app.info, "http://127.0.0.1")).toMatch(/Embedder .*32 numbers, remote/);
  down = true;
  await world.restart();
  expect(world.app.info.embedder.dimension).toBe(DIMENSION);
  expect(world.app.info.embedder.problem).toMatch(/503/);
});

test("a dimension of 768 is asked for where nothing says another", async () => {
  await start();
  expect(stub.requests[0]?.dimensions).toBe(768);
  expect(world.app.info.embedder.dimension).toBe(768);
});
