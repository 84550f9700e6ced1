/** One example of a yes-or-no question. */
export interface Example {
  readonly features: Float64Array;
  readonly yes: boolean;
}

export interface Training {
  /** What a weight's square costs; the last feature, a constant, is free. */
  readonly penalty: number;
  readonly steps: number;
}

/**
 * Weights of a logistic regression, by accelerated gradient descent (Nesterov) from zero: the same examples in the same order give the same
 * weights.
 */
export function trained(all: readonly Example[], { penalty, steps }: Training): Float64Array {
  const size = all[0]?.features.length ?? 0;
  const examples = all.map(sparse);
  // Half of the bound of the curvature: the features are never all in line.
  const curvature =
    (examples.reduce((sum, { values }) => sum + values.reduce((squares, value) => squares + value * value, 0), 0) / 4 + penalty) / 2;
  let weights = new Float64Array(size);
  let ahead = new Float64Array(size);
  let pace = 1;
  for (let step = 0; step < steps; step++) {
    const next = descended(ahead, examples, penalty, curvature);
    const nextPace = (1 + Math.sqrt(1 + 4 * pace * pace)) / 2;
    const before = weights;
    const momentum = (pace - 1) / nextPace;
    ahead = next.map((value, i) => value + momentum * (value - (before[i] ?? 0)));
    [weights, pace] = [next, nextPace];
  }
  return weights;
}

/** An example by the features that it has: most words are in few sentences. */
interface SparseExample {
  readonly at: Int32Array;
  readonly values: Float64Array;
  readonly yes: boolean;
}

function sparse({ features, yes }: Example): SparseExample {
  const at = Int32Array.from([...features.keys()].filter((i) => features[i] !== 0));
  return { at, values: Float64Array.from(at, (i) => features[i] ?? 0), yes };
}

function descended(from: Float64Array, examples: readonly SparseExample[], penalty: number, curvature: number): Float64Array<ArrayBuffer> {
  const slope = from.map((weight, i) => (i === from.length - 1 ? 0 : penalty * weight));
  for (const { at, values, yes } of examples) {
    let sum = 0;
    for (let k = 0; k < at.length; k++) sum += (values[k] ?? 0) * (from[at[k] ?? 0] ?? 0);
    const error = 1 / (1 + Math.exp(-sum)) - (yes ? 1 : 0);
    for (let k = 0; k < at.length; k++) slope[at[k] ?? 0] = (slope[at[k] ?? 0] ?? 0) + error * (values[k] ?? 0);
  }
  return from.map((weight, i) => weight - (slope[i] ?? 0) / curvature);
}
