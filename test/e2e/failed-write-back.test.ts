import { expect, onTestFinished, test } from "vitest";
import { maintenanceOf } from "../../src/cli/maintenance-of.js";
import { AppError } from "../../src/errors.js";
import { ownerOf } from "../../src/owner.js";
import { TestClock } from "../support/session-world.js";
import { startWorld, tempDir, type World } from "./world.js";

const ada = ownerOf("default", "ada");

/** A store that takes nothing in while it is broken, with a clock in hand: backoff costs no waiting. */
async function brokenStore() {
  const clock = new TestClock();
  const state = { broken: true, tries: 0 };
  const world = await startWorld(
    await tempDir(),
    { LOG_LEVEL: "silent" },
    {
      clock,
      around: {
        longTerm: (longTerm) => {
          const apply = longTerm.apply.bind(longTerm);
          longTerm.apply = async (...args) => {
            state.tries += 1;
            if (state.broken) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
            return apply(...args);
          };
          return longTerm;
        },
      },
    },
  );
  onTestFinished(() => world.stop());
  return { world, clock, state };
}

/** Lets every try come that backoff puts off, until the turn is given up. */
async function untilGivenUp(world: World, clock: TestClock): Promise<void> {
  const { store, worker } = world.application.parts;
  while ((await store.index.pendingCounts()).pending > 0) {
    clock.days(1);
    await worker.drain(10_000);
  }
}

test("[write-back-visible] a turn that fails too often shows as failed on the session, in readyz and for the doctor, and can be retried", async () => {
  const { world, clock, state } = await brokenStore();
  const client = world.as("ada");
  const answer = await client.post<{ session_id: string }>("/v1/chat", { message: "I prefer jazz concerts." });
  expect(answer.status).toBe(200);
  const session = `/v1/sessions/${answer.body.session_id}`;
  await untilGivenUp(world, clock);
  expect(state.tries).toBe(8);

  expect((await client.get(session)).body).toMatchObject({ write_back: { pending_turns: 0, failed_turns: 1 } });
  expect((await client.get("/readyz")).body).toMatchObject({ parts: { write_back: { status: "degraded" } } });
  expect(await maintenanceOf(world.application.parts).pendingWriteBacks()).toEqual({ pending: 0, failed: 1 });
  expect((await client.get("/v1/memories")).body).toMatchObject({ data: [] });

  state.broken = false;
  expect((await client.post(`${session}/write-back/retry`)).status).toBe(202);
  expect((await client.post(`${session}/flush?timeout_ms=10000`)).body).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect((await client.get("/v1/memories")).body).toMatchObject({ data: [{ text: expect.stringMatching(/jazz/) }] });
});

test("[write-back-visible] a failed turn is still failed after the index was lost, and is not extracted again by the retry", async () => {
  const { world, clock, state } = await brokenStore();
  const answer = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message: "I prefer jazz concerts." });
  await untilGivenUp(world, clock);
  const { store, reindex } = world.application.parts;
  await store.index.clear();
  for await (const { owner, sessionId } of store.journal.list()) {
    for await (const record of store.journal.read(owner, sessionId, { includeRewound: true }))
      await store.index.apply(owner, sessionId, [record]);
  }
  await reindex({ which: "all" });
  expect(await store.index.pendingOf(ada, answer.body.session_id)).toMatchObject([{ turn: 1, state: "failed", planned: true }]);
  state.broken = false;
  await world.application.sessions.retryWriteBack(ada, answer.body.session_id);
  await world.application.sessions.flush(ada, answer.body.session_id, 10_000);
  const plans = [];
  for await (const record of store.journal.read(ada, answer.body.session_id))
    if (record.type === "write_back_plan") plans.push(record.turn);
  expect(plans).toEqual([1]);
});
