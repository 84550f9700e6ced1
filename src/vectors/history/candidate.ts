import type { Owner } from "../../domain/owner.js";
import { addTo } from "../../platform/lists.js";
import type { HistoryMessage } from "../../ports/resources.js";
import type { ScoredPoint, SparseVector } from "../../ports/vectors.js";
import { fromPayload } from "./collection.js";

/** A message that a search is ranking. */
export interface Candidate {
  readonly message: HistoryMessage;
  readonly atMs: number;
  /** The message's own terms, hashed, each with its BM25 term weight. */
  readonly terms: string;
  /** Cosine of its vector to the question's; 0 where one of the two is missing. */
  readonly likeness: number;
}

/**
 * Candidates from the store's points; one of somebody else is left out, whatever the filter said. `scoredBy`: whether the
 * points' scores are cosines to the question, or say only what the words say, which is reckoned again.
 */
export function candidatesOf(owner: Owner, points: readonly ScoredPoint[], scoredBy: "likeness" | "words"): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { payload, score } of points) {
    const message = fromPayload(owner, payload);
    if (message === null) continue;
    const likeness = scoredBy === "likeness" ? score : 0;
    candidates.push({
      message,
      atMs: Date.parse(message.created_at),
      terms: typeof payload?.terms === "string" ? payload.terms : "",
      likeness,
    });
  }
  return candidates;
}

/** Candidates by session and position, so that neighbours stand beside each other. */
export function inOrderOfSpeech(candidates: readonly Candidate[]): Candidate[] {
  const bySession = new Map<string, Candidate[]>();
  for (const candidate of candidates) addTo(bySession, candidate.message.session_id, candidate);
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

/** Weights are kept in steps of 1/100; BM25 term weights stay under 2.55 with k1 up to 1.5. */
const STEPS = 100;
const BYTES_A_TERM = 5;

/**
 * A message's own terms as a short text for the payload: index (4 bytes, little-endian) and weight (1 byte) each, in base64. A search
 * gets them with the payload, so that it needs no vectors back from the store.
 */
export function encodeTerms({ indices, values }: SparseVector): string {
  const bytes = Buffer.alloc(indices.length * BYTES_A_TERM);
  indices.forEach((index, i) => {
    bytes.writeUInt32LE(index, i * BYTES_A_TERM);
    bytes.writeUInt8(Math.min(255, Math.max(1, Math.round((values[i] ?? 0) * STEPS))), i * BYTES_A_TERM + 4);
  });
  return bytes.toString("base64");
}

/** Where codes are decoded, one after the other: a search reads some hundreds. */
let scratch = Buffer.allocUnsafeSlow(4096);
let view = new DataView(scratch.buffer);

/** Calls `each`, which must not call this again, with every term and its weight; bytes that make no whole term are passed over. */
export function forEachTerm(code: string, each: (index: number, weight: number) => void): void {
  if (code.length > scratch.length) {
    scratch = Buffer.allocUnsafeSlow(2 * code.length);
    view = new DataView(scratch.buffer);
  }
  const length = scratch.write(code, "base64");
  for (let at = 0; at + BYTES_A_TERM <= length; at += BYTES_A_TERM) each(view.getUint32(at, true), view.getUint8(at + 4) / STEPS);
}

/** How many different terms a code holds. */
export function termCount(code: string): number {
  return Math.floor(Buffer.byteLength(code, "base64") / BYTES_A_TERM);
}
