import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { givingWayTo, LongMessages } from "../../src/turn/giving-way.js";
import { TurnRegistry } from "../../src/turn/turn-registry.js";
import { standInReader } from "../support/stand-in.js";

const BUSY = ownerOf("default", "busy");
const QUIET = ownerOf("default", "quiet");
const MINUTE = 60_000;
const never = new AbortController().signal;

/** Whether it has come to its end after a while. */
async function isOver(work: Promise<unknown>, afterMs = 100): Promise<boolean> {
  const over = work.then(() => true);
  return Promise.race([over, pause(afterMs, false)]);
}

describe("what is written behind a turn", () => {
  it("waits for the end of a turn of its user that begins soon after it, and of no other", async () => {
    const registry = new TurnRegistry();
    const work = registry.behindTurns(BUSY, never);
    expect(await isOver(work)).toBe(false);
    const turn = registry.begin(BUSY);
    expect(await isOver(work, 700)).toBe(false);
    const next = registry.begin(BUSY);
    turn.end();
    await work;
    next.end();
  });

  it("waits for no turn of another user, and for no upkeep", async () => {
    const registry = new TurnRegistry();
    registry.begin(BUSY, "upkeep");
    registry.begin(QUIET);
    await registry.behindTurns(BUSY, never);
  });

  it("goes on at once at a stop, behind what runs then", async () => {
    const registry = new TurnRegistry();
    const turn = registry.begin(BUSY);
    const work = registry.behindTurns(BUSY, never);
    const stopped = registry.close();
    expect(await isOver(work)).toBe(false);
    turn.end();
    await stopped;
    expect(await isOver(work)).toBe(true);
  });

  it("ends with the reason of its signal", async () => {
    const registry = new TurnRegistry();
    registry.begin(BUSY);
    const stop = new AbortController();
    const work = registry.behindTurns(BUSY, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(work).rejects.toThrow("stopped");
  });
});

describe("work that may wait, beside turns of others", () => {
  it("waits until the turn of another user has ended", async () => {
    const registry = new TurnRegistry();
    const turn = registry.begin(QUIET);
    const work = registry.giveWay(BUSY, MINUTE, never);
    expect(await isOver(work)).toBe(false);
    turn.end();
    await work;
  });

  it("waits for the next one too, where that begins at once", async () => {
    const registry = new TurnRegistry();
    const first = registry.begin(QUIET);
    const work = registry.giveWay(BUSY, MINUTE, never);
    first.end();
    const second = registry.begin(QUIET);
    expect(await isOver(work)).toBe(false);
    second.end();
    await work;
  });

  it("waits for no turn of its own user, and for no upkeep", async () => {
    const registry = new TurnRegistry();
    registry.begin(BUSY);
    registry.begin(QUIET, "upkeep");
    await registry.giveWay(BUSY, MINUTE, never);
  });

  it("goes on when it has waited as long as it may", async () => {
    const registry = new TurnRegistry();
    registry.begin(QUIET);
    await registry.giveWay(BUSY, 5, never);
  });

  it("ends with the reason of its signal", async () => {
    const registry = new TurnRegistry();
    registry.begin(QUIET);
    const stop = new AbortController();
    const work = registry.giveWay(BUSY, MINUTE, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(work).rejects.toThrow("stopped");
  });

  it("waits less where a turn of its own user may wait for it", async () => {
    const waited: number[] = [];
    const turns = (isTalking: boolean) => ({
      isTalking: () => isTalking,
      giveWay: async (_: unknown, maxMs: number) => void waited.push(maxMs),
    });
    await givingWayTo(turns(true))(BUSY, never);
    await givingWayTo(turns(false))(BUSY, never);
    expect(waited[0]).toBeLessThan(waited[1] ?? 0);
  });

  it("is done between the sentences of a long message, and not in a short one", async () => {
    let times = 0;
    const reader = standInReader(null, async () => void times++);
    const message = {
      owner: BUSY,
      session_id: "s",
      turn: 1,
      message_id: "m",
      stated_at: new Date(),
      time_zone: "UTC",
      context: [],
      known: [],
    };
    await reader.read({ ...message, text: "I love jazz. I am allergic to nuts." }, { signal: never });
    expect(times).toBe(0);
    await reader.read({ ...message, text: "The soup was fine. ".repeat(20) }, { signal: never });
    expect(times).toBeGreaterThan(10);
  });

  it("is done after a step of the stand-in that reads a long message, and not of a short one", async () => {
    const waits: unknown[] = [];
    const long = new LongMessages({ giveWay: async (owner) => void waits.push(owner) });
    await long.afterStep(BUSY, "A table for two, please", never);
    expect(waits).toEqual([]);
    await long.afterStep(BUSY, "A table for two, please. ".repeat(400), never);
    expect(waits).toEqual([BUSY]);
  });
});
