import { performance } from "node:perf_hooks";
import { median } from "../quantile.js";

/** One of several sizes of the same thing, and what is measured of it. */
export interface Sized {
  readonly size: number;
  readonly operation: (n: number) => Promise<void>;
  /** What the operation leaves to be done; done before the next one, and not measured. */
  readonly rest?: () => Promise<void>;
}

/** Medians, in milliseconds; `cpuMs` of the whole process, its threads too. */
export interface Point {
  readonly size: number;
  readonly ms: number;
  readonly cpuMs: number;
}

/** All sizes in turn, one operation of each at a time, so that what else the machine does strikes them alike. */
export async function inTurns(
  sizes: readonly Sized[],
  { operations, warmUp }: { readonly operations: number; readonly warmUp: number },
  onStep: (done: number, total: number) => void = () => {},
): Promise<Point[]> {
  const taken = sizes.map(() => ({ ms: [] as number[], cpuMs: [] as number[] }));
  for (let n = 0; n < warmUp + operations; n++) {
    for (const [index, { operation, rest }] of sizes.entries()) {
      const cpu = process.cpuUsage();
      const at = performance.now();
      await operation(n);
      const ms = performance.now() - at;
      const { user, system } = process.cpuUsage(cpu);
      if (n >= warmUp) {
        taken[index]?.ms.push(ms);
        taken[index]?.cpuMs.push((user + system) / 1_000);
      }
      await rest?.();
    }
    onStep(n + 1, warmUp + operations);
  }
  return sizes.map(({ size }, index) => ({ size, ms: median(taken[index]?.ms ?? []), cpuMs: median(taken[index]?.cpuMs ?? []) }));
}

/** How many times the cheapest size the dearest one costs, by the processor's time: what else runs hardly changes it. */
export function spread(points: readonly Point[]): number {
  const costs = points.map(({ cpuMs }) => cpuMs);
  return Math.max(...costs) / Math.min(...costs);
}
