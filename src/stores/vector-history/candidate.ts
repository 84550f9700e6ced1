import type { HistoryMessage } from "../../ports/history.js";

/** A message that a search is ranking. */
export interface Candidate {
  readonly message: HistoryMessage;
  readonly atMs: number;
  /** The message's own terms, hashed, each with its BM25 term weight. */
  readonly terms: string;
  /** Cosine of its vector to the question's; 0 where one of the two is missing. */
  readonly likeness: number;
}

/** Candidates by session and position, so that neighbours stand beside each other. */
export function inOrderOfSpeech(candidates: readonly Candidate[]): Candidate[] {
  const bySession = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const session = bySession.get(candidate.message.session_id);
    if (session === undefined) bySession.set(candidate.message.session_id, [candidate]);
    else session.push(candidate);
  }
  return [...bySession.keys()]
    .sort()
    .flatMap((session) => (bySession.get(session) ?? []).sort((a, b) => a.message.position - b.message.position));
}

/** For candidates in order of speech: which session each is of, numbered from 0. */
export function sessionNumbers(candidates: readonly Candidate[]): Int32Array {
  let session = 0;
  return Int32Array.from(candidates, ({ message }, i) => {
    const before = candidates[i - 1];
    if (before !== undefined && before.message.session_id !== message.session_id) session += 1;
    return session;
  });
}
