import { expect, onTestFinished, test } from "vitest";
import { maintenanceOf } from "../../src/cli/maintenance-of.js";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import type { MessageReader } from "../../src/ports/extraction.js";
import { TestClock } from "../support/session-world.js";
import { standInReader } from "../support/stand-in.js";
import { startWorld, tempDir, type World } from "./world.js";

const ada = ownerOf("default", "ada");

/** Counts what is read. */
function countingReader() {
  const inner = standInReader();
  const counted: MessageReader & { readings: number } = {
    name: inner.name,
    readings: 0,
    read: (...args) => {
      counted.readings += 1;
      return inner.read(...args);
    },
  };
  return counted;
}

/** A store that takes nothing in while it is broken, with a clock in hand: backoff costs no waiting. */
async function brokenStore() {
  const clock = new TestClock();
  const reader = countingReader();
  const state = { broken: true, tries: 0 };
  const world = await startWorld(
    await tempDir(),
    { LOG_LEVEL: "silent" },
    {
      clock,
      reader,
      around: {
        memoryStore: (store) =>
          new Proxy(store, {
            get: (inner, name) => {
              const value: unknown = Reflect.get(inner, name);
              if (typeof value !== "function") return value;
              if (name !== "project") return value.bind(inner);
              return async (...args: unknown[]) => {
                if (state.broken) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
                return value.apply(inner, args);
              };
            },
          }),
        longTerm: (longTerm) =>
          new Proxy(longTerm, {
            get: (inner, name) => {
              const value: unknown = Reflect.get(inner, name);
              if (typeof value !== "function") return value;
              if (name === "remember") state.tries += 1;
              return value.bind(inner);
            },
          }),
      },
    },
  );
  onTestFinished(() => world.stop());
  return { world, clock, state, reader };
}

/** Lets every try come that backoff puts off, until the turn is given up. */
async function untilGivenUp(world: World, clock: TestClock): Promise<void> {
  const { store, worker } = world.application.parts;
  while ((await store.turns.counts()).pending > 0) {
    clock.seconds(600);
    await worker.drain(20_000);
  }
}

test("[write-back-visible] a turn that fails too often shows as failed on the session, in readyz and for the doctor, and can be retried", async () => {
  const { world, clock, state } = await brokenStore();
  const client = world.as("ada");
  const answer = await client.post<{ session_id: string }>("/v1/chat", { message: "I prefer jazz concerts." });
  expect(answer.status).toBe(200);
  const session = `/v1/sessions/${answer.body.session_id}`;
  await untilGivenUp(world, clock);
  expect(state.tries).toBe(74);

  expect((await client.get(session)).body).toMatchObject({ write_back: { pending_turns: 0, failed_turns: 1 } });
  expect((await client.get("/readyz")).body).toMatchObject({ parts: { write_back: { status: "degraded" } } });
  const maintenance = maintenanceOf(world.application.parts);
  expect(await maintenance.pendingWriteBacks()).toEqual({ pending: 0, failed: 1 });
  const given = [];
  for await (const each of maintenance.givenUpTurns()) given.push(each);
  expect(given).toEqual([
    { tenant: "default", user: "ada", sessionId: answer.body.session_id, turns: 1, code: "LONG_TERM_MEMORY_UNAVAILABLE" },
  ]);
  // What the store lacks is not shown as nothing.
  expect(await client.get("/v1/memories")).toMatchObject({ status: 503, body: { code: "LONG_TERM_MEMORY_UNAVAILABLE" } });

  state.broken = false;
  expect((await client.post(`${session}/write-back/retry`)).status).toBe(202);
  expect((await client.post(`${session}/flush?timeout_ms=10000`)).body).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect((await client.get("/v1/memories")).body).toMatchObject({ data: [{ text: expect.stringMatching(/jazz/) }] });
});

test("[write-back-visible] a failed turn is still failed after the index was lost, and is not extracted again by the retry", async () => {
  const { world, clock, state, reader } = await brokenStore();
  const answer = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message: "I prefer jazz concerts." });
  await untilGivenUp(world, clock);
  const { store, reindex } = world.application.parts;
  await store.index.clear();
  for await (const { owner, sessionId } of store.journal.list()) {
    for await (const record of store.journal.read(owner, sessionId, { includeRewound: true }))
      await store.index.apply(owner, sessionId, [record]);
  }
  await reindex({ which: "all" });
  expect(await store.turns.of(ada, answer.body.session_id)).toMatchObject([{ turn: 1, state: "failed" }]);
  expect(reader.readings).toBe(1);
  state.broken = false;
  await world.application.sessions.retryWriteBack(ada, answer.body.session_id);
  await world.application.sessions.flush(ada, answer.body.session_id, 10_000);
  expect(reader.readings).toBe(1);
  expect((await world.as("ada").get("/v1/memories")).body).toMatchObject({ data: [{ text: expect.stringMatching(/jazz/) }] });
});

test("[write-back-visible] promote reads what was given up, in a server that nobody calls, and has nothing left to do after it", async () => {
  const { world, clock, state, reader } = await brokenStore();
  await world.as("ada").post("/v1/chat", { message: "I am allergic to nuts." });
  await untilGivenUp(world, clock);
  const { promotion, store } = world.application.parts;
  const signal = AbortSignal.timeout(20_000);
  expect(await promotion.run({ owner: ada, signal })).toMatchObject({ messages: 0, failed_sessions: 1 });
  state.broken = false;
  expect(await promotion.run({ owner: ada, signal })).toEqual({ sessions: 1, messages: 1, stored: 1, confirmed: 0, failed_sessions: 0 });
  expect((await world.as("ada").get("/v1/memories")).body).toMatchObject({ data: [{ text: expect.stringMatching(/nuts/) }] });
  expect(await store.turns.counts()).toEqual({ pending: 0, failed: 0 });
  expect(await promotion.run({ owner: ada, signal })).toMatchObject({ messages: 0, failed_sessions: 0 });
  expect(reader.readings).toBe(1);
});
