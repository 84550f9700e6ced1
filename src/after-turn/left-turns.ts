import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import type { SessionIndex } from "../ports/session-store.js";
import { releaseLeft } from "./due-turns.js";

export interface LeftTurnsParts {
  readonly index: Pick<SessionIndex, "pendingOf" | "recordAttempt">;
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
}
