import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { Logger } from "../../src/platform/logger.js";
import { silentLogger } from "../../src/platform/logger.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { TurnRegistry } from "../../src/turn/turn-registry.js";
import { Visits } from "../../src/turn/visits.js";
import { HandClock } from "../sessions-e2e/models.js";

const ANA = ownerOf("default", "ana");
const BEN = ownerOf("default", "ben");
const AT = "2026-03-01T10:00:00.000Z";

function makeVisits({ resolve = async (owner: typeof ANA) => owner } = {}) {
  const engine = new MemoryEngine();
  const ledger = new EngineOwnerLedger(engine);
  const registry = new TurnRegistry();
  const clock = new HandClock(AT);
  const warned: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_: object, message?: string) => void warned.push(message ?? "") };
  const gate = { begin: (owner: typeof ANA) => registry.begin(owner, "upkeep") };
  const visits = new Visits({ ledger, registry, gate, resolve, clock, logger });
  return { visits, ledger, registry, clock, warned, commits: vi.spyOn(engine, "commit"), reads: vi.spyOn(engine, "read") };
}

afterEach(() => void vi.useRealTimers());

describe("visits of a user", () => {
  it("are written once however many come within one turn, with the time of the first and what all have told", async () => {
    const { visits, ledger, registry, clock, commits, reads } = makeVisits();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const turn = registry.begin(ANA);
    for (let n = 0; n < 20; n++) {
      visits.seen(ANA, { displayName: "Ana" });
      clock.set(new Date(Date.parse(AT) + n * 1_000).toISOString());
    }
    await vi.advanceTimersByTimeAsync(700);
    expect(commits).not.toHaveBeenCalled();
    vi.useRealTimers();
    turn.end();
    await vi.waitFor(() => expect(commits).toHaveBeenCalledOnce());
    // Waits for all that is noted; its own look is the second.
    expect(await visits.user(ANA)).toMatchObject({ displayName: "Ana" });
    expect([commits, reads].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
    expect(await ledger.user(ANA)).toMatchObject({ displayName: "Ana", firstSeenAt: AT, lastSeenAt: AT });
  });

  it("are there for who reads them, also during a turn, from the first to the last", async () => {
    const { visits, registry, clock } = makeVisits();
    registry.begin(ANA);
    visits.seen(ANA, { displayName: "Ana" });
    expect(await visits.user(ANA)).toMatchObject({ firstSeenAt: AT });
    visits.seen(ANA, { timeZone: "Europe/Lisbon" });
    clock.passDays(2);
    visits.seen(ANA, { provider: "https://id.example.org" });
    expect(await visits.user(ANA)).toEqual({
      displayName: "Ana",
      provider: "https://id.example.org",
      timeZone: "Europe/Lisbon",
      firstSeenAt: AT,
      lastSeenAt: "2026-03-03T10:00:00.000Z",
    });
  });

  it("are noted of whom a merge has made of the name", async () => {
    const { visits } = makeVisits({ resolve: async () => BEN });
    visits.seen(ANA, { displayName: "Ana" });
    await pause(0);
    expect(await visits.user(BEN)).toMatchObject({ displayName: "Ana" });
  });

  it("are written beside a turn that takes longer than five seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { visits, ledger, registry } = makeVisits();
    registry.begin(ANA);
    visits.seen(ANA, {});
    await vi.advanceTimersByTimeAsync(4_900);
    expect(await ledger.user(ANA)).toBeNull();
    await vi.advanceTimersByTimeAsync(200);
    expect(await ledger.user(ANA)).toMatchObject({ firstSeenAt: AT });
  });

  it("end silently at an erasure and at a stop, and a failure is told", async () => {
    const { visits, ledger, registry, warned } = makeVisits();
    registry.begin(ANA, "upkeep").end();
    visits.seen(ANA, {});
    await pause(0);
    const letIn = await registry.hold(ANA);
    visits.seen(ANA, {});
    expect(await visits.user(ANA)).toBeNull();
    letIn();
    await registry.close();
    await registry.breakOff(0);
    visits.seen(BEN, {});
    expect(await visits.user(BEN)).toBeNull();
    expect(warned).toEqual([]);
    const failing = makeVisits({ resolve: () => Promise.reject(new Error("away")) });
    failing.visits.seen(ANA, {});
    expect(await failing.visits.user(ANA)).toBeNull();
    expect(failing.warned).toEqual(["a user's visit could not be kept"]);
    expect(await ledger.user(ANA)).toBeNull();
  });
});
