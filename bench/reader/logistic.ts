import type { Features } from "../../packages/offline/src/learnt/sentence-features.js";

/** One example of a yes-or-no question. */
export interface Example {
  readonly features: Features;
  readonly yes: boolean;
  /** As how many it counts. */
  readonly weight: number;
}

export interface Training {
  /** What a weight's square costs. */
  readonly penalty: number;
  /** The place whose weight costs nothing. */
  readonly free: number;
  readonly steps: number;
}

/** Rounds of the power iteration, and how far it may be below. */
const ROUNDS = 20;
const MARGIN = 1.05;

/**
 * Weights of a logistic regression, by accelerated gradient descent (Nesterov) from zero: the same examples in the same order give the same
 * weights.
 */
export function trained(examples: readonly Example[], { penalty, free, steps }: Training): Float64Array {
  const table = new Table(examples);
  const curvature = MARGIN * (table.steepest() / 4) + penalty;
  let weights = new Float64Array(table.size);
  let ahead = new Float64Array(table.size);
  let pace = 1;
  for (let step = 0; step < steps; step++) {
    const slope = ahead.map((weight, i) => (i === free ? 0 : penalty * weight));
    table.add(slope, ahead, (sum, yes) => 1 / (1 + Math.exp(-sum)) - yes);
    const next = ahead.map((weight, i) => weight - (slope[i] ?? 0) / curvature);
    const nextPace = (1 + Math.sqrt(1 + 4 * pace * pace)) / 2;
    const before = weights;
    const momentum = (pace - 1) / nextPace;
    ahead = next.map((value, i) => value + momentum * (value - (before[i] ?? 0)));
    [weights, pace] = [next, nextPace];
  }
  return weights;
}

/** Examples beneath each other, in as few arrays as they go into. */
class Table {
  readonly size: number;
  readonly #starts: Uint32Array;
  readonly #at: Uint16Array;
  readonly #values: Float32Array;
  readonly #yes: Uint8Array;
  readonly #counts: Float32Array;

  constructor(examples: readonly Example[]) {
    this.size = examples[0]?.features.size ?? 0;
    const length = examples.reduce((sum, { features }) => sum + features.at.length, 0);
    this.#starts = new Uint32Array(examples.length + 1);
    this.#at = new Uint16Array(length);
    this.#values = new Float32Array(length);
    this.#yes = Uint8Array.from(examples, ({ yes }) => (yes ? 1 : 0));
    this.#counts = Float32Array.from(examples, ({ weight }) => weight);
    let start = 0;
    for (const [row, { features }] of examples.entries()) {
      this.#at.set(features.at, start);
      this.#values.set(features.values, start);
      start += features.at.length;
      this.#starts[row + 1] = start;
    }
  }

  /** Adds every example to the sums as often as `times` says of what the weights make of it. */
  add(sums: Float64Array, weights: Float64Array, times: (sum: number, yes: number) => number): void {
    for (let row = 0; row < this.#counts.length; row++) {
      const [start, end] = [this.#starts[row] ?? 0, this.#starts[row + 1] ?? 0];
      let sum = 0;
      for (let k = start; k < end; k++) sum += (weights[this.#at[k] ?? 0] ?? 0) * (this.#values[k] ?? 0);
      const factor = (this.#counts[row] ?? 0) * times(sum, this.#yes[row] ?? 0);
      for (let k = start; k < end; k++) sums[this.#at[k] ?? 0] = (sums[this.#at[k] ?? 0] ?? 0) + factor * (this.#values[k] ?? 0);
    }
  }

  /** The largest eigenvalue of the sum of the examples' outer products, from below, by power iteration. */
  steepest(): number {
    let direction = new Float64Array(this.size).fill(1 / Math.sqrt(this.size));
    let length = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const next = new Float64Array(this.size);
      this.add(next, direction, (sum) => sum);
      length = Math.sqrt(next.reduce((sum, value) => sum + value * value, 0));
      direction = next.map((value) => value / length);
    }
    return length;
  }
}
