import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleChild } from "./child-process.js";
import type { Armed } from "./fault-points.js";
import type { PlantedBug } from "./job.js";
import { Lane } from "./lane.js";

/** The checks of kills.test.ts, shown to be worth something: each defect turns them red, and without it the same kill does not. */

let dir: string;
let program: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-planted-"));
  program = await bundleChild(join(dir, "program"));
}, 120_000);
afterAll(() => rm(dir, { recursive: true }));

const PLANTED: readonly { readonly bug: PlantedBug; readonly armed: Armed; readonly found: RegExp }[] = [
  { bug: "no-sync", armed: { point: "answer:after", hit: 1 }, found: /answered turn lost: ann-0$/ },
  { bug: "done-before-read-back", armed: { point: "memoryLog.append:before", hit: 1 }, found: /at start 2: false success: turn 1/ },
  { bug: "log-after-store", armed: { point: "vectors.upsert.memory:after", hit: 1 }, found: /memory missing: ann: Likes the band/ },
];

test.concurrent.for(PLANTED)("$bug is found", { timeout: 300_000 }, async ({ bug, armed, found }) => {
  const violations = async (planted: PlantedBug | null) => {
    const lane = new Lane(program, join(dir, `${bug} ${planted ?? "control"}`), ["ann"]);
    expect(await lane.live({ disk: "forgetting", armed, bug: planted, steps: 2, paced: true })).toBe(true);
    if (lane.violations.length === 0) await lane.finish("forgetting", { bug: planted });
    return lane.violations;
  };
  expect(await violations(bug)).toContainEqual(expect.stringMatching(found));
  expect(await violations(null)).toEqual([]);
});
