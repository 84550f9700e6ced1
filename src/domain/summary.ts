import type { RecordOf } from "./session.js";

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
