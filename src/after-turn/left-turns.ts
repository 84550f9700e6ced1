import type { Owner } from "../domain/owner.js";
import { isSaid, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import type { PendingTurn, SessionIndex, ShortTermMemory } from "../ports/session-store.js";
import { isLeft, releaseLeft } from "./due-turns.js";

/** Of those that wait, so many are told as they were said: those that are due last, which were said last. */
const MOST_TOLD = 5;

export interface LeftTurnsParts {
  readonly index: Pick<SessionIndex, "pendingOf" | "recordAttempt">;
  readonly journal: Pick<ShortTermMemory, "read">;
  /** Whether a message asks not to be kept: such a one is told nowhere else. */
  readonly asksNotToKeep: (owner: Owner, text: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs what makes turns due, and looks for them behind it. */
  readonly preparing: (work: () => Promise<void>) => Promise<void>;
}

/** The owner's messages that were left to be read with a next one. */
export class LeftTurns {
  readonly #parts: LeftTurnsParts;
  readonly #delayMs: number;

  constructor(parts: LeftTurnsParts, options: { /** How long any turn waits. */ readonly delayMs: number }) {
    this.#parts = parts;
    this.#delayMs = options.delayMs;
  }

  /** Has them read now, those of one session or of all but one, in the background. What fails is logged, and read when its time comes. */
  async readNow(
    owner: Owner,
    { sessionId, exceptSession }: { readonly sessionId?: string; readonly exceptSession?: string } = {},
  ): Promise<void> {
    const { index, clock, logger, preparing } = this.#parts;
    await preparing(async () => {
      try {
        const turns = await index.pendingOf(owner, exceptSession === undefined ? sessionId : { except: exceptSession });
        await releaseLeft(index, turns, clock.now().getTime() - this.#delayMs);
      } catch (error) {
        logger.warn({ err: error }, "messages that were left to be read could not be looked up");
      }
    });
  }

  /** As they were said, those of all sessions but one, the newest last: until they are read nothing else tells of them. */
  async said(owner: Owner, exceptSession: string, signal: AbortSignal): Promise<readonly MessageRecord[]> {
    const left = (await this.#parts.index.pendingOf(owner, { except: exceptSession })).filter(isLeft);
    const said: MessageRecord[] = [];
    for (const turn of left.toSorted((a, b) => b.dueAtMs - a.dueAtMs || b.turn - a.turn)) {
      if (said.length === MOST_TOLD) break;
      const message = await this.#messageOf(turn, signal);
      if (message !== null && !this.#parts.asksNotToKeep(owner, message.body.content)) said.push(message);
    }
    return said.toSorted((a, b) => a.at.localeCompare(b.at));
  }

  async #messageOf({ owner, sessionId, turn, fromSeq }: PendingTurn, signal: AbortSignal): Promise<MessageRecord | null> {
    const records: JournalRecord[] = [];
    for await (const record of this.#parts.journal.read(owner, sessionId, { ...(fromSeq !== undefined && { fromSeq }), signal }))
      records.push(record);
    const recorded = recordedTurn(records, turn);
    return recorded !== null && isSaid(recorded) ? recorded.user : null;
  }
}
