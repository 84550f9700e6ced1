// Over 300 lines: one door, all that HTTP, the command line and the library ask of the application.

import type { BookingReceipt } from "../domain/booking-receipt.js";
import type { GivenImage, ImageType } from "../domain/image.js";
import type { Owner } from "../domain/owner.js";
import type { Element, JsonObject, JsonValue, Message, Session, ShownPart, Source } from "../domain/session.js";
import type { ToolSpec } from "./chat-model.js";
import type { Events } from "./events.js";
import type { ConversationHistory } from "./history.js";
import type { Identities } from "./identities.js";
import type { Memories } from "./memories.js";
import type { OwnAgent } from "./own-agent.js";
import type { UserRecord } from "./owner-ledger.js";
import type { RequestKey } from "./request-key.js";
import type {
  AnswerStep,
  ChatAnswer,
  ErasureReceipt,
  ImportResult,
  Readiness,
  ThreadElement,
  ThreadStep,
  WriteBackState,
} from "./resources.js";
import type { Page, SessionQuery } from "./session-store.js";

/**
 * What the outside can ask of Maitred, whichever door it comes through: HTTP, MCP, the command line, or code.
 * The owner is always the caller's, from the server's own knowledge of who that is; and who they are after merges, which the door has
 * asked {@link Identities.resolve} for. `chat` and `seen` ask by themselves.
 */
export interface Application {
  readonly chat: Chat;
  readonly ownAgent: OwnAgent;
  readonly sessions: Sessions;
  readonly memories: Memories;
  readonly history: Pick<ConversationHistory, "search" | "count" | "residue" | "addSession" | "addEvents">;
  readonly imports: Imports;
  readonly privacy: Privacy;
  readonly events: Events;
  readonly identities: Identities;
  /** Records that a user was seen, off the reply path. Never throws. */
  seen(owner: Owner, seen: { readonly displayName?: string; readonly provider?: string; readonly timeZone?: string }): void;
  user(owner: Owner): Promise<UserRecord | null>;
  readiness(): Promise<Readiness>;
  /**
   * Loads what the first message would wait for, and recalls once, of `owner` where that is known. Changes nothing, calls no service that
   * has to be paid, never throws.
   */
  warm(owner?: Owner): Promise<void>;
  readonly info: ApplicationInfo;
  /** The model that answers a user: {@link ApplicationInfo.model}, or that of the user's tenant. */
  modelOf(owner: Owner): ApplicationInfo["model"];
  /** Finishes turns in flight, drains write-back as far as `drainMs` allows, closes every store. Idempotent. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** For the start-up block, the page and readyz. Holds no key. */
export interface ApplicationInfo {
  readonly version: string;
  readonly model: { readonly name: string; readonly standIn: boolean };
  readonly longTerm: { readonly enabled: boolean; readonly location: string };
  readonly embedder: {
    readonly id: string;
    readonly lexical: boolean;
    readonly dimension: number;
    /** Whether texts go over a network. */
    readonly remote: boolean;
    /** What its last call failed with and what to do; null when it went well. */
    readonly problem: string | null;
    /** What takes over once the stored vectors are made anew by `maitred reindex`. Absent: nothing does. */
    readonly afterReindex?: string;
  };
  readonly history: { readonly backend: string };
  readonly storageDir: string;
  /** By variable: whether a key is set. Never its text. */
  readonly keys: Readonly<Record<string, boolean>>;
  readonly shortTerm: string;
}

// ---- chat --------------------------------------------------------------------------------------------------------

export interface ChatRequest {
  readonly owner: Owner;
  /** 1 to 8,000 characters, not blank. */
  readonly message: string;
  /** Absent, and no `externalId` either: a session is created. */
  readonly sessionId?: string;
  /** Instead of `sessionId`: the application's own name of the session, 1 to 256 characters. It is created where there is none. */
  readonly externalId?: string;
  /** What the user is looking at, as text; at most 16 KiB. */
  readonly pageContext?: string;
  /**
   * At most 4, of 5 MiB each, for a model that sees. Kept with the message; the model is shown those of the present turn, and told of
   * earlier ones how many there were. Default: none.
   */
  readonly images?: readonly GivenImage[];
  /** Of a session that is created, at most 16 KiB; `incognito: true` keeps it out of long-term memory and history. */
  readonly metadata?: JsonObject;
  /** 1 to 64 characters. Default `api`. */
  readonly channel?: string;
  /** Id of the last user message, which this one replaces. */
  readonly editOf?: string;
  /** True: nothing of the turn goes to memory or history, and none of them is used; on a new session, for all of it. Default: false. */
  readonly incognito?: boolean;
  /** The token of a tool's earlier answer whose button the user pressed: consent to what was shown there, and to nothing else. */
  readonly consent?: string;
  /** Its hash need not cover `images`: they are told apart by their own. */
  readonly idempotency?: RequestKey;
  /** IANA time zone. Default: the session's (`metadata.time_zone`), `homeTimeZone`, the user's record, UTC. */
  readonly timeZone?: string;
  /** IANA time zone that identity gives the user, for sessions that say nothing else. */
  readonly homeTimeZone?: string;
  /**
   * The turn's prompt, the application's own, in the place of the domain's: never a memory, and not kept. At most half of the tokens that a
   * turn's messages may take. Default: the domain's.
   */
  readonly prompt?: string;
  /**
   * Tools that the caller runs by itself: where the model calls one, the answer has `calls` and the turn waits for {@link Chat.resume}. One
   * named as a tool of the agent's own stands in its place. Default: none.
   */
  readonly tools?: readonly ToolSpec[];
  /** Whether the agent has the domain's tools in this turn, beside those of memory. Default true. */
  readonly domainTools?: boolean;
}

/** What came of a call of the caller's own tool. */
export interface CallResult {
  readonly callId: string;
  readonly output: JsonValue;
}

/** What a turn that waits goes on with. */
export interface ResumeRequest
  extends Pick<
    ChatRequest,
    "owner" | "sessionId" | "externalId" | "channel" | "timeZone" | "homeTimeZone" | "prompt" | "tools" | "domainTools"
  > {
  /** One for each call that the turn waits for. */
  readonly results: readonly CallResult[];
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
  | { readonly type: "token"; readonly delta: string }
  /** The answer so far is `content`: what was streamed beyond it was a model's thought. Rare; the answer has it right in any case. */
  | { readonly type: "retract"; readonly content: string }
  /**
   * Part number `index` of the answer, from 0, is this one from now on; text between two of them is a part too. `elements`: those it shows.
   * The answer may show them in another order.
   */
  | { readonly type: "part"; readonly index: number; readonly part: ShownPart; readonly elements: readonly Element[] };

/** A turn that was answered, as the hook {@link AfterTurnHook} is told of it. */
export interface AnsweredTurn {
  readonly owner: Owner;
  readonly tenant: string;
  readonly user: string;
  /** What the user said. */
  readonly message: string;
  readonly answer: ChatAnswer;
}

/**
 * Called once for each answered turn, when it is in the journal; not for a replay by idempotency key, not for a turn that failed. No reply
 * waits for it, closing waits for those that still run. What it throws is logged.
 */
export type AfterTurnHook = (turn: AnsweredTurn) => void | Promise<void>;

export interface Chat {
  /**
   * One turn. Events come in order: session, memory, then steps and tokens; a replay by idempotency key sends session and memory only.
   * `onEvent` may return a promise: the turn waits for it (back-pressure of a slow reader).
   * @throws SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, EDIT_NOT_LAST,
   *   INVALID_IMAGE, IMAGES_NOT_SUPPORTED, PAYLOAD_TOO_LARGE, CONTEXT_TOO_LARGE, MODEL_UNAVAILABLE, MODEL_TIMEOUT, STORAGE_UNAVAILABLE,
   *   OWNER_ERASED, CLIENT_CLOSED_REQUEST (the signal aborted), SHUTTING_DOWN
   */
  chat(
    request: ChatRequest,
    options?: { readonly signal?: AbortSignal; readonly onEvent?: (event: ChatEvent) => void | Promise<void> },
  ): Promise<ChatAnswer>;
  /**
   * Goes on with the session's last turn, which waits for results of its caller's tools; with those of a turn that has gone on already,
   * gives its answer again. A turn that is never resumed stays interrupted; its message is kept, and read for memories.
   * @throws TOOL_CALL_NOT_WAITING (nothing waits for these, or a result is missing), and what {@link chat} throws
   */
  resume(
    request: ResumeRequest,
    options?: { readonly signal?: AbortSignal; readonly onEvent?: (event: ChatEvent) => void | Promise<void> },
  ): Promise<ChatAnswer>;
}

// ---- sessions ----------------------------------------------------------------------------------------------------

interface SessionSettings {
  /** 1 to 200 characters. Default: derived from what is said. */
  readonly title?: string;
  /** 1 to 80 characters. Default: derived from what is said. */
  readonly topic?: string;
  /** At most 32, of 1 to 64 characters. Default: derived from what is said. */
  readonly tags?: readonly string[];
  /** What kind of agent it is with, 1 to 64 characters. Default: the domain's name. */
  readonly agentType?: string;
  /**
   * At most 16 KiB of JSON; of a session that is there merged with what it has, where null takes a key out. `incognito: true` keeps a new
   * session out of long-term memory and history.
   */
  readonly metadata?: JsonObject;
}

export interface NewSession extends SessionSettings {
  /** From now, in days of 24 hours, 1 to 36,500, also more than retention gives others. Default: as retention has it. */
  readonly expiresInDays?: number;
}

export interface SessionPatch extends SessionSettings {
  /** From now, 1 to 36,500; null: as retention has it. */
  readonly expiresInDays?: number | null;
  readonly status?: "active" | "archived";
}

export interface Thread {
  readonly session: Session;
  readonly steps: readonly ThreadStep[];
  /** In the order in which the answers showed them; one that several answers showed is there for each. */
  readonly elements: readonly ThreadElement[];
}

/** All throw SESSION_NOT_FOUND for a session that the owner doesn't have. */
export interface Sessions {
  /** With a key, here and below: a repetition is answered with the session that the first request made, as it is. */
  create(owner: Owner, session: NewSession, request?: RequestKey): Promise<Session>;
  /**
   * The owner's session of that name (1 to 256 characters), whatever its status and as it is, or a new one. Two at once make one. A
   * conversation that was imported has the name that it had there. @throws INVALID_REQUEST for what can't be a name
   */
  findOrCreate(
    owner: Owner,
    externalId: string,
    session: NewSession,
    request?: RequestKey,
  ): Promise<{ readonly session: Session; readonly created: boolean }>;
  /**
   * The id that the owner's session of that name has, or gets when there is one. @throws INVALID_REQUEST for what can't be a name, and
   * never SESSION_NOT_FOUND
   */
  idOf(owner: Owner, externalId: string): Promise<string>;
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
  /** An image of the session that came as data. @throws IMAGE_NOT_FOUND also for one that is kept by its address alone */
  image(owner: Owner, id: string, imageId: string): Promise<{ readonly mediaType: ImageType; readonly data: Uint8Array }>;
  fork(owner: Owner, id: string, messageId: string, request?: RequestKey): Promise<Session>;
  /** Resolves when the session's write-back is done, or the time is up. */
  flush(owner: Owner, id: string, timeoutMs: number): Promise<WriteBackState>;
  retryWriteBack(owner: Owner, id: string): Promise<WriteBackState>;
}

// ---- import, export, erasure -------------------------------------------------------------------------------------

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
  /** What the domain keeps of the user, as an export has it: the concierge's bookings, by when they begin. The last 500. */
  records(owner: Owner): Promise<readonly JsonValue[]>;
  /** What was checked before each of the user's bookings, newest first. The last 500. */
  receipts(owner: Owner): Promise<readonly BookingReceipt[]>;
  /** JSON text in chunks: sessions with messages, steps and elements, memories with their history, domain records. */
  export(owner: Owner, options: { readonly by: string }): AsyncIterable<string>;
  /**
   * Erases everything of one user from every store, looks, and gives the receipt. Safe to repeat. `waitMs`: how long the receipt is waited
   * for; the erasure goes on, and who asks again waits for the same. Default: as long as it takes.
   * @throws ERASURE_UNDER_WAY, CLIENT_CLOSED_REQUEST when the signal aborts
   */
  erase(owner: Owner, options: { readonly by: string; readonly waitMs?: number; readonly signal?: AbortSignal }): Promise<ErasureReceipt>;
  /** Finishes the erasures that a crash interrupted; at start, before anything is served. */
  resume(): Promise<number>;
}

export type { ImportResult, Source };
