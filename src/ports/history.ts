import type { Owner } from "../domain/owner.js";
import { jsonObject, type MessageRecord, type Role } from "../domain/session.js";
import type { Tombstone } from "./owner-ledger.js";
import type { HistoryHit, HistoryMessage } from "./resources.js";

/** Every message ever, verbatim, searchable across an owner's sessions: what was said, by meaning and by words. */

export interface HistorySearch {
  readonly query: string;
  /** 1 to 200. Default MEMORY_SEARCH_LIMIT (20). */
  readonly limit?: number;
  readonly session_id?: string;
  /** ISO 8601, inclusive. */
  readonly from?: string;
  /** ISO 8601, exclusive. */
  readonly to?: string;
  readonly role?: Role;
  /** Messages before and after each hit that are returned with it, 0 to 10. Default 0. */
  readonly context?: number;
  /** Journal ids. Never returned, not as context either: what is in the window already, what was forgotten. */
  readonly excludeMessageIds?: ReadonlySet<string>;
  /** Of the owner, where the caller has just read them. Default: they are read. */
  readonly tombstones?: readonly Tombstone[];
  /** For "last time", "in March" and recency. Default: the present. */
  readonly now?: Date;
  readonly signal?: AbortSignal;
}

/** @throws HISTORY_DISABLED (backend `none`), HISTORY_UNAVAILABLE */
export interface ConversationHistory {
  /** Adds a whole session, or what is new of it. Idempotent. Searchable on resolve. Returns how many messages are new. */
  addSession(
    owner: Owner,
    sessionId: string,
    messages: AsyncIterable<HistoryMessage> | Iterable<HistoryMessage>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<number>;
  /** Adds messages of a session as they come. Idempotent. Searchable on resolve. Returns how many are new. */
  addEvents(owner: Owner, messages: readonly HistoryMessage[], options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** Best first. Never another owner's. */
  search(owner: Owner, search: HistorySearch): Promise<readonly HistoryHit[]>;
  removeSession(owner: Owner, sessionId: string): Promise<number>;
  removeMessages(owner: Owner, messageIds: readonly string[]): Promise<number>;
  /** Messages of a session that the index holds, for catching up. */
  count(owner: Owner, sessionId?: string): Promise<number>;
  /** The same of many sessions, by session id, in one query; those of which it holds none are left out. */
  counts(sessions: readonly { readonly owner: Owner; readonly sessionId: string }[]): Promise<ReadonlyMap<string, number>>;
  erase(owner: Owner): Promise<number>;
  residue(owner: Owner): Promise<number>;
  health(): Promise<{ readonly status: "ok" | "degraded" | "down" | "disabled"; readonly detail?: string }>;
  close(): Promise<void>;
}

/**
 * A journal's message as history knows it, for the write-back, imports and reindex alike. A turn takes two positions, so that a session
 * that is indexed turn by turn and one that is indexed whole come out the same. Metadata that an importer gave is `metadata.custom`.
 */
export function historyMessageOf(sessionId: string, record: MessageRecord): HistoryMessage {
  const { role, name, content, channel, external_id, metadata } = record.body;
  const custom = jsonObject.safeParse(metadata.custom);
  return {
    message_id: record.id,
    session_id: sessionId,
    turn: record.turn,
    position: (record.turn - 1) * 2 + (role === "user" ? 0 : 1),
    role,
    name,
    content,
    channel,
    created_at: record.at,
    ...(external_id === undefined ? {} : { external_id }),
    ...(custom.success ? { custom_metadata: custom.data } : {}),
  };
}
