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
export function trained(examples: readonly Example[], { penalty, steps }: Training): Float64Array {
  const size = examples[0]?.features.length ?? 0;
  // Half of the bound of the curvature: the features are never all in line.
  const curvature = (examples.reduce((sum, { features }) => sum + dot(features, features), 0) / 4 + penalty) / 2;
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

function descended(from: Float64Array, examples: readonly Example[], penalty: number, curvature: number): Float64Array<ArrayBuffer> {
  const slope = from.map((weight, i) => (i === from.length - 1 ? 0 : penalty * weight));
  for (const { features, yes } of examples) {
    const error = 1 / (1 + Math.exp(-dot(features, from))) - (yes ? 1 : 0);
    for (let i = 0; i < slope.length; i++) slope[i] = (slope[i] ?? 0) + error * (features[i] ?? 0);
  }
  return from.map((weight, i) => weight - (slope[i] ?? 0) / curvature);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
