import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleChild } from "./child-process.js";
import { type Armed, type FaultPoint, POINTS } from "./fault-points.js";
import { Lane } from "./lane.js";
import { Moments } from "./moments.js";
import { EDITED } from "./script.js";

/**
 * Processes are killed over and over while two guests talk. Whatever they were doing: what the guests were told holds, what was
 * said is remembered once, and nothing that was taken away comes back. See lane.ts for what is looked at after each death and start.
 */

const MINUTE = 60_000;
const USERS = ["ann", "bob"];
/** Kills at random moments, in two lanes together; `KILLS=200` for more. The named points are all killed at, always. */
const KILLS = Number(process.env.KILLS ?? 10);
/** From the first of a start to those of its turns and their write-backs. */
const COMMITS = 20;

let dir: string;
let program: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-kills-"));
  program = await bundleChild(join(dir, "program"));
}, 120_000);
afterAll(() => rm(dir, { recursive: true }));

const at = (points: readonly FaultPoint[], hit: number): Armed[] => points.map((point) => ({ point, hit }));

/** The first time each point is come by, and another time what every turn comes by. */
const NAMED: readonly (readonly [string, readonly Armed[]])[] = [
  ["turns, edits, what is taken away", [...at(POINTS.turn, 1), ...at(POINTS.edit, 1), ...at(POINTS.takeAway, 1)]],
  ["write-backs, and turns further on", [...at(POINTS.writeBack, 1), ...at(POINTS.everyTurn, 3)]],
];

describe.concurrent("[turn-durable] [turn-once] [write-back-once] [forgotten-stays-forgotten] killed at every step", () => {
  test.for(NAMED)("%s, on a disk that forgets what was not synced", { timeout: 10 * MINUTE }, async ([name, plan]) => {
    const lane = new Lane(program, join(dir, name), USERS);
    const survived: string[] = [];
    for (const armed of plan) {
      const killed = await lane.live({ disk: "forgetting", armed, paced: POINTS.writeBack.includes(armed.point) });
      if (!killed) survived.push(armed.point);
    }
    await lane.finish("forgetting");
    expect(survived, "points that were never come by").toEqual([]);
    expect(lane.violations).toEqual([]);
    expect(lane.kills).toBe(plan.length);
  });

  test("before and after each of the first commits of a start", { timeout: 10 * MINUTE }, async () => {
    const lane = new Lane(program, join(dir, "commits"), USERS);
    const survived: string[] = [];
    for (let hit = 1; hit <= COMMITS; hit++)
      for (const point of ["engine.commit:before", "engine.commit:after"] as const)
        if (!(await lane.live({ disk: "forgetting", armed: { point, hit }, paced: true }))) survived.push(`${point} ${hit}`);
    await lane.finish("forgetting");
    expect(survived, "commits that were never come by").toEqual([]);
    expect(lane.violations).toEqual([]);
  });

  test.for([1, 2])(
    "[index-derived] at random moments, on disks of both kinds, the index emptied and made anew now and then: lane %i",
    {
      timeout: 10 * MINUTE,
    },
    async (seed) => {
      const lane = new Lane(program, join(dir, `random ${seed}`), USERS);
      const moments = new Moments(seed);
      while (lane.kills < KILLS / 2) {
        const rebuild = moments.chance(0.15);
        const disk = moments.chance(0.5) ? "plain" : "forgetting";
        if (moments.chance(0.2)) await lane.live({ disk: "plain", armed: { point: "disk.write:half", hit: moments.integer(1, 20) } });
        else await lane.live({ disk, steps: 1_000, rebuild }, moments.killer());
      }
      const before = await lane.finish("plain");
      const after = await lane.finish("plain", { steps: 0, rebuild: true });
      expect(lane.violations).toEqual([]);
      expect(after.sessions, "what the index that was made anew says").toEqual(before.sessions);
    },
  );

  test("[journal-torn] with half of an answer written: it is given anew, and the same ever after", { timeout: 5 * MINUTE }, async () => {
    const lane = new Lane(program, join(dir, "torn"), ["ann"]);
    // The first two writes list the session, and make it.
    expect(await lane.live({ disk: "plain", armed: { point: "disk.write:half", hit: 3 }, steps: 1 })).toBe(true);
    await lane.finish("plain");
    const { replays, journals } = await lane.finish("plain", { steps: 0 });
    expect(replays).toHaveLength(1);
    expect(journals).toMatchObject([{ damagedLines: 0 }]);
    expect(lane.violations).toEqual([]);
  });

  test("[journal-torn] with half of an edit written: it is made anew, and replaces once", { timeout: 5 * MINUTE }, async () => {
    const lane = new Lane(program, join(dir, "torn edit"), ["ann"]);
    await lane.live({ disk: "plain", steps: EDITED });
    await lane.finish("plain");
    expect(await lane.live({ disk: "plain", armed: { point: "disk.write:half", hit: 1 }, steps: 1 })).toBe(true);
    const { journals } = await lane.finish("plain");
    expect(journals).toMatchObject([{ damagedLines: 0 }]);
    expect(lane.violations).toEqual([]);
  });
});
