import type { Owner } from "../domain/owner.js";
import type { JournalRecord, NewRecord } from "../domain/session.js";
import type { AppendOptions, CreateOptions, IdempotencyEntry } from "./session-store.js";

/** Writes a session: its journal, which decides, and its index, which follows. */
export interface SessionWriter {
  /** As {@link ShortTermMemory.create}. */
  create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]>;
  /** As {@link ShortTermMemory.append}. */
  append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]>;
}

/** Sessions whose index is behind their journal: its disk was full, its file locked. */
export interface SessionsBehind {
  readonly count: number;
  /** Whose they are. A turn of theirs that is still pending in the index may be written back already. */
  readonly owners: readonly Owner[];
  /** Tries the owner's sessions now. Costs nothing where none is behind, and never throws. */
  level(owner: Owner): Promise<void>;
  /** Whether something that the owner said is not in the index yet, and so in no write-back either, though it was tried just now. */
  lags(owner: Owner): Promise<boolean>;
  /** @throws STORAGE_UNAVAILABLE where the session, which the index may not even know, is still behind */
  requireLevel(owner: Owner, sessionId: string): Promise<void>;
  /** The request with this key, from the journals of the owner's sessions that are behind. */
  findIdempotent(owner: Owner, key: string): Promise<IdempotencyEntry | null>;
  /** `listener` is called each time that a session has caught up: turns of it may wait for their write-back. */
  onLevel(listener: () => void): void;
}
