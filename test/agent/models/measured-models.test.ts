import { describe, expect, test } from "vitest";
import { EVERYTHING } from "../../../src/agent/models/capabilities.js";
import { KnownCapabilities } from "../../../src/agent/models/known-capabilities.js";
import { EngineMeasuredModels } from "../../../src/state/endpoints/measured-models.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { filesHolding, openWorld, startWorld, tempDir } from "../../e2e/world.js";
import { readingWorld } from "../../fitted/reading-world.js";
import { openSmallWindowServer, plainConcierge } from "../../fitted/small-window-server.js";
import { openFaultServer } from "../../support/providers/fault-server.js";
import { TestClock } from "../../support/session-world.js";

const HOUR_MS = 60 * 60_000;

function replicas() {
  const engine = new MemoryEngine();
  let nowMs = Date.parse("2027-03-28T09:00:00Z");
  const clock = {
    now: () => new Date(nowMs),
    seconds: (seconds: number) => {
      nowMs += seconds * 1_000;
    },
  };
  const store = new EngineMeasuredModels(engine);
  return { engine, clock, store, open: () => KnownCapabilities.open({ store, clock, maxAgeMs: 24 * HOUR_MS }) };
}

describe("[measured-once] what was measured of a model", () => {
  test("is known to every process, each of which adds what it has learnt, with the date from which it holds", async () => {
    const { clock, open } = replicas();
    const [one, other] = [await open(), await open()];
    const began = clock.now().toISOString();
    one.learn("a", "m", { contextTokens: 4_096 });
    await one.flush();
    clock.seconds(60);
    const third = await open();
    expect(third.measureOf("a", "m", undefined)).toMatchObject({ contextTokens: 4_096, measuredAt: began });
    third.learn("a", "m", { tools: false });
    await third.flush();
    one.learn("a", "m", { outputPerSecond: 12 });
    await one.flush();
    expect(one.of("a", "m")).toMatchObject({ contextTokens: 4_096, tools: false, outputPerSecond: 12 });
    expect((await open()).of("a", "m")).toEqual({ ...EVERYTHING, contextTokens: 4_096, tools: false, outputPerSecond: 12 });
    // One that came before knows once it learns something itself.
    other.learn("a", "m", { streaming: false });
    await other.flush();
    expect(other.of("a", "m")).toMatchObject({ tools: false, streaming: false });
  });

  test("is measured anew once it is older than the bound, by all processes", async () => {
    const { clock, open } = replicas();
    const [one, other] = [await open(), await open()];
    for (const known of [one, other]) {
      known.learn("a", "m", { contextTokens: 4_096, tools: false });
      await known.flush();
    }
    clock.seconds((24 * HOUR_MS) / 1_000);
    expect(one.of("a", "m")).toEqual(EVERYTHING);
    expect((await open()).of("a", "m")).toEqual(EVERYTHING);
    one.learn("a", "m", { contextTokens: 8_192 });
    await one.flush();
    expect((await open()).measureOf("a", "m", undefined)).toMatchObject({ contextTokens: 8_192, measuredAt: clock.now().toISOString() });
    expect((await open()).of("a", "m").tools).toBe(true);
  });

  test("a window that was refused bounds the one that is configured until it is older than the bound", async () => {
    const { clock, open } = replicas();
    const known = await open();
    known.learnRefusedWindow("a", "m", 2_048);
    expect(known.measureOf("a", "m", 32_768).contextTokens).toBe(2_048);
    clock.seconds((24 * HOUR_MS) / 1_000);
    expect(known.measureOf("a", "m", 32_768).contextTokens).toBe(32_768);
  });

  test("is forgotten where an answer contradicts it, and the new holds", async () => {
    const { clock, open } = replicas();
    const known = await open();
    known.learn("a", "m", { contextTokens: 4_096, tools: false });
    await known.flush();
    clock.seconds(1);
    known.forget("a", "m");
    known.learn("a", "m", { contextTokens: 32_768 });
    await known.flush();
    expect((await open()).of("a", "m")).toEqual({ ...EVERYTHING, contextTokens: 32_768 });
  });

  test("what somebody else has written there is measured anew, and a small change of speed is not kept each time", async () => {
    const { engine, store, open } = replicas();
    const known = await open();
    known.learn("a", "m", { outputPerSecond: 20 });
    await known.flush();
    const [hash = ""] = (await store.all()).keys();
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const { version } = await engine.read("s:models", {});
    known.learn("a", "m", { outputPerSecond: 21 });
    await new Promise((resolve) => setImmediate(resolve));
    expect((await engine.read("s:models", {})).version).toBe(version);
    await store.change(hash, () => ({ measured_at: new Date(0).toISOString(), facts: { contextTokens: "many", tools: 3 } }));
    expect((await open()).of("a", "m")).toEqual(EVERYTHING);
  });

  test("holds over a restart: no request is refused again, /readyz says since when, and no file says where the endpoint is", async () => {
    const server = await openSmallWindowServer("llama.cpp", 2_048, plainConcierge);
    const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing" };
    const dir = await tempDir();
    const clock = new TestClock();
    const before = await openWorld(dir, env, { clock });
    expect((await before.as("ada").post("/v1/chat", { message: "Any concerts?" })).status).toBe(200);
    const refused = server.refused.length;
    expect(refused).toBeGreaterThan(0);
    await before.stop();
    const since = clock.now().toISOString().slice(0, 10);
    clock.seconds(60);
    const after = await startWorld(dir, env, { clock });
    const readyz = await after.as("ada").get<{ parts: { model: { detail?: string } } }>("/readyz");
    expect(readyz.body.parts.model.detail).toMatch(new RegExp(`^2,048 tokens at once.*measured since ${since}`));
    expect((await after.as("ada").post("/v1/chat", { message: "Any concerts?" })).status).toBe(200);
    expect(server.refused).toHaveLength(refused);
    expect(await filesHolding(dir, [new URL(server.url).host])).toEqual([]);
  });

  test("MODEL_CONTEXT_TOKENS overrules it, and with MODEL_MEASURE_HOURS=0 nothing is kept", async () => {
    const server = await openSmallWindowServer("llama.cpp", 4_096, plainConcierge, { tells: true });
    const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing" };
    const dir = await tempDir();
    const before = await openWorld(dir, env);
    await before.as("ada").post("/v1/chat", { message: "Any concerts?" });
    await before.stop();
    const overruled = await openWorld(dir, { ...env, MODEL_CONTEXT_TOKENS: "3000" });
    expect(overruled.application.parts.models.chat.measured?.().contextTokens).toBe(3_000);
    await overruled.stop();
    const fresh = await startWorld(dir, { ...env, MODEL_MEASURE_HOURS: "0" });
    expect(fresh.application.parts.models.chat.measured?.()).toMatchObject({ contextTokens: null, measuredAt: null });
  });

  test("a model that can't read is not asked again behind a restart: the stand-in reads in its place", async () => {
    const dir = await tempDir();
    const first = await readingWorld(() => ({ text: "I found nothing of note." }), { dir });
    for (const message of ["I love jazz, any concerts?", "My wife can't stand opera by the way.", "What about the museum on Sunday?"]) {
      await first.client.post("/v1/chat", { message });
      await first.written();
    }
    const asked = first.readings().length;
    await first.world.stop();
    const env = { OPENAI_BASE_URL: first.stub.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing" };
    const after = await startWorld(dir, env);
    await after.as("ada").post("/v1/chat", { message: "I am allergic to nuts, so find me dinner." });
    await after.application.parts.worker.drain(20_000);
    expect(first.readings()).toHaveLength(asked);
    const { body } = await after.as("ada").get<{ parts: { model: object } }>("/readyz");
    expect(body.parts.model).toMatchObject({ status: "degraded", detail: expect.stringMatching(/m can't read messages/) });
  });
});

test("[measured-once] an answer that has read more than the window holds shows that another model stands under the name", async () => {
  const usage = { prompt_tokens: 9_000, completion_tokens: 3 };
  const chunk = (rest: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", ...rest })}\n\n`;
  const answer = {
    pieces: [
      chunk({ choices: [{ index: 0, delta: { content: "Good evening." }, finish_reason: "stop" }] }),
      chunk({ choices: [], usage }),
      "data: [DONE]\n\n",
    ],
  };
  const server = await openFaultServer({ answers: () => answer, tellsWindow: 4_096 });
  try {
    const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", MEM0_ENABLED: "false" };
    const world = await startWorld(await tempDir(), env);
    const { chat } = world.application.parts.models;
    await world.as("ada").post("/v1/chat", { message: "Good evening!" });
    // Whatever else was known of the other one is gone.
    expect(chat.measured?.().outputPerSecond).toBeNull();
  } finally {
    await server.close();
  }
});

test("[reading-bounded] a message costs two answers also where a restart comes between them", async () => {
  const dir = await tempDir();
  let answered = 0;
  const first = await readingWorld(
    () => {
      answered += 1;
      return answered === 1 ? { text: "?" } : { fault: "hang" };
    },
    { dir },
  );
  await first.client.post("/v1/chat", { message: "I love jazz." });
  while (first.readings().length < 2) await first.stub.arrived(first.stub.requests.length + 1);
  await first.world.application.close({ drainMs: 0 });
  const again = await readingWorld(() => ({ text: "?" }), { dir });
  await again.written();
  // One was answered before, one now; the one in between was broken off unanswered.
  expect(again.readings()).toHaveLength(1);
  expect(await again.written()).toMatchObject({ pending: 0, failed: 1 });
});
