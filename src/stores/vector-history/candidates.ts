import type { Owner } from "../../domain/owner.js";
import type { ScoredPoint } from "../../ports/vectors.js";
import type { Candidate } from "./candidate.js";
import { fromPayload, termsOfPayload } from "./payload.js";

/** Candidates from the store's points; one of somebody else is left out, whatever the filter said. */
export function candidatesOf(owner: Owner, points: readonly ScoredPoint[]): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { payload, score } of points) {
    const message = fromPayload(owner, payload);
    if (message !== null) candidates.push({ message, atMs: Date.parse(message.created_at), terms: termsOfPayload(payload), fused: score });
  }
  return candidates;
}
