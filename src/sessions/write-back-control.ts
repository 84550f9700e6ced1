import type { Owner } from "../domain/owner.js";

/** What a change of a session asks of those who write its turns back. */
export interface WriteBackControl {
  /** Says that there is something to do. Returns at once. */
  kick(): void;
  /** Resolves when the session has nothing pending that may still succeed, or when the time is up. */
  flush(owner: Owner, sessionId: string, timeoutMs: number): Promise<void>;
  /** Aborts the owner's write-backs, waits for them, and starts none until the result is called. */
  hold(owner: Owner): Promise<() => void>;
}
