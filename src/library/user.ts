import type { BookingReceipt } from "../domain/booking-receipt.js";
import type { GivenMessage } from "../domain/given-messages.js";
import type { Owner } from "../domain/owner.js";
import type { JsonObject } from "../domain/session.js";
import { chatBody, chatRequestOf, contextBody, givenMessages, messagesBody, requestHash } from "../http/http.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Application, ChatEvent, ChatRequest } from "../ports/application.js";
import type { ContextRequest } from "../ports/own-agent.js";
import type { AddedMessages, ChatAnswer, ContextForPrompt, ErasureReceipt } from "../ports/resources.js";
import { checked, checkedKey, fieldsOf, inSession, type UserNow, type UserParts } from "./checked.js";
import { type HandleParts, withHandleParts } from "./handle-parts.js";
import { knownOptions, noSession, OF_A_SESSION, optionsOf, type SessionName, sessionNamed } from "./known-options.js";
import { UserHistory, UserMemories } from "./user-memories.js";
import { UserSessions } from "./user-sessions.js";

/** One turn, beside its message. A thread that is not there is created; where none is named a session, whose id the answer has. */
export interface TurnOptions
  extends SessionName,
    Pick<ChatRequest, "images" | "metadata" | "channel" | "editOf" | "consent" | "incognito"> {
  /** What the user is looking at: text, or an object; at most 16 KiB. */
  readonly pageContext?: string | JsonObject;
  /** 1 to 255 printable ASCII characters, kept for 24 hours: the same again gives the same answer, and nothing is done twice. */
  readonly idempotencyKey?: string;
  /** IANA name. Default: that of {@link Maitred.for}, the session's, the user's record, UTC. */
  readonly timeZone?: string;
  /** Aborts the turn; it is kept as interrupted. */
  readonly signal?: AbortSignal;
}

export interface ChatOptions extends TurnOptions {
  /** Events in order: `session`, `memory`, then steps and tokens. The turn waits for a promise that it returns. */
  readonly onEvent?: (event: ChatEvent) => void | Promise<void>;
}

/** Beside messages to keep. A thread that is not there is created; where none is named a session, whose id the answer has. */
export interface AddOptions extends SessionName {
  /** False keeps them out of long-term memory and history. Default: true. */
  readonly remember?: boolean;
  /**
   * 1 to 255 printable ASCII characters, kept for 24 hours: the same again gives the same answer, and nothing is kept twice. Needs a
   * session.
   */
  readonly idempotencyKey?: string;
  /** IANA name. Default: that of {@link Maitred.for}, the session's, the user's record, UTC. */
  readonly timeZone?: string;
  readonly signal?: AbortSignal;
}

const OF_A_REQUEST = { ...OF_A_SESSION, timeZone: true, signal: true } as const;
const SAID = { pageContext: true, images: true, metadata: true, channel: true, editOf: true, consent: true, incognito: true } as const;
const OF_A_TURN = { ...OF_A_REQUEST, ...SAID, idempotencyKey: true } as const satisfies Record<keyof TurnOptions, true>;
const OF_MESSAGES = { ...OF_A_REQUEST, remember: true, idempotencyKey: true } as const satisfies Record<keyof AddOptions, true>;

/** What was kept, and the session that it is in. */
export interface AddedToSession extends AddedMessages {
  readonly session_id: string;
}

/** What a prompt of one's own is to know. Without a session, or in a thread that has not begun, no summary and no window. */
export interface ContextOptions extends SessionName, Pick<ContextRequest, "maxTokens" | "include" | "rounds"> {
  /** IANA name. Default: that of {@link Maitred.for}, the user's record, UTC. */
  readonly timeZone?: string;
  readonly signal?: AbortSignal;
}

const OF_CONTEXT = { ...OF_A_REQUEST, maxTokens: true, include: true, rounds: true } as const satisfies Record<keyof ContextOptions, true>;

/** What a handle stands on beside the application. */
interface UserSetting {
  readonly clock: Clock;
  /** Called before all else: throws where nothing may be asked any more. Default: everything may. */
  readonly asked?: () => void;
  /** Absent: the handle is for no adapter. */
  readonly adapters?: Pick<HandleParts, "log" | "logger">;
}

/**
 * Everything that can be done for one user, and for nobody else. All throw UNKNOWN_FIELD for an option that there isn't, with the nearest
 * name, and SHUTTING_DOWN once what gave the handle is closed.
 */
export class MaitredUser {
  /** Tenant and user in one, as they were named. */
  readonly owner: Owner;
  readonly memories: UserMemories;
  readonly sessions: UserSessions;
  readonly history: UserHistory;
  readonly #application: Application;
  readonly #user: UserNow;
  readonly #asked: () => void;

  constructor(application: Application, named: UserParts, { clock, asked = () => {}, adapters }: UserSetting) {
    const { identities, sessions } = application;
    const user: UserNow = {
      ...named,
      now: async () => {
        asked();
        return identities.resolve(named.owner);
      },
      idOf: async (owner, session) => ("sessionId" in session ? session.sessionId : sessions.idOf(owner, session.externalId)),
    };
    this.owner = user.owner;
    this.memories = new UserMemories(application, user, clock);
    this.sessions = new UserSessions(application.sessions, user);
    this.history = new UserHistory(application.history, user, clock);
    this.#application = application;
    this.#user = user;
    this.#asked = asked;
    if (adapters !== undefined) withHandleParts(this, { owner: user.now, asked, ...adapters });
  }

  /**
   * One turn: the answer, once it is kept. `message`: 1 to 8,000 characters, not blank.
   * @throws INVALID_REQUEST, INVALID_SESSION_ID, SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY, IDEMPOTENCY_KEY_REUSED,
   *   IDEMPOTENCY_IN_PROGRESS, EDIT_NOT_LAST, INVALID_IMAGE, IMAGES_NOT_SUPPORTED, PAYLOAD_TOO_LARGE, COST_LIMIT_REACHED,
   *   MODEL_UNAVAILABLE, MODEL_TIMEOUT, STORAGE_UNAVAILABLE, OWNER_ERASED, CLIENT_CLOSED_REQUEST (the signal aborted), SHUTTING_DOWN
   */
  async chat(message: string, options: ChatOptions = {}): Promise<ChatAnswer> {
    const { signal, onEvent, ...turn } = knownOptions<ChatOptions>(options, { ...OF_A_TURN, onEvent: true });
    const request = await this.#request(message, turn);
    return this.#application.chat.chat(request, { ...(signal && { signal }), ...(onEvent && { onEvent }) });
  }

  /**
   * One turn as its events: `session`, `memory`, steps and tokens as they come, and `message` with the whole answer. It begins when
   * the first is asked for; leaving the loop aborts it. @throws as {@link chat}
   */
  stream(message: string, options: TurnOptions = {}): AsyncIterable<StreamEvent> {
    const { signal } = optionsOf(options);
    return streamOf(async (hooks) => this.chat(message, { ...knownOptions<TurnOptions>(options, OF_A_TURN), ...hooks }), signal);
  }

  /**
   * Keeps 1 to 100 messages of a conversation that an agent of your own has, in order and all or none; the user's form memories as those
   * of a chat do, off the reply path.
   * @throws INVALID_REQUEST, UNKNOWN_FIELD, INVALID_SESSION_ID, SESSION_NOT_FOUND, SESSION_NOT_ACTIVE, SESSION_BUSY,
   *   IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, RECORD_TOO_LARGE, STORAGE_UNAVAILABLE, OWNER_ERASED, CLIENT_CLOSED_REQUEST,
   *   SHUTTING_DOWN
   */
  async add(messages: readonly GivenMessage[], options: AddOptions = {}): Promise<AddedToSession> {
    const given = knownOptions<AddOptions>(options, OF_MESSAGES);
    const { thread, sessionId: id, idempotencyKey, remember, signal, timeZone = this.#user.timeZone } = given;
    const named = sessionNamed({ thread, sessionId: id });
    const input = checked(messagesBody, { messages, remember });
    const key = checkedKey(idempotencyKey);
    // Which session the second request would mean, nobody knows.
    if (key !== undefined && named === null) throw noSession("An idempotency key needs a session.");
    const owner = await this.#user.now();
    const { sessions } = this.#application;
    const sessionId =
      id ?? (thread === undefined ? await sessions.create(owner, {}) : (await sessions.findOrCreate(owner, thread, {})).session).id;
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
    const { signal, thread, sessionId, timeZone = this.#user.timeZone, ...given } = knownOptions<ContextOptions>(options, OF_CONTEXT);
    const named = sessionNamed({ thread, sessionId });
    const { session_id: _, max_tokens: maxTokens, ...input } = checked(contextBody, { ...given, query });
    const owner = await this.#user.now();
    const request = { owner, ...present({ ...input, maxTokens, timeZone }) };
    const { ownAgent } = this.#application;
    try {
      return await ownAgent.context({ ...request, ...(await inSession(this.#user, owner, named)) }, present({ signal }));
    } catch (error) {
      // A thread that has not begun: what is known without it.
      if (thread === undefined || !isAppError(error, "SESSION_NOT_FOUND")) throw error;
      return ownAgent.context(request, present({ signal }));
    }
  }

  /** What was checked before each of the user's bookings, and what they waived; newest first, the last 500. A chain of hashes. */
  async receipts(): Promise<readonly BookingReceipt[]> {
    return this.#application.privacy.receipts(await this.#user.now());
  }

  /** Everything about the user as JSON text, in pieces: sessions, memories with their history, the domain's records. */
  async *export(): AsyncIterable<string> {
    yield* this.#application.privacy.export(await this.#user.now(), { by: "user" });
  }

  /** Erases everything about the user from every store, looks, and gives the receipt. Safe to repeat. */
  async erase(): Promise<ErasureReceipt> {
    return this.#application.privacy.erase(await this.#user.now(), { by: "user" });
  }

  async #request(
    message: string,
    { thread, sessionId, images, idempotencyKey, timeZone, ...options }: Omit<TurnOptions, "signal">,
  ): Promise<ChatRequest> {
    const given = { ...options, ...sessionNamed({ thread, sessionId }), message };
    const input = checked(chatBody, given);
    const key = checkedKey(idempotencyKey);
    const { owner, timeZone: homeTimeZone } = this.#user;
    this.#asked();
    const idempotency = key === undefined ? undefined : { key, requestHash: requestHash(fieldsOf(given)) };
    this.#application.seen(owner, homeTimeZone === undefined ? {} : { timeZone: homeTimeZone });
    const request = await chatRequestOf(input, { owner, timeZone, homeTimeZone, idempotency });
    return images === undefined ? request : { ...request, images };
  }
}

/** What a streamed turn tells: `session`, `memory`, then steps and tokens as they come, and `message`, the whole answer, last. */
export type StreamEvent = ChatEvent | { readonly type: "message"; readonly answer: ChatAnswer };

type Turn = (options: { readonly signal: AbortSignal; readonly onEvent: (event: ChatEvent) => Promise<void> }) => Promise<ChatAnswer>;

/**
 * A turn's events as they come. The turn begins with the first event that is asked for, and waits while nobody asks: nothing piles up.
 * Whoever breaks off aborts it. @throws what the turn throws
 */
async function* streamOf(turn: Turn, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent, void, undefined> {
  const left = new AbortController();
  let taken = () => {};
  let arrived: (event: ChatEvent | null) => void = () => {};
  const next = () =>
    new Promise<ChatEvent | null>((resolve) => {
      arrived = resolve;
    });
  const onEvent = (event: ChatEvent) =>
    new Promise<void>((resolve) => {
      taken = resolve;
      arrived(event);
      if (left.signal.aborted) resolve();
    });
  let waiting = next();
  const answered = turn({ signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal, onEvent }).finally(() => arrived(null));
  // Thrown below, where it is awaited.
  answered.catch(() => {});
  try {
    for (let event = await waiting; event !== null; event = await waiting) {
      yield event;
      waiting = next();
      taken();
    }
    yield { type: "message", answer: await answered };
  } finally {
    left.abort();
    taken();
    await answered.catch(() => {});
  }
}
