import type { Owner } from "../domain/owner.js";

/**
 * Images that came as data, each under the session whose message has it, by the SHA-256 of its bytes (`id`). A fork has copies of its
 * own, so that what goes with a session goes whole. Nothing of one owner is found by another.
 */
export interface ImageStore {
  /**
   * Durable on resolve; without effect where it is there. An image whose message never came to the journal goes with its session, or at
   * the next start where there is no such session. @throws STORAGE_UNAVAILABLE
   */
  put(owner: Owner, sessionId: string, id: string, data: Uint8Array): Promise<void>;
  /** Null where there is none. @throws STORAGE_UNAVAILABLE */
  get(owner: Owner, sessionId: string, id: string): Promise<Uint8Array | null>;
  /** Deletes one of a session. Idempotent. */
  remove(owner: Owner, sessionId: string, id: string): Promise<void>;
  /** Deletes those of a session. Returns how many went. Idempotent. */
  removeSession(owner: Owner, sessionId: string): Promise<number>;
  /** Deletes all of an owner. Returns how many went. Idempotent. */
  erase(owner: Owner): Promise<number>;
  /** What is left of an owner: 0 after an erase, by looking at the medium. */
  residue(owner: Owner): Promise<number>;
}
