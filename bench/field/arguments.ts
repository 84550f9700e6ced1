import { parseArgs } from "node:util";
import { type Sizes, WORKLOADS, type Workload } from "./contestant.js";
import type { Amount } from "./field.js";

export interface FieldArguments {
  readonly sizes: Sizes;
  readonly workloads: readonly Workload[];
  readonly slices: number;
  readonly amount: Amount;
  readonly warmUp: Amount;
  readonly loadMs: number;
  /** Whether it ends with 1 where less is reached than is asked for. */
  readonly check: boolean;
  /** Whether the results are written to `bench/RESULTS.md`. */
  readonly write: boolean;
}

const WHOLE: Sizes = { rounds: 1_000, memories: 1_000, memoriesOfAll: 100_000 };
const QUICK: Sizes = { rounds: 200, memories: 200, memoriesOfAll: 4_000 };

/**
 * What the command line asks for: `--quick` (a fraction of everything), `--check`, `--only window,recall`, `--slices 5`,
 * `--load-seconds 40` (for the memories of many users).
 * @throws TypeError for what is none of these, in words for whoever typed it
 */
export function fieldArguments(given: readonly string[]): FieldArguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      quick: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      only: { type: "string" },
      slices: { type: "string" },
      "load-seconds": { type: "string" },
    },
  });
  const { quick } = values;
  const workloads = values.only === undefined ? WORKLOADS : values.only.split(",").map(workloadOf);
  return {
    sizes: quick ? QUICK : WHOLE,
    workloads,
    slices: numberOf("--slices", values.slices, quick ? 3 : 5),
    amount: quick ? { most: 30, ms: 300 } : { most: 200, ms: 700 },
    warmUp: quick ? { most: 50, ms: 1_000 } : { most: 500, ms: 2_500 },
    loadMs: numberOf("--load-seconds", values["load-seconds"], quick ? 5 : 40) * 1_000,
    check: values.check,
    write: !quick && values.only === undefined,
  };
}

function workloadOf(name: string): Workload {
  const workload = WORKLOADS.find((each) => each === name);
  if (workload === undefined) throw new TypeError(`--only takes ${WORKLOADS.join(", ")}, and not ${name}`);
  return workload;
}

function numberOf(option: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`${option} takes a whole number of at least 1`);
  return value;
}
