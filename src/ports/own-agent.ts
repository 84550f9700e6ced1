import type { GivenMessage } from "../domain/given-messages.js";
import type { Owner } from "../domain/owner.js";
import type { RequestKey } from "./request-key.js";
import type { AddedMessages, ContextForPrompt } from "./resources.js";

/** Memory for those who have an agent of their own: what is said is kept and read, what is known is told. No model answers. */
export interface OwnAgent {
  /**
   * Appends messages to a session, in order and all or none; durable on resolve. The user's form memories as those of a chat do, off the
   * reply path, whether or not they are answered. A user's message begins a turn; what others say goes on with it. None of them settles
   * what waits for the user's word. Costs what the messages hold, not what the session holds.
   * @throws SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, RECORD_TOO_LARGE,
   *   STORAGE_UNAVAILABLE, OWNER_ERASED, SHUTTING_DOWN, CLIENT_CLOSED_REQUEST (the signal aborted)
   */
  addMessages(request: MessagesToAdd, options?: { readonly signal?: AbortSignal }): Promise<AddedMessages>;
  /**
   * What is known of the user, as a block for one's own prompt: marked as data, within its tokens. Recall ends within its deadline; what
   * went wrong with memory is in `memory.status`. @throws SESSION_NOT_FOUND, SESSION_NOT_ACTIVE for a deleted one, STORAGE_UNAVAILABLE,
   *   OWNER_ERASED, SHUTTING_DOWN
   */
  context(request: ContextRequest, options?: { readonly signal?: AbortSignal }): Promise<ContextForPrompt>;
}

export interface MessagesToAdd {
  readonly owner: Owner;
  readonly sessionId: string;
  /** At least one. */
  readonly messages: readonly GivenMessage[];
  /** False keeps them out of long-term memory and history. Default true; in an incognito session they are kept out anyway. */
  readonly remember?: boolean;
  /** Default `api`. */
  readonly channel?: string;
  /** The same key again, with the same hash of the request, gives the same answer. Kept 24 h. */
  readonly idempotency?: RequestKey;
  /** IANA time zone. Default: the session's (`metadata.time_zone`), the user's record, UTC. */
  readonly timeZone?: string;
}

export const CONTEXT_PARTS = ["profile", "constraints", "memories", "history", "summary", "window"] as const;
export type ContextPart = (typeof CONTEXT_PARTS)[number];

export interface ContextRequest {
  readonly owner: Owner;
  /** What it is about. Default: the session's newest user message; without either, what is known whatever the subject. */
  readonly query?: string;
  /** Default: none, and so no summary and no window. */
  readonly sessionId?: string;
  /** 100 to 100,000. Default 2,000. What must hold is never left out, also where it alone takes more. */
  readonly maxTokens?: number;
  /**
   * `profile`: standing preferences; `memories`: what is most like the query; `history`: what was said in other sessions;
   * `summary`, `window`: of the session. What must hold (`constraints`) is always told. Default: all.
   */
  readonly include?: readonly ContextPart[];
  /** Rounds of the window, 0 to 100, at most. Default SHORT_TERM_ROUNDS. */
  readonly rounds?: number;
  /** IANA time zone, for days and months. Default: the user's record, UTC. */
  readonly timeZone?: string;
}
