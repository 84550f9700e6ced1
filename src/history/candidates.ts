import type { Owner } from "../owner.js";
import type { ScoredPoint } from "../vectors.js";
import type { Candidate } from "./candidate.js";
import { fromPayload, termsOfPayload } from "./payload.js";

/** Candidates from the store's points; one of somebody else is left out, whatever the filter said. */
export function candidatesOf(owner: Owner, points: readonly ScoredPoint[]): Candidate[] {
  return points.flatMap(({ payload, score }) => {
    const message = fromPayload(owner, payload);
    return message === null ? [] : [{ message, atMs: Date.parse(message.created_at), terms: termsOfPayload(payload), fused: score }];
  });
}
