import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WriteBackWorker } from "../../src/after-turn/write-back-worker.js";
import { orAbort } from "../../src/platform/bounded-signal.js";
import { holdLease, LEASE_MS } from "../../src/platform/held-lease.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { PendingTurn, PendingTurns } from "../../src/ports/session-store.js";
import { alice, makeWorld } from "../support/session-world.js";

const SECOND = 1_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

const turn = { owner: alice, sessionId: "s", turn: 1, claim: "1" } as PendingTurn;

function held(renew: (given: PendingTurn) => Promise<PendingTurn | null>) {
  const lost = vi.fn();
  return { claim: holdLease(turn, { renew, onLost: lost, onError: () => {} }), lost };
}

describe("The claim of a turn", () => {
  test("is renewed each second by what it was renewed to, until its turn is done", async () => {
    const renewed: (string | undefined)[] = [];
    const { claim, lost } = held(async (given) => {
      renewed.push(given.claim);
      return { ...given, claim: String(renewed.length + 1) };
    });
    await vi.advanceTimersByTimeAsync(3 * SECOND);
    expect(claim.job.claim).toBe("4");
    claim.end();
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    expect(renewed).toEqual(["1", "2", "3"]);
    expect(lost).not.toHaveBeenCalled();
  });

  test("is lost once the store says so", async () => {
    const renew = vi.fn(async () => null);
    const { lost } = held(renew);
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    expect(lost).toHaveBeenCalledOnce();
    expect(renew).toHaveBeenCalledOnce();
  });

  test("is lost when it has ended in a store that was out of reach for so long, and not before", async () => {
    const { lost } = held(async () => {
      throw new Error("out of reach");
    });
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(lost).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    expect(lost).toHaveBeenCalledOnce();
  });
});

test("a turn whose claim is lost is broken off and let go, and is no failed attempt", async () => {
  const { store, sessions, say, clock } = await makeWorld();
  const { id } = await sessions.create(alice, {});
  await say(alice, id, "I am allergic to nuts.", "Noted.");
  const leases: number[] = [];
  const letGo: (string | undefined)[] = [];
  const turns = new Proxy(store.turns, {
    get(target, name) {
      if (name === "renew") return async () => null;
      if (name === "claim")
        return async (...[now, limit, options]: Parameters<PendingTurns["claim"]>) => {
          leases.push(options.leaseMs);
          return (await target.claim(now, limit, options)).map((each) => ({ ...each, claim: "mine" }));
        };
      if (name === "letGo") return async ({ claim }: PendingTurn) => void letGo.push(claim);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const run = vi.fn((_: PendingTurn, signal: AbortSignal) => orAbort(new Promise<never>(() => {}), signal));
  const writeBack = { run, fail: async () => expect.unreachable() };
  const worker = new WriteBackWorker({ writeBack, store: { ...store, turns }, clock, logger: silentLogger, afterDone: async () => {} });
  try {
    worker.kick();
    await vi.waitFor(() => expect(run).toHaveBeenCalledOnce());
    await vi.advanceTimersByTimeAsync(SECOND);
    await vi.waitFor(() => expect(letGo).toEqual(["mine"]));
    expect(await store.turns.of(alice, id)).toMatchObject([{ state: "pending", attempts: 0 }]);
    expect(leases[0]).toBe(LEASE_MS);
  } finally {
    await worker.stop();
  }
});
