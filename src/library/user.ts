import type { GivenMessage } from "../domain/given-messages.js";
import type { GivenImage } from "../domain/image.js";
import type { Owner } from "../domain/owner.js";
import type { JsonObject } from "../domain/session.js";
import { chatBody, chatRequestOf, contextBody, givenMessages, messagesBody, present, requestHash } from "../http/http.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import type { Application, ChatAnswer, ChatEvent, ChatRequest } from "../ports/application.js";
import type { AddedMessages, ContextForPrompt, ContextPart } from "../ports/own-agent.js";
import type { ErasureReceipt } from "../ports/owner-ledger.js";
import { checked, checkedId, checkedKey, fieldsOf, knownOptions, optionsOf, type UserNow, type UserParts } from "./checked.js";
import { type StreamEvent, streamOf } from "./turn-stream.js";
import { UserHistory } from "./user-history.js";
import { UserMemories } from "./user-memories.js";
import { UserSessions } from "./user-sessions.js";

/** One turn, beside its message. */
export interface TurnOptions {
  /** Default: a new session, whose id the answer names. */
  readonly sessionId?: string;
  /** 1 to 256 characters, instead of `sessionId`: your own name of the session; one that is not there is created. */
  readonly externalId?: string;
  /** What the user is looking at: text, or an object; at most 16 KiB. */
  readonly pageContext?: string | JsonObject;
  /** At most 4, of 5 MiB each, for a model that sees. */
  readonly images?: readonly GivenImage[];
  /** Of a session that is created; at most 16 KiB of JSON. */
  readonly metadata?: JsonObject;
  /** 1 to 64 characters. Default: `api`. */
  readonly channel?: string;
  /** The id of the last user message, which this one replaces. */
  readonly editOf?: string;
  /** `token` of an element whose button the user pressed: consent to what was shown there. */
  readonly consent?: string;
  /**
   * True: nothing of the turn goes to memory or history, and none of them is used; on a new session, for the whole of it. Default:
   * false.
   */
  readonly incognito?: boolean;
  /** 1 to 255 printable ASCII characters, kept for 24 hours: the same again gives the same answer, and nothing is done twice. */
  readonly idempotencyKey?: string;
  /** IANA name. Default: that of {@link Maitred.for}, the session's, the user's record, UTC. */
  readonly timeZone?: string;
  /** Aborts the turn; it is kept as interrupted. */
  readonly signal?: AbortSignal;
}

/** One turn, with somebody who looks on. */
export interface ChatOptions extends TurnOptions {
  /** Events in order: `session`, `memory`, then steps and tokens. The turn waits for a promise that it returns. */
  readonly onEvent?: (event: ChatEvent) => void | Promise<void>;
}

/** Messages of an agent of one's own. */
export interface AddOptions {
  /** Default: a new session, whose id the answer names. */
  readonly sessionId?: string;
  /** False keeps them out of long-term memory and history. Default: true. */
  readonly remember?: boolean;
  /**
   * 1 to 255 printable ASCII characters, kept for 24 hours: the same again gives the same answer, and nothing is kept twice. Needs a
   * `sessionId`.
   */
  readonly idempotencyKey?: string;
  /** IANA name. Default: that of {@link Maitred.for}, the session's, the user's record, UTC. */
  readonly timeZone?: string;
  readonly signal?: AbortSignal;
}

const OF_MESSAGES = ["sessionId", "remember", "idempotencyKey", "timeZone", "signal"] as const satisfies readonly (keyof AddOptions)[];

/** What was kept, and the session that it is in. */
export interface AddedToSession extends AddedMessages {
  readonly session_id: string;
}

/** What a prompt of one's own is to know. */
export interface ContextOptions {
  /** Default: none, and so no summary and no window. */
  readonly sessionId?: string;
  /** 100 to 100,000. Default: 2,000. What must hold is never left out, also where it alone takes more. */
  readonly maxTokens?: number;
  /** Default: all. What must hold is told whatever is left out. */
  readonly include?: readonly ContextPart[];
  /** Rounds of the window, 0 to 100. Default: `shortTermRounds`. */
  readonly rounds?: number;
  /** IANA name. Default: that of {@link Maitred.for}, the user's record, UTC. */
  readonly timeZone?: string;
  readonly signal?: AbortSignal;
}

/** Everything that can be done for one user, and for nobody else. */
export class MaitredUser {
  /** Tenant and user in one, as they were named. */
  readonly owner: Owner;
  readonly memories: UserMemories;
  readonly sessions: UserSessions;
  readonly history: UserHistory;
  readonly #application: Application;
  readonly #user: UserNow;

  constructor(application: Application, named: UserParts, clock: Clock) {
    const user = { ...named, now: () => application.identities.resolve(named.owner) };
    this.owner = user.owner;
    this.memories = new UserMemories(application, user, clock);
    this.sessions = new UserSessions(application.sessions, user);
    this.history = new UserHistory(application.history, user, clock);
    this.#application = application;
    this.#user = user;
  }

  /**
   * One turn: the answer, once it is kept. `message`: 1 to 8,000 characters, not blank.
   * @throws INVALID_REQUEST, INVALID_SESSION_ID, SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY, IDEMPOTENCY_KEY_REUSED,
   *   IDEMPOTENCY_IN_PROGRESS, EDIT_NOT_LAST, INVALID_IMAGE, IMAGES_NOT_SUPPORTED, PAYLOAD_TOO_LARGE, COST_LIMIT_REACHED,
   *   MODEL_UNAVAILABLE, MODEL_TIMEOUT, STORAGE_UNAVAILABLE, OWNER_ERASED, CLIENT_CLOSED_REQUEST (the signal aborted), SHUTTING_DOWN
   */
  async chat(message: string, options: ChatOptions = {}): Promise<ChatAnswer> {
    const { signal, onEvent, ...turn }: ChatOptions = optionsOf(options);
    const request = await this.#request(message, turn);
    return this.#application.chat.chat(request, { ...(signal && { signal }), ...(onEvent && { onEvent }) });
  }

  /**
   * One turn as its events: `session`, `memory`, steps and tokens as they come, and `message` with the whole answer. It begins when
   * the first is asked for; leaving the loop aborts it. @throws as {@link chat}
   */
  stream(message: string, options: TurnOptions = {}): AsyncIterable<StreamEvent> {
    const given: TurnOptions = optionsOf(options);
    return streamOf((hooks) => this.chat(message, { ...given, ...hooks }), given.signal);
  }

  /**
   * Keeps 1 to 100 messages of a conversation that an agent of your own has, in order and all or none; the user's form memories as those
   * of a chat do, off the reply path.
   * @throws INVALID_REQUEST, UNKNOWN_FIELD, INVALID_SESSION_ID, SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY,
   *   IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, RECORD_TOO_LARGE, STORAGE_UNAVAILABLE, OWNER_ERASED, CLIENT_CLOSED_REQUEST,
   *   SHUTTING_DOWN
   */
  async add(messages: readonly GivenMessage[], options: AddOptions = {}): Promise<AddedToSession> {
    const { sessionId: named, idempotencyKey, remember, signal, timeZone = this.#user.timeZone } = knownOptions(options, OF_MESSAGES);
    if (named !== undefined) checkedId(named, "session");
    const input = checked(messagesBody, { messages, remember });
    const key = checkedKey(idempotencyKey);
    if (key !== undefined && named === undefined) throw keyWithoutSession();
    const owner = await this.#user.now();
    const sessionId = named ?? (await this.#application.sessions.create(owner, {})).id;
    const idempotency =
      key === undefined ? undefined : { key, requestHash: requestHash({ sessionId, body: fieldsOf({ messages, remember }) }) };
    const request = { owner, sessionId, messages: givenMessages(input), ...present({ remember, timeZone, idempotency }) };
    return { ...(await this.#application.ownAgent.addMessages(request, present({ signal }))), session_id: sessionId };
  }

  /**
   * What is known of the user, as a block of text for the prompt of your own agent: marked as data, within its tokens. `query`: what it is
   * about, 1 to 8,000 characters. Recall ends within its deadline; what went wrong with memory is in `memory.status`.
   * @throws INVALID_REQUEST, INVALID_SESSION_ID, SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, STORAGE_UNAVAILABLE, OWNER_ERASED, SHUTTING_DOWN
   */
  async context(query?: string, options: ContextOptions = {}): Promise<ContextForPrompt> {
    const { signal, timeZone = this.#user.timeZone, ...given }: ContextOptions = optionsOf(options);
    const { session_id: sessionId, max_tokens: maxTokens, ...input } = checked(contextBody, { ...given, query });
    const request = { owner: await this.#user.now(), ...present({ ...input, sessionId, maxTokens, timeZone }) };
    return this.#application.ownAgent.context(request, present({ signal }));
  }

  /** Everything about the user as JSON text, in pieces: sessions, memories with their history, the domain's records. */
  async *export(): AsyncIterable<string> {
    yield* this.#application.privacy.export(await this.#user.now(), { by: "user" });
  }

  /** Erases everything about the user from every store, looks, and gives the receipt. Safe to repeat. */
  async erase(): Promise<ErasureReceipt> {
    return this.#application.privacy.erase(await this.#user.now(), { by: "user" });
  }

  async #request(message: string, { images, idempotencyKey, timeZone, ...options }: Omit<TurnOptions, "signal">): Promise<ChatRequest> {
    const given = { ...options, message };
    const input = checked(chatBody, given);
    const key = checkedKey(idempotencyKey);
    const { owner, timeZone: homeTimeZone } = this.#user;
    const idempotency = key === undefined ? undefined : { key, body: fieldsOf(given) };
    this.#application.seen(owner, homeTimeZone === undefined ? {} : { timeZone: homeTimeZone });
    const request = await chatRequestOf(input, { owner, timeZone, homeTimeZone, idempotency });
    return images === undefined ? request : { ...request, images };
  }
}

/** Which session the second request would mean, nobody knows. */
function keyWithoutSession(): AppError {
  const detail = "An idempotency key needs a session.";
  return new AppError("INVALID_REQUEST", {
    detail,
    errors: [{ pointer: "/sessionId", detail }],
    hint: "Give sessionId too: `sessions.create()` makes one.",
  });
}
