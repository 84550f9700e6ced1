/**
 * The window of rounds that a model sees slides in blocks: it grows by a round each turn, and then a whole block of the oldest leaves at
 * once, so that what a provider caches of a request stays the same for many turns. Where it begins depends on the rounds alone: the same
 * in every process.
 */

/** Rounds in a block at most. */
const LARGEST_BLOCK = 10;

/** How many rounds leave at once. The window holds at least `rounds`, where there are that many, and less than a block more. */
export function blockOf(rounds: number): number {
  return Math.max(1, Math.min(rounds, LARGEST_BLOCK));
}

/** The turn that the window begins with, by the turns of the session's newest completed rounds, oldest first. */
export function windowStart(turns: readonly number[], rounds: number, block = blockOf(rounds)): number {
  if (rounds === 0) return (turns.at(-1) ?? 0) + 1;
  const oldest = turns.length < rounds ? 1 : (turns.at(-rounds) ?? 1);
  return oldest - ((oldest - 1) % block);
}
