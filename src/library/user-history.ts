import { historySearchBody } from "../http/http.js";
import type { Clock } from "../platform/clock.js";
import { present } from "../platform/present.js";
import type { ConversationHistory, HistorySearch } from "../ports/history.js";
import type { HistoryHit } from "../ports/resources.js";
import { checked, inSession, type UserNow } from "./checked.js";
import { knownOptions, OF_A_SESSION, type SessionName, sessionNamed } from "./known-options.js";

/** Where in the history, and how much; in all sessions where none is named. */
export interface HistorySearchOptions extends SessionName, Pick<HistorySearch, "limit" | "from" | "to" | "role" | "context" | "signal"> {}

const OF_SEARCH = { ...OF_A_SESSION, limit: true, from: true, to: true, role: true, context: true, signal: true } as const;

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
   * By words and by meaning, best first. `query`: 1 to 1,000 characters. @throws INVALID_REQUEST, UNKNOWN_FIELD, INVALID_SESSION_ID,
   * HISTORY_DISABLED, HISTORY_UNAVAILABLE
   */
  async search(query: string, options: HistorySearchOptions = {}): Promise<readonly HistoryHit[]> {
    const { signal, thread, sessionId: id, ...given } = knownOptions<HistorySearchOptions>(options, OF_SEARCH);
    const session = sessionNamed({ thread, sessionId: id });
    const { query: text, ...filter } = checked(historySearchBody, { ...given, query });
    const owner = await this.#user.now();
    const { sessionId } = await inSession(this.#user, owner, session);
    const search = { ...present({ ...filter, session_id: sessionId, signal }), query: text, now: this.#clock.now() };
    return this.#history.search(owner, search);
  }
}
