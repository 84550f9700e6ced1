import type { Owner } from "../../domain/owner.js";
import type { ScoredPoint } from "../../ports/vectors.js";
import type { Candidate } from "./candidate.js";
import { fromPayload, termsOfPayload } from "./payload.js";

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
    candidates.push({ message, atMs: Date.parse(message.created_at), terms: termsOfPayload(payload), likeness });
  }
  return candidates;
}
