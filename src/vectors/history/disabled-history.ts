import { AppError } from "../../platform/errors.js";
import type { ConversationHistory } from "../../ports/history.js";

/** History with HISTORY_BACKEND=none: takes nothing in, holds nothing, and says so to whoever searches. */
export class DisabledHistory implements ConversationHistory {
  async addSession(): Promise<number> {
    return 0;
  }

  async addEvents(): Promise<number> {
    return 0;
  }

  /** @throws HISTORY_DISABLED */
  async search(): Promise<never> {
    throw new AppError("HISTORY_DISABLED");
  }

  async removeSession(): Promise<number> {
    return 0;
  }

  async removeMessages(): Promise<number> {
    return 0;
  }

  async count(): Promise<number> {
    return 0;
  }

  async counts(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async erase(): Promise<number> {
    return 0;
  }

  async residue(): Promise<number> {
    return 0;
  }

  async health(): Promise<{ readonly status: "disabled" }> {
    return { status: "disabled" };
  }

  async close(): Promise<void> {}
}
