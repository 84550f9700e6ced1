import type { RecordOf } from "./session.js";

/**
 * The window of rounds that a model sees slides in blocks: it grows by a round each turn, and then a whole block of the oldest leaves at
 * once, so that what a provider caches of a request stays the same for many turns. Where it begins depends on the rounds alone: the same
 * in every process.
 */

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

/**
 * False when something was forgotten after the summary was written: it may still tell it, and is not to be shown to a model until
 * it has been written anew.
 */
export function isCurrent(summary: { readonly at: string } | null, tombstones: readonly { readonly at: string }[]): boolean {
  return summary !== null && !tombstones.some((tombstone) => tombstone.at >= summary.at);
}

/** An extract that waits for the model's own, of the same rounds: all up to `turn`. */
export function standsInFor(summary: RecordOf<"summary"> | null, turn: number): boolean {
  return summary?.body.interim === true && summary.body.to_turn >= turn;
}
