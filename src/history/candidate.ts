import type { HistoryMessage } from "../history.js";

/** A message that a search is ranking. */
export interface Candidate {
  readonly message: HistoryMessage;
  readonly atMs: number;
  /** The message's own terms, hashed, each with its BM25 term weight; see term-code.ts. */
  readonly terms: string;
  /** The store's fused score of all its prefetches. */
  readonly fused: number;
}

/** Candidates by session and position, so that neighbours stand beside each other. */
export function inOrderOfSpeech(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort(
    (a, b) =>
      (a.message.session_id < b.message.session_id ? -1 : a.message.session_id > b.message.session_id ? 1 : 0) ||
      a.message.position - b.message.position,
  );
}

/** How far `to` stands behind `from` in the same session, in messages; null in another session. */
export function distance(from: Candidate | undefined, to: Candidate | undefined): number | null {
  if (from === undefined || to === undefined || from.message.session_id !== to.message.session_id) return null;
  return to.message.position - from.message.position;
}
