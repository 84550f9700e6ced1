import type { ErrorDetail } from "./errors.js";
import type { ConversationHistory } from "./history.js";
import type { LongTermMemory } from "./long-term.js";
import type { Owner } from "./owner.js";
import type { ErasureReceipt, UserRecord } from "./owner-ledger.js";
import type { Element, JsonObject, JsonValue, Message, RecalledMemory, RecallStatus, Session, Source, Timing, Usage } from "./session.js";
import type { Page, SessionQuery } from "./session-store.js";

/**
 * What the outside can ask of Maitred, whichever door it comes through: HTTP, MCP, the command line, or code.
 * The owner is always the caller's, from the server's own knowledge of who that is.
 */
export interface Application {
  readonly chat: Chat;
  readonly sessions: Sessions;
  readonly memories: LongTermMemory;
  readonly history: ConversationHistory;
  readonly imports: Imports;
  readonly privacy: Privacy;
  /** Records that a user was seen, off the reply path. Never throws. */
  seen(owner: Owner, seen: { readonly displayName?: string; readonly provider?: string; readonly timeZone?: string }): void;
  user(owner: Owner): Promise<UserRecord | null>;
  readiness(): Promise<Readiness>;
  readonly info: ApplicationInfo;
  /** Finishes turns in flight, drains write-back as far as `drainMs` allows, closes every store. Idempotent. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** For the start-up block, the page and readyz. Holds no key. */
export interface ApplicationInfo {
  readonly version: string;
  readonly model: { readonly name: string; readonly standIn: boolean };
  readonly longTerm: { readonly enabled: boolean; readonly location: string };
  readonly embedder: { readonly id: string; readonly lexical: boolean };
  readonly history: { readonly backend: string };
  readonly storageDir: string;
  readonly shortTerm: string;
}

export type PartStatus = "ok" | "degraded" | "down" | "disabled";
export interface Readiness {
  readonly status: PartStatus;
  readonly parts: Readonly<Record<string, { readonly status: PartStatus; readonly detail?: string }>>;
}

// ---- chat --------------------------------------------------------------------------------------------------------

export interface ChatRequest {
  readonly owner: Owner;
  /** 1 to 8,000 characters, not blank. */
  readonly message: string;
  /** Absent: a session is created. */
  readonly sessionId?: string;
  /** What the user is looking at, as text; at most 16 KiB. */
  readonly pageContext?: string;
  /** For a session that is created; `incognito: true` keeps it out of long-term memory and history. */
  readonly metadata?: JsonObject;
  /** Default `api`. */
  readonly channel?: string;
  /** Id of the last user message, which this one replaces. */
  readonly editOf?: string;
  readonly idempotency?: { readonly key: string /** SHA-256 of the request's body. */; readonly requestHash: string };
  /** IANA time zone. Default: the session's (`metadata.time_zone`), `homeTimeZone`, the user's record, UTC. */
  readonly timeZone?: string;
  /** IANA time zone that identity gives the user, for sessions that say nothing else. */
  readonly homeTimeZone?: string;
  /** One turn's extra prompt, from the application (OpenAI's `instructions`): never a memory. */
  readonly instructions?: string;
}

/** As API.md has it. */
export interface ChatAnswer {
  readonly session_id: string;
  readonly turn: number;
  readonly message: { readonly id: string; readonly role: "assistant"; readonly content: string; readonly created_at: string };
  readonly steps: readonly AnswerStep[];
  readonly elements: readonly Element[];
  readonly memory: {
    readonly status: RecallStatus;
    readonly write_back: "pending" | "disabled";
    readonly recalled: readonly RecalledMemory[];
  };
  readonly usage: Usage;
  readonly timing: Timing;
}

export interface AnswerStep {
  readonly id: string;
  readonly type: "tool_call";
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly duration_ms: number;
  readonly error: string | null;
}

export type ChatEvent =
  | {
      readonly type: "session";
      readonly session_id: string;
      readonly turn: number;
      readonly user_message_id: string;
      readonly created: boolean;
    }
  | { readonly type: "memory"; readonly memory: ChatAnswer["memory"] }
  | { readonly type: "step"; readonly step: AnswerStep }
  | { readonly type: "token"; readonly delta: string };

export interface Chat {
  /**
   * One turn. Events come in order: session, memory, then steps and tokens; a replay by idempotency key sends session and memory only.
   * `onEvent` may return a promise: the turn waits for it (back-pressure of a slow reader).
   * @throws SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, EDIT_NOT_LAST,
   *   MODEL_UNAVAILABLE, MODEL_TIMEOUT, STORAGE_UNAVAILABLE, OWNER_ERASED, CLIENT_CLOSED_REQUEST (the signal aborted), SHUTTING_DOWN
   */
  chat(
    request: ChatRequest,
    options?: { readonly signal?: AbortSignal; readonly onEvent?: (event: ChatEvent) => void | Promise<void> },
  ): Promise<ChatAnswer>;
}

// ---- sessions ----------------------------------------------------------------------------------------------------

export interface SessionPatch {
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
  readonly status?: "active" | "archived";
}

export interface WriteBackState {
  readonly pending_turns: number;
  readonly failed_turns: number;
}

export interface ThreadStep {
  readonly id: string;
  readonly type: "user_message" | "assistant_message" | "tool_call";
  readonly name?: string;
  readonly input?: JsonValue;
  /** A message's text, or a tool's result. */
  readonly output: JsonValue;
  readonly created_at: string;
}

export interface Thread {
  readonly session: Session;
  readonly steps: readonly ThreadStep[];
  /** In the order in which the answers showed them; one that several answers showed is there for each. */
  readonly elements: readonly ThreadElement[];
}

export interface ThreadElement extends Element {
  /** The message under which it stood. */
  readonly for_id: string;
}

/** All throw SESSION_NOT_FOUND for a session that the owner doesn't have. */
export interface Sessions {
  create(
    owner: Owner,
    session: { readonly title?: string; readonly metadata?: JsonObject; readonly expiresInDays?: number },
  ): Promise<Session>;
  get(owner: Owner, id: string): Promise<Session>;
  list(owner: Owner, query: SessionQuery): Promise<Page<Session>>;
  patch(owner: Owner, id: string, patch: SessionPatch): Promise<Session>;
  /** Soft: recoverable until retention purges it. */
  delete(owner: Owner, id: string): Promise<void>;
  restore(owner: Owner, id: string): Promise<Session>;
  purge(owner: Owner, id: string, options: { readonly keepMemories: boolean; readonly by: "user" | "retention" }): Promise<void>;
  /** Takes all messages out and keeps the session. */
  empty(owner: Owner, id: string): Promise<void>;
  messages(
    owner: Owner,
    id: string,
    query: { readonly limit?: number; readonly cursor?: string; readonly order?: "asc" | "desc" },
  ): Promise<Page<Message>>;
  /** One message by its id, also of a branch that was edited away; null where the session has none of that id, or not any more. */
  message(owner: Owner, id: string, messageId: string): Promise<Message | null>;
  thread(owner: Owner, id: string): Promise<Thread>;
  fork(owner: Owner, id: string, messageId: string): Promise<Session>;
  /** Resolves when the session's write-back is done, or the time is up. */
  flush(owner: Owner, id: string, timeoutMs: number): Promise<WriteBackState>;
  retryWriteBack(owner: Owner, id: string): Promise<WriteBackState>;
}

// ---- import, export, erasure -------------------------------------------------------------------------------------

export interface ImportResult {
  readonly sessions: number;
  readonly messages: number;
  readonly skipped_duplicates: number;
  /** Messages of a ChatGPT export that are too long to keep, and were left out. Only where there are any. */
  readonly left_out?: readonly ErrorDetail[];
}

export interface Imports {
  /**
   * Reads `application/x-ndjson` lines, or the JSON of an export, streamed. Validated whole before anything is kept.
   * Resolves when what came can be searched. @throws INVALID_IMPORT with the line's number, PAYLOAD_TOO_LARGE, SESSION_HAS_LIVE_TURNS
   */
  import(
    owner: Owner,
    body: AsyncIterable<Uint8Array>,
    options: {
      readonly format: "ndjson" | "export";
      readonly extract: boolean;
      readonly signal?: AbortSignal;
      /** Default 64 MiB. A document that is no list is held whole: 512 MiB are the most that can be read. */
      readonly maxBytes?: number;
      readonly onProgress?: (done: number, total: number) => void;
    },
  ): Promise<ImportResult>;
}

export interface Privacy {
  /** JSON text in chunks: sessions with messages, steps and elements, memories with their history, domain records. */
  export(owner: Owner, options: { readonly by: string }): AsyncIterable<string>;
  /** Erases everything of one user from every store, looks, and gives the receipt. Safe to repeat. */
  erase(owner: Owner, options: { readonly by: string }): Promise<ErasureReceipt>;
  /** Finishes the erasures that a crash interrupted; at start, before anything is served. */
  resume(): Promise<number>;
}

export type { Source };
