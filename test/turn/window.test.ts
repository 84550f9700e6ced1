import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockOf } from "../../src/domain/window.js";
import { tokenCounterFor } from "../../src/platform/tokens.js";
import type { WindowRead } from "../../src/ports/session-store.js";
import { contextBudget } from "../../src/turn/budget.js";
import { messageIdsOf } from "../../src/turn/open-turn.js";
import { inBlocks, roundsToRead, shownWindow } from "../../src/turn/window.js";
import { makeSummaryWorld } from "../after-turn/upkeep-world.js";
import { round } from "../support/rounds.js";
import { alice } from "../support/session-world.js";

/** What a turn shows after so many turns, of which those named failed, with a summary up to `covered`. */
function shown(turns: number, rounds: number, covered: number, failed: ReadonlySet<number> = new Set()): readonly number[] {
  const completed = Array.from({ length: turns }, (_, index) => index + 1).filter((turn) => !failed.has(turn));
  const read = completed.slice(-roundsToRead(rounds)).map((turn) => round(turn));
  const summary = covered === 0 ? null : { body: { to_turn: covered } };
  return shownWindow({ rounds: read, summary } as unknown as WindowRead, rounds).rounds.map(({ turn }) => turn);
}

describe("[window-bounded] the window slides in blocks", () => {
  test("ten rounds at least, then a block of ten leaves at once, into the summary", () => {
    expect(shown(9, 10, 0)).toHaveLength(9);
    expect(shown(19, 10, 0)[0]).toBe(1);
    expect(shown(20, 10, 10)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(shown(29, 10, 10)[0]).toBe(11);
    expect(shown(30, 10, 20)[0]).toBe(21);
  });

  test("a block stays until the summary has it, but for no longer than another block", () => {
    expect(shown(20, 10, 0)[0]).toBe(1);
    expect(shown(29, 10, 0)[0]).toBe(1);
    expect(shown(30, 10, 0)[0]).toBe(11);
    expect(shown(35, 10, 10)[0]).toBe(11);
  });

  test("behind a summary that came late it begins, and so stays; one of the whole session moves nothing", () => {
    expect(shown(23, 10, 13)[0]).toBe(14);
    expect(shown(31, 10, 13)[0]).toBe(14);
    expect(shown(33, 10, 23)[0]).toBe(24);
    for (const turns of [24, 27, 29]) expect(shown(turns, 10, 23)[0]).toBe(11);
  });

  test("whatever failed, and however large: never fewer than asked for, at most three blocks, and the same begin for a block's turns", () => {
    const turns = fc.integer({ min: 0, max: 120 });
    const failed = fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 40 });
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 30 }), failed, (count, rounds, gone) => {
        const left = new Set(gone);
        const completed = Array.from({ length: count }, (_, index) => index + 1).filter((turn) => !left.has(turn));
        const window = shown(count, rounds, count, left);
        expect(window.length).toBeGreaterThanOrEqual(Math.min(rounds, completed.length));
        expect(window.length).toBeLessThan(rounds + blockOf(rounds));
        expect(window).toEqual(completed.slice(completed.length - window.length));
        const later = shown(count + 1, rounds, count + 1, left);
        expect(later[0] ?? 1).toBeGreaterThanOrEqual(window[0] ?? 1);
      }),
    );
  });

  test("over the budget some rounds go at once: more than half of what fits stays, from a turn that the next turns begin with too", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 60 }), (first, length) => {
        const fitting = Array.from({ length }, (_, index) => ({ turn: first + index }));
        const kept = inBlocks(fitting);
        expect(kept.length).toBeGreaterThan(length / 2);
        expect(kept).toEqual(fitting.slice(length - kept.length));
      }),
    );
    const begins = Array.from(
      { length: 40 },
      (_, turn) => inBlocks(Array.from({ length: 8 }, (_, index) => ({ turn: turn + index + 1 })))[0]?.turn,
    );
    expect(new Set(begins).size).toBeLessThanOrEqual(11);
  });

  test("where the budget decides, the summary has every round that a turn may leave out", async () => {
    const windowTokens = 400;
    const counter = await tokenCounterFor("gpt-4o");
    const world = await makeSummaryWorld(null, { windowTokens });
    const { id } = await world.sessions.create(alice, {});
    for (let turn = 1; turn <= 30; turn += 1) {
      await world.say(alice, id, `Round ${turn}. ${"And so on. ".repeat((turn * 7) % 13)}`, "Very well.");
      await world.keeper.maintain(alice, id);
      const { rounds, summary } = shownWindow(await world.store.journal.window(alice, id, { rounds: roundsToRead(10) }), 10);
      const tokens = rounds.map(({ user, assistant }) => counter.count(`${user.body.content}\n[]\n${assistant.body.content}`));
      const cost = (index: number) => tokens.slice(index).reduce((sum, each) => sum + each, 0);
      // At least what the keeper counts on fits.
      const first = rounds.findIndex((_, index) => cost(index) <= windowTokens);
      const kept = first <= 0 ? rounds : inBlocks(rounds.slice(first));
      expect(summary?.body.to_turn ?? 0, `turn ${turn}`).toBeGreaterThanOrEqual((kept[0]?.turn ?? 1) - 1);
    }
  });
});

test("what tools take is counted off the budget, down to nothing", () => {
  expect(contextBudget(16_000, 128_000, 1_500)).toBe(14_500);
  expect(contextBudget(100_000, 20_000, 1_500)).toBe(10_500);
  expect(contextBudget(500, 128_000, 1_500)).toBe(0);
});

test("what a turn's messages show already: those of its rounds, and the session's own summary before them", () => {
  const read = (summary: object | null) => ({ rounds: [round(1)], summary }) as unknown as WindowRead;
  expect([...messageIdsOf(read({ id: "the summary" }))]).toEqual(["the summary", "user-1", "assistant-1"]);
  expect([...messageIdsOf(read(null))]).toEqual(["user-1", "assistant-1"]);
});
