import type { Owner } from "../domain/owner.js";
import type { RecordOf } from "../domain/session.js";
import { isAppError } from "../platform/errors.js";
import type { HistoryMessage } from "../ports/resources.js";
import type { SummaryParts } from "./summary-parts.js";

/** Summaries as a search finds them: one of a session. */
export class SummariesInHistory {
  readonly #parts: Pick<SummaryParts, "history" | "store" | "logger">;

  constructor(parts: Pick<SummaryParts, "history" | "store" | "logger">) {
    this.#parts = parts;
  }

  /** One that tells what was forgotten must go before another is written. */
  async remove(owner: Owner, before: RecordOf<"summary"> | null, stands: boolean): Promise<void> {
    if (!before) return;
    try {
      await this.#parts.history.removeMessages(owner, [before.id]);
    } catch (error) {
      if (!stands && !isAppError(error, "HISTORY_DISABLED")) throw error;
    }
  }

  /** The summary is in the journal already: a history that is out of reach gets the next one. */
  async add(owner: Owner, message: HistoryMessage, signal: AbortSignal): Promise<void> {
    try {
      const { history, store } = this.#parts;
      await history.addEvents(owner, [message], { signal });
      // Another may have been written meanwhile.
      const { summary } = await store.journal.window(owner, message.session_id, { rounds: 0, signal });
      if (summary?.id !== message.message_id) await history.removeMessages(owner, [message.message_id]);
    } catch (error) {
      if (isAppError(error, "HISTORY_DISABLED")) return;
      this.#parts.logger.warn({ session_id: message.session_id, err: error }, "a summary could not be made searchable");
    }
  }
}
