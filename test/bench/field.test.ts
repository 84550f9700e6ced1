import { describe, expect, test } from "vitest";
import { fieldArguments } from "../../bench/field/arguments.js";
import type { About, Workload } from "../../bench/field/contestant.js";
import { candidateOf } from "../../bench/field/contestant-process.js";
import { type Candidate, type Plan, runField } from "../../bench/field/field.js";
import { thisNode } from "../../bench/field/node-programs.js";
import { report } from "../../bench/field/report.js";
import { linesOf, missed, rowsOf } from "../../bench/field/rows.js";

const SIZES = { rounds: 1_000, memories: 1_000, memoriesOfAll: 100_000 };
const PLAN: Plan = {
  workloads: ["window"],
  setting: { modelUrl: "http://127.0.0.1/v1", sizes: SIZES, loadMs: 1 },
  slices: 2,
  amount: { most: 3, ms: 1 },
  warmUp: { most: 2, ms: 1 },
};

interface Fake extends Partial<About> {
  readonly ms: number;
  readonly restMs?: number;
  readonly workloads?: readonly Workload[];
  readonly failsAt?: "start" | "measure";
}

/** Contestants whose operations take what they are told to, and what was asked of them, in order. */
function fakes(given: Readonly<Record<string, Fake>>) {
  const asked: string[] = [];
  const candidates = Object.entries(given).map(([name, fake]): Candidate => {
    const { ms, restMs, workloads = ["window", "turnWithMemory"], failsAt, ...about } = fake;
    return {
      name,
      workloads,
      start: async () => {
        asked.push(`${name} starts`);
        if (failsAt === "start") throw new Error("its disk is full\nat some place");
        return {
          about: { keeps: "written", ...about },
          measure: async (from, { most }) => {
            if (failsAt === "measure" && from > 0) throw new Error("it broke");
            asked.push(`${name} from ${from}`);
            return {
              samples: Array.from({ length: most }, () => ({ ms, cpuMs: ms / 2 })),
              rests: restMs === undefined ? [] : Array.from({ length: most }, () => ({ ms: restMs, cpuMs: restMs / 2 })),
            };
          },
          close: async () => void asked.push(`${name} closes`),
        };
      },
      close: async () => undefined,
    };
  });
  return { candidates, asked };
}

async function linesFor(given: Readonly<Record<string, Fake>>, plan: Partial<Plan> = {}) {
  return linesOf(rowsOf(SIZES), await runField(fakes(given).candidates, { ...PLAN, ...plan }));
}

const CIRCUMSTANCES = {
  date: new Date("2026-03-01T12:34:00Z"),
  command: "npm run bench:field",
  machine: "2 × a processor, 8 GiB",
  load: [0.5, 1.25] as const,
  node: "20.0.0",
  versions: ["maitred 1.0.0", "other 2.0.0"],
  slices: 2,
};

describe("the run", () => {
  test("contestants take turns slice by slice, after a warm-up, and no operation has a number twice", async () => {
    const { candidates, asked } = fakes({ ours: { ms: 1 }, theirs: { ms: 2 } });
    await runField(candidates, PLAN);
    const slices = [2, 5].flatMap((from) => [`ours from ${from}`, `theirs from ${from}`]);
    const warmUps = ["ours starts", "ours from 0", "theirs starts", "theirs from 0"];
    expect(asked).toEqual([...warmUps, ...slices, "ours closes", "theirs closes"]);
  });

  test("progress ends where it said that it would, also past those who have nothing of the kind", async () => {
    const { candidates } = fakes({ ours: { ms: 1 }, theirs: { ms: 2, workloads: [] } });
    const steps: [number, number][] = [];
    await runField(candidates, { ...PLAN, workloads: ["window", "append"] }, (done, total) => steps.push([done, total]));
    expect(steps.map(([done]) => done)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
    expect(new Set(steps.map(([, total]) => total))).toEqual(new Set([12]));
  });

  test.each(["start", "measure"] as const)("one that fails at its %s is closed and left out, and the others go on", async (failsAt) => {
    const { candidates, asked } = fakes({ ours: { ms: 1 }, theirs: { ms: 2, failsAt }, third: { ms: 5 } });
    const lines = linesOf(rowsOf(SIZES), await runField(candidates, PLAN));
    expect(lines[0]?.best).toMatchObject({ name: "third", ratio: 5 });
    expect(asked.filter((each) => each === "theirs closes")).toHaveLength(failsAt === "start" ? 0 : 1);
    expect(report(lines, CIRCUMSTANCES)).toContain(`theirs is missing: failed: ${failsAt === "start" ? "its disk is full" : "it broke"}.`);
  });

  test("who needs a newer Node than there is says so, and is not started", async () => {
    const entrant = { name: "theirs", module: "none", packages: [], node: 99, workloads: ["window"] as const };
    const candidate = candidateOf(entrant, [thisNode]);
    const [result] = await runField([candidate], PLAN);
    expect(result?.outcomes).toEqual([{ name: "theirs", absent: "needs Node 99: none by NODE24 or on the PATH" }]);
  });
});

describe("the table", () => {
  test("says how many times ours the best takes that answers from where it keeps things; out of memory in brackets", async () => {
    const lines = await linesFor({ ours: { ms: 2 }, slow: { ms: 40 }, better: { ms: 30 }, volatile: { ms: 0.5, keeps: "in memory" } });
    const text = report(lines, CIRCUMSTANCES);
    expect(text).toContain("| Wall clock | ours | slow | better | volatile | × |");
    expect(text).toContain("| 2.00 | 40.0 | 30.0 | (0.50) | **15 ×** (better) |");
    expect(text).toContain("| 1.00 | 20.0 | 15.0 | (0.25) | **15 ×** (better) |");
    expect(text).toContain("- window: the last 10 rounds of a session with 1,000: volatile (out of memory) quicker than Maitred. ");
    expect(text).toContain("- 2026-03-01 12:34 UTC, `npm run bench:field`");
  });

  test("what a turn leaves to be done is told apart, and counts as the turn's where its documentation waits for it", async () => {
    const plan = { workloads: ["turnWithMemory"] as const };
    const lines = await linesFor({ ours: { ms: 10, restMs: 5 }, waits: { ms: 20, restMs: 40, restIsOfTheTurn: true } }, plan);
    const figures = lines.map(({ cells }) => cells.map(({ figure }) => figure?.ms));
    expect(figures).toEqual([
      [10, 60],
      [5, 40],
      [15, 60],
    ]);
  });

  test("what is asked for is missed by being too slow, and by not being there", async () => {
    const near = await linesFor({ ours: { ms: 1 }, theirs: { ms: 4.9 } });
    const reached = await linesFor({ ours: { ms: 1 }, theirs: { ms: 5 } });
    const gone = await linesFor({ ours: { ms: 1, failsAt: "start" }, theirs: { ms: 5 } });
    const alone = await linesFor({ ours: { ms: 1 } });
    expect([near, reached, gone, alone].map((lines) => missed(lines).length)).toEqual([1, 0, 1, 0]);
    expect(report(near, CIRCUMSTANCES)).toContain("at least 5 ×; 4.9 ×, **not reached**.");
    expect(report(reached, CIRCUMSTANCES)).toContain("at least 5 ×; 5.0 ×, reached.");
  });
});

describe("the command line", () => {
  test("in full it writes its results; a part of it, or --quick, doesn't", () => {
    expect(fieldArguments([])).toMatchObject({ write: true, check: false, sizes: SIZES, slices: 5 });
    expect(fieldArguments(["--quick"])).toMatchObject({ write: false });
    expect(fieldArguments(["--only", "turn,window", "--check"])).toMatchObject({
      write: false,
      check: true,
      workloads: ["turn", "window"],
    });
    expect(fieldArguments(["--slices", "2", "--load-seconds", "7"])).toMatchObject({ slices: 2, loadMs: 7_000 });
  });

  test.each([["--only", "windows"], ["--slices", "0"], ["--slices", "many"], ["--fast"]])("%s %s is refused", (...given) => {
    expect(() => fieldArguments(given)).toThrow(TypeError);
  });
});
