import { afterEach, expect, test, vi } from "vitest";
import { silentLogger } from "../../src/platform/logger.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import { switchable } from "../memory-e2e/switchable.js";
import { World } from "../memory-e2e/world.js";

/** History holds less than was said: it catches up by itself, and readiness tells the truth until then. */

let world: World;
afterEach(() => world.close());

const historyPart = async () => (await world.app.readiness()).parts.history;
const inHistory = (guest: ReturnType<World["guest"]>) => world.app.history.search(guest.owner, { query: "jazz", limit: 200 });
const TURNS = ["I prefer jazz evenings.", "I prefer jazz matinees.", "Thank you for the jazz."];

test("[index-derived] a session of which some messages are missing is completed at the start", async () => {
  let vectors: VectorStore | undefined;
  const around = {
    vectors: (store: VectorStore) => {
      vectors = store;
      return store;
    },
  };
  world = await World.open({}, { around });
  const ada = world.guest();
  for (const text of TURNS) await ada.says(text);
  const before = (await inHistory(ada)).map(({ id }) => id).sort();
  const { points = [] } = (await vectors?.client.scroll("history", { limit: 100, with_payload: ["turn"] })) ?? {};
  await vectors?.client.delete("history", { points: points.filter(({ payload }) => payload?.turn !== 1).map(({ id }) => id), wait: true });
  expect((await inHistory(ada)).length).toBeLessThan(before.length);

  await world.restart();
  await vi.waitFor(async () => expect(await historyPart()).toEqual({ status: "ok" }), { timeout: 10_000, interval: 50 });
  expect((await inHistory(ada)).map(({ id }) => id).sort()).toEqual(before);
});

test("[degradation-honest] a store that is away at the start is caught up with when it is back, without a turn", async () => {
  const store = switchable();
  world = await World.open({ HISTORY_BACKEND: "none" }, { around: store.around });
  const ada = world.guest();
  for (const text of TURNS) await ada.says(text);
  store.cut();
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) };
  await world.restart({ HISTORY_BACKEND: "local" }, { logger });
  await vi.waitFor(() => expect(errors).toContain("catching up with the journals failed"), { timeout: 10_000, interval: 10 });
  expect((await historyPart())?.status).not.toBe("ok");
  store.heal();
  expect((await historyPart())?.status).toBe("degraded");
  await vi.waitFor(async () => expect(await historyPart()).toEqual({ status: "ok" }), { timeout: 20_000, interval: 50 });
  expect((await inHistory(ada)).map(({ content }) => content)).toEqual(expect.arrayContaining(TURNS));
});
