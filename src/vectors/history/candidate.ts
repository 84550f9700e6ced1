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

/** The places of candidates in order of speech, the oldest first; what was said at one time, as it was spoken. */
export function inOrderOfTime(candidates: readonly Candidate[]): number[] {
  return candidates.map((_, i) => i).sort((a, b) => (candidates[a]?.atMs ?? 0) - (candidates[b]?.atMs ?? 0));
}

/** Messages that open a session: what somebody came to say, and the answer to it. */
const OPENING_MESSAGES = 2;

/** True of a message that opens its session. */
export function opens({ position }: HistoryMessage): boolean {
  return position < OPENING_MESSAGES;
}

/** The names of all who speak in them. */
export function speakersOf(candidates: readonly Candidate[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { message } of candidates) if (message.name !== null) names.add(message.name);
  return names;
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
