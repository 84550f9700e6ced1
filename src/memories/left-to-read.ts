import type { Owner } from "../domain/owner.js";
import type { TurnToRemember } from "../ports/memories.js";
import type { MemoryLogTurn } from "../ports/memory-log.js";
import type { Lease, TurnLock } from "../ports/session-store.js";
import { isRefusal, type ReadTogether } from "./read-message.js";

/**
 * Messages that got no call of their own: those that can wait, and those that came quickly one after another. The owner's next call reads
 * them along, each with its own quotes; a booking has them read before it goes on. So a call is saved and nothing that was said is lost.
 */
export interface LeftToReadParts {
  /** Null where the owner's reader takes each message by itself: then none is left. */
  readonly together: (owner: Owner) => ReadTogether | null;
  /** A message as it was said, from the journal; null where it is not part of a conversation any more. */
  readonly said: (owner: Owner, turn: MemoryLogTurn, signal: AbortSignal) => Promise<TurnToRemember | null>;
  /** Takes a turn off the record at the word of a message that was read along. Safe to repeat. */
  readonly takeOffRecord: (
    owner: Owner,
    turn: Pick<TurnToRemember, "session_id" | "turn">,
    which: "this" | "previous",
    signal: AbortSignal,
  ) => Promise<unknown>;
  /** Over all processes: an owner's messages are read along by one call at a time. */
  readonly locks: Pick<TurnLock, "acquire">;
}

/** So many messages wait at most: one more is read, and takes them along. As many as one call reads along. */
export const MOST_LEFT = 12;

/** Of what one call reads along. What is more is read by a call before it. */
const MAX_MESSAGES = MOST_LEFT;
const MAX_CHARS = 12_000;

/** How long a call is waited for that reads them now, in milliseconds: longer than a model may take. */
const CALL_ENDS_MS = 45_000;

/** What a call reads along. */
export interface Along {
  readonly turns: readonly TurnToRemember[];
  readonly gone: readonly MemoryLogTurn[];
  readonly more: boolean;
}

/** Which of the messages that were left are read along with the next one. */
export class LeftToRead {
  readonly #parts: LeftToReadParts;
  /** Those that stood in a call that was refused: each is read by itself, before a booking. */
  readonly #apart = new Set<string>();

  constructor(parts: LeftToReadParts) {
    this.#parts = parts;
  }

  together(owner: Owner): ReadTogether | null {
    return this.#parts.together(owner);
  }

  get takeOffRecord(): LeftToReadParts["takeOffRecord"] {
    return this.#parts.takeOffRecord;
  }

  /** Lets nobody else read the owner's messages that were left, until the lease is released. @throws SESSION_BUSY, ABORTED, OWNER_ERASED */
  claim(owner: Owner, signal: AbortSignal): Promise<Lease> {
    return this.#parts.locks.acquire(`left:${owner}`, { waitMs: CALL_ENDS_MS, signal, owner });
  }

  /** As many as fit into a call, oldest first, and whether there are more; `gone`: those of which nothing is left to read. */
  async alongWith(owner: Owner, left: readonly MemoryLogTurn[], signal: AbortSignal): Promise<Along> {
    const turns: TurnToRemember[] = [];
    const gone: MemoryLogTurn[] = [];
    let chars = 0;
    for (const turn of left.filter(({ message_id }) => !this.#apart.has(message_id))) {
      const said = await this.#parts.said(owner, turn, signal);
      if (said === null) gone.push(turn);
      else if (turns.length < MAX_MESSAGES && (turns.length === 0 || chars + said.text.length <= MAX_CHARS)) {
        turns.push(said);
        chars += said.text.length;
      } else return { turns, gone, more: true };
    }
    return { turns, gone, more: false };
  }

  /** Null where it is not part of a conversation any more. */
  said(owner: Owner, turn: MemoryLogTurn, signal: AbortSignal): Promise<TurnToRemember | null> {
    return this.#parts.said(owner, turn, signal);
  }

  /**
   * Says that a call which read these has failed. True where it would be refused again: they stay apart, to be read each by itself, as one
   * of them would cost the others their reading too.
   */
  failed(turns: readonly TurnToRemember[], error: unknown): boolean {
    const refused = isRefusal(error);
    if (refused) for (const { message_id } of turns) this.#apart.add(message_id);
    return refused;
  }

  done(messageId: string): void {
    this.#apart.delete(messageId);
  }
}
