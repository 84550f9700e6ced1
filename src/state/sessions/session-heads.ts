import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { SessionState } from "../journal/session-fold.js";

/** A session as it stood when it was last seen: what the next write goes out from. */
export interface SessionHead {
  readonly owner: Owner;
  /** Another one for a session that was removed and begun anew under the same id; empty for those of before there was one. */
  readonly incarnation: string;
  readonly lastSeq: number;
  readonly lastTurn: number;
  /** What the index has; null where it has nothing. */
  readonly state: SessionState | null;
  /** The last write was too much for the index, which is to be caught up. */
  readonly isBehind?: boolean;
}

/** Heads kept, so that a session that goes on here is written without being read first. One that is out of date costs a second try. */
const MAX_HEADS = 5_000;

export class SessionHeads<Head extends SessionHead> {
  readonly #read: (owner: Owner, sessionId: string) => Promise<Head>;
  readonly #heads = new LRUCache<string, Head>({ max: MAX_HEADS });

  /** `read`: a head as it stands now. @throws SESSION_NOT_FOUND, also for somebody else's */
  constructor(read: (owner: Owner, sessionId: string) => Promise<Head>) {
    this.#read = read;
  }

  known(owner: Owner, sessionId: string): Head | undefined {
    const head = this.#heads.get(sessionId);
    return head?.owner === owner ? head : undefined;
  }

  keep(sessionId: string, head: Head): void {
    this.#heads.set(sessionId, head);
  }

  forget(sessionId: string): void {
    this.#heads.delete(sessionId);
  }

  clear(): void {
    this.#heads.clear();
  }

  /** As it stands now. @throws SESSION_NOT_FOUND, also for somebody else's */
  async read(owner: Owner, sessionId: string): Promise<Head> {
    const head = await this.#read(owner, sessionId);
    this.#heads.set(sessionId, head);
    return head;
  }
}
