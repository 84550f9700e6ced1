import type { Owner } from "../domain/owner.js";
import type { MergedUsers } from "./merged-memories.js";

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

/** The key of the lock that is held while a user is merged with another, or given back: what copies words of a merge takes the same one. */
export function mergeLockKey(owner: Owner): string {
  return JSON.stringify(["merge", owner]);
}
