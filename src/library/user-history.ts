import type { Role } from "../domain/session.js";
import { historySearchBody, present } from "../http/http.js";
import type { Clock } from "../platform/clock.js";
import type { ConversationHistory, HistoryHit } from "../ports/history.js";
import { checked, optionsOf, type UserNow } from "./checked.js";

/** Where in the history, and how much. */
export interface HistorySearchOptions {
  /** 1 to 200. Default: `memorySearchLimit` (20). */
  readonly limit?: number;
  readonly sessionId?: string;
  /** ISO 8601, inclusive. */
  readonly from?: string;
  /** ISO 8601, exclusive. */
  readonly to?: string;
  readonly role?: Role;
  /** Messages before and after each hit that come with it, 0 to 10. Default: 0. */
  readonly context?: number;
  readonly signal?: AbortSignal;
}

/** What one user and the assistant said, verbatim, across their sessions. */
export class UserHistory {
  readonly #history: Pick<ConversationHistory, "search">;
  readonly #user: UserNow;
  readonly #clock: Clock;

  constructor(history: Pick<ConversationHistory, "search">, user: UserNow, clock: Clock) {
    this.#history = history;
    this.#user = user;
    this.#clock = clock;
  }

  /**
   * By words and by meaning, best first. `query`: 1 to 1,000 characters. @throws INVALID_REQUEST, HISTORY_DISABLED,
   * HISTORY_UNAVAILABLE
   */
  async search(query: string, options: HistorySearchOptions = {}): Promise<readonly HistoryHit[]> {
    const { signal, ...given }: HistorySearchOptions = optionsOf(options);
    const { query: text, ...filter } = checked(historySearchBody, { ...given, query });
    return this.#history.search(await this.#user.now(), { ...present({ ...filter, signal }), query: text, now: this.#clock.now() });
  }
}
