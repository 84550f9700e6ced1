import { z } from "zod";
import type { Owner } from "../domain/owner.js";
import type { ReadOnly } from "../domain/schema.js";

/** A visitor's identity that turned out to be a known user's. `merge_id`: opaque; `from`: who is no longer known by that name. */
export const mergeSchema = z
  .object({
    merge_id: z.string(),
    from: z.string(),
    to: z.string(),
    state: z.enum(["merging", "merged", "undoing", "undone", "final"]).meta({ description: "`final`: it can't be undone any more." }),
    merged_at: z.iso.datetime(),
    /** Until then it can be undone: 30 days. */
    undo_until: z.iso.datetime(),
  })
  .meta({ id: "Merge" });
export type Merge = ReadOnly<z.output<typeof mergeSchema>> & { readonly tenant: string };
/** What has become of a merge. */
export type MergeState = Merge["state"];

/** Two users of one tenant. */
export interface MergeRequest {
  /** Default: `default`. */
  readonly tenant?: string;
  readonly from: string;
  readonly to: string;
  /** A repetition is answered with the merge that the first request began, as it is. Default: the same `from` and `to` again are. */
  readonly idempotencyKey?: string;
}

/**
 * Identities that become known. For whoever speaks for all users of a tenant: nobody merges themselves. Methods throw MERGE_NOT_FOUND for
 * an id that is none.
 */
export interface Identities {
  /**
   * A visitor's sessions, memories, history and bookings become the known user's, each statement once and in the order said; from then on
   * `from` is taken for `to`. Resolves when it is done; one that is broken off is finished at the next start, or when either comes back.
   * @throws INVALID_USER_ID, SAME_IDENTITY, IDENTITY_MERGED (`from` is merged with somebody else, or others were merged with them in the
   *   last 30 days), IDEMPOTENCY_KEY_REUSED, OWNER_ERASED, SESSION_BUSY (either is being merged), STORAGE_UNAVAILABLE, SHUTTING_DOWN
   */
  merge(request: MergeRequest): Promise<Merge>;
  /**
   * Gives back what was `from`'s. What was forgotten or deleted in between stays so; what was said in between stays `to`'s.
   * @throws MERGE_FINAL after 30 days, OWNER_ERASED, SESSION_BUSY, STORAGE_UNAVAILABLE, SHUTTING_DOWN
   */
  undo(mergeId: string): Promise<Merge>;
  get(mergeId: string): Promise<Merge>;
  /** Who an owner is: themselves, or whom they were merged with. Waits for a merge that runs. One cheap read. */
  resolve(owner: Owner): Promise<Owner>;
}
