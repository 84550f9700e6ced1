import { AppError } from "../../platform/errors.js";
import type { ConversationHistory } from "../../ports/history.js";

const none = async () => 0;

/** History with HISTORY_BACKEND=none: takes nothing in, holds nothing, and says so to whoever searches. */
export class DisabledHistory implements ConversationHistory {
  readonly addSession = none;
  readonly addEvents = none;
  readonly removeSession = none;
  readonly removeMessages = none;
  readonly count = none;
  readonly erase = none;
  readonly residue = none;

  /** @throws HISTORY_DISABLED */
  async search(): Promise<never> {
    throw new AppError("HISTORY_DISABLED");
  }

  async counts(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async health(): Promise<{ readonly status: "disabled" }> {
    return { status: "disabled" };
  }

  async close(): Promise<void> {}
}
