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
   * `from` is taken for `to`. Resolves when it is done; one that is broken off is finished by another process
   * within minutes, at the next start, or when either comes back.
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

/** Two users who turned out to be one, and the id of their merge, from which the ids of all follow that `to` is given. */
export interface MergedUsers {
  readonly id: string;
  readonly from: Owner;
  readonly to: Owner;
  /** When they were merged, ISO 8601 UTC. */
  readonly at: string;
}

export type MergeEnds = Pick<MergedUsers, "from" | "to">;

/** Which merges there are to look at, so that a look costs as much as is to be done. Of one user's last merge; durable on resolve. */
export interface MergeRegistry {
  /** Before its record says that there is something to be done. */
  begin(merge: MergeEnds): Promise<void>;
  /** Behind a record that says that there is nothing. `dormant`: what is `from`'s lies as it was. */
  settle(merge: MergeEnds, options: { readonly dormant: boolean }): Promise<void>;
  /** Begun, and not settled. */
  unfinished(): AsyncIterable<MergeEnds>;
  dormant(): AsyncIterable<MergeEnds>;
}

export interface TurnOfSession {
  readonly session_id: string;
  readonly turn: number;
}

/**
 * What becomes of memories where two users turn out to be one. `from` is fenced meanwhile; nothing of theirs changes but by
 * {@link MergedMemories.forgottenSince}. Safe to repeat, each by itself.
 */
export interface MergedMemories {
  /**
   * What `from` had forgotten stays forgotten for `to`; what `from` had said is taken as said by `to`, oldest first, by the rules for
   * statements. `pending`: turns of `from` whose write-back is not done: those that were read are not read again.
   */
  takeOver(users: MergedUsers, pending: readonly TurnOfSession[], now: Date): Promise<{ readonly memories: number }>;
  /** Behind {@link takeOver}: which memory of `to` stands for each of `from`'s that `to` had said as well. */
  standing(users: MergedUsers): Promise<ReadonlyMap<string, string>>;
  /**
   * Before an undo: what `to` had forgotten or deleted since of what came from `from`, `from` loses too. `purged`: sessions of `from` that
   * `to` had purged: their quotes go. Not to be repeated behind {@link takeOut}.
   */
  forgottenSince(users: MergedUsers, purged: ReadonlySet<string>, now: Date): Promise<void>;
  /** Ids of all that the merge gave `to`, those included that are gone since. */
  given(users: MergedUsers): Promise<ReadonlySet<string>>;
  /**
   * Takes out of `to` what the merge gave, but for what `to` has said again since; what it had superseded comes back. `said`: messages of
   * `from`.
   */
  takeOut(users: MergedUsers, said: ReadonlySet<string>, now: Date): Promise<void>;
}

/** What `from`'s sessions are before an undo. */
export interface SurveyedSessions {
  /** Ids that `to` has purged since. */
  readonly purged: ReadonlySet<string>;
  /** Ids that `to` has deleted since, to be restored or not. */
  readonly deleted: readonly string[];
  /** The messages of all. */
  readonly said: ReadonlySet<string>;
}

/**
 * What becomes of sessions where two users turn out to be one: `to` gets copies under ids that follow from the merge, with the same
 * messages; those of `from` lie as they were. Safe to repeat, each by itself.
 */
export interface MergedSessions {
  copy(users: MergedUsers, signal: AbortSignal): Promise<{ readonly sessions: number }>;
  /** Of `from`, as they stand. */
  ids(users: MergedUsers): Promise<readonly string[]>;
  /** Not to be asked behind {@link takeOut}. */
  survey(users: MergedUsers): Promise<SurveyedSessions>;
  /**
   * Before an undo: what `to` has purged, emptied or taken off the record since, `from` loses too. Not to be repeated behind
   * {@link takeOut}.
   */
  loseWhatIsGone(users: MergedUsers): Promise<void>;
  /**
   * Takes away from `to` what came by the merge: the copies, and what became of them in other sessions of `to`, forks above all. A session
   * in which something was said since stays with that. `memories`: ids of those that the merge gave.
   */
  takeOut(users: MergedUsers, memories: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
  /** Behind {@link takeOut}, where `from` is erased: answers to `to` lose what they repeat of it. How many did. */
  forget(users: MergedUsers): Promise<number>;
  /** Messages of `to` that hold words of `from`: 0 behind {@link forget}. */
  left(users: MergedUsers): Promise<number>;
  /** Deletes sessions of `from`, for who can restore them. */
  delete(users: MergedUsers, sessionIds: readonly string[], now: Date): Promise<void>;
}

/** The key of the lock of the user to whom a merge gives, or from whom it takes back: what copies words of a merge takes the same one. */
export function mergeLockKey(owner: Owner): string {
  return JSON.stringify(["merge", owner]);
}
