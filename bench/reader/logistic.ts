import { type Features, weighed } from "../../src/offline/learnt/sentence-features.js";

/** One example of a yes-or-no question. */
export interface Example {
  readonly features: Features;
  readonly yes: boolean;
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
  const size = examples[0]?.features.size ?? 0;
  const curvature = MARGIN * (steepestOf(examples, size) / 4) + penalty;
  let weights = new Float64Array(size);
  let ahead = new Float64Array(size);
  let pace = 1;
  for (let step = 0; step < steps; step++) {
    const slope = ahead.map((weight, i) => (i === free ? 0 : penalty * weight));
    addSlope(slope, ahead, examples);
    const next = ahead.map((weight, i) => weight - (slope[i] ?? 0) / curvature);
    const nextPace = (1 + Math.sqrt(1 + 4 * pace * pace)) / 2;
    const before = weights;
    const momentum = (pace - 1) / nextPace;
    ahead = next.map((value, i) => value + momentum * (value - (before[i] ?? 0)));
    [weights, pace] = [next, nextPace];
  }
  return weights;
}

/** The largest eigenvalue of the sum of the examples' outer products, from below, by power iteration. */
function steepestOf(examples: readonly Example[], size: number): number {
  let direction = new Float64Array(size).fill(1 / Math.sqrt(size));
  let length = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const next = new Float64Array(size);
    for (const { features } of examples) addTo(next, features, weighed(direction, features));
    length = Math.hypot(...next);
    direction = next.map((value) => value / length);
  }
  return length;
}

function addTo(sums: Float64Array, { at, values }: Features, times: number): void {
  for (let k = 0; k < at.length; k++) sums[at[k] ?? 0] = (sums[at[k] ?? 0] ?? 0) + times * (values[k] ?? 0);
}

function addSlope(slope: Float64Array, weights: Float64Array, examples: readonly Example[]): void {
  for (const { features, yes } of examples) addTo(slope, features, 1 / (1 + Math.exp(-weighed(weights, features))) - (yes ? 1 : 0));
}
