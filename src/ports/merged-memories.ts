import type { Owner } from "../domain/owner.js";

/** Two users who turned out to be one, and the id of their merge, from which the ids of all follow that `to` is given. */
export interface MergedUsers {
  readonly id: string;
  readonly from: Owner;
  readonly to: Owner;
  /** When they were merged, ISO 8601 UTC. */
  readonly at: string;
}

/** A turn of a session. */
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
