import type { Owner } from "../domain/owner.js";
import type { Message, Session } from "../domain/session.js";
import {
  flushQuery,
  messageIdField,
  newSessionBody,
  sessionListQuery,
  sessionMessagesQuery,
  sessionPatchBody,
  sessionSettingsOf,
} from "../http/http.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { NewSession, SessionPatch, Sessions, Thread } from "../ports/application.js";
import type { WriteBackState } from "../ports/resources.js";
import type { Page, SessionQuery } from "../ports/session-store.js";
import { checked, checkedQuery, type UserNow } from "./checked.js";
import { knownOptions, type SessionName, sessionGiven, sessionNamed } from "./known-options.js";

export interface SessionOptions extends NewSession {
  /** 1 to 256 characters without control characters: your own name of it. The session of that name, if there is one, is given as it is. */
  readonly thread?: string;
}

export type SessionChange = SessionPatch;

export type SessionListOptions = SessionQuery;

export interface MessageListOptions {
  /** 1 to 200. Default: 50. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  /** Default: `asc`, oldest first. */
  readonly order?: "asc" | "desc";
}

const DESCRIBED = { title: true, topic: true, tags: true, agentType: true, expiresInDays: true, metadata: true } as const;

interface PurgeOptions {
  /** What came from it stays remembered, without its quotes. Default: false. */
  readonly keepMemories?: boolean;
}

interface FlushOptions {
  /** 0 to 60,000. Default: 5,000. */
  readonly timeoutMs?: number;
}

/**
 * One user's sessions. A session is named by the id that Maitred gave it, or as `{ thread }` by your own name of it. All that take one
 * throw INVALID_SESSION_ID, SESSION_NOT_FOUND for one that this user doesn't have, SESSION_BUSY where a turn holds it for longer than
 * `sessionLockWaitMs`; all throw INVALID_REQUEST for options beyond their limits, UNKNOWN_FIELD for one that there isn't,
 * STORAGE_UNAVAILABLE, OWNER_ERASED while the user is being erased.
 */
export class UserSessions {
  readonly #sessions: Sessions;
  readonly #user: UserNow;

  constructor(sessions: Sessions, user: UserNow) {
    this.#sessions = sessions;
    this.#user = user;
  }

  /** An empty session, or the one of that `thread`. What is said in a thread makes it by itself. */
  async create(session: SessionOptions = {}): Promise<Session> {
    const { thread, ...given } = knownOptions<SessionOptions>(session, { ...DESCRIBED, thread: true });
    sessionNamed({ thread, sessionId: undefined });
    const { external_id: _, ...settings } = checked(newSessionBody, given);
    const wanted = sessionSettingsOf(settings);
    const owner = await this.#user.now();
    if (thread === undefined) return this.#sessions.create(owner, wanted);
    return (await this.#sessions.findOrCreate(owner, thread, wanted)).session;
  }

  /** Newest activity first. @throws INVALID_CURSOR */
  async list(options: SessionListOptions = {}): Promise<Page<Session>> {
    const known = { status: true, tag: true, title: true, limit: true, cursor: true } as const;
    const query = checkedQuery(sessionListQuery, knownOptions<SessionListOptions>(options, known));
    return this.#sessions.list(await this.#user.now(), present(query));
  }

  async get(session: string | SessionName): Promise<Session> {
    return this.#sessions.get(...(await this.#at(session)));
  }

  /** @throws SESSION_NOT_ACTIVE for a deleted session */
  async update(session: string | SessionName, change: SessionChange): Promise<Session> {
    const given = knownOptions<SessionChange>(change, { ...DESCRIBED, status: true });
    const { status, expires_in_days: expiresInDays, ...settings } = checked(sessionPatchBody, given);
    const patch = { ...sessionSettingsOf(settings), ...present({ status, expiresInDays }) };
    return this.#sessions.patch(...(await this.#at(session)), patch);
  }

  /** Ends a session: it is kept, and takes no more turns. @throws SESSION_NOT_ACTIVE for a deleted session */
  async archive(session: string | SessionName): Promise<Session> {
    return this.update(session, { status: "archived" });
  }

  /** Recoverable until retention purges it. */
  async delete(session: string | SessionName): Promise<void> {
    await this.#sessions.delete(...(await this.#at(session)));
  }

  /** For good. `keepMemories`: what came from it stays remembered, without its quotes. Default: false. */
  async purge(session: string | SessionName, options: PurgeOptions = {}): Promise<void> {
    const { keepMemories = false } = knownOptions<PurgeOptions>(options, { keepMemories: true });
    await this.#sessions.purge(...(await this.#at(session)), { keepMemories, by: "user" });
  }

  /** A deleted session, back to the status that it had. @throws INVALID_TRANSITION */
  async restore(session: string | SessionName): Promise<Session> {
    return this.#sessions.restore(...(await this.#at(session)));
  }

  /** Takes all messages out and keeps the session. @throws SESSION_NOT_ACTIVE for a deleted session */
  async empty(session: string | SessionName): Promise<void> {
    await this.#sessions.empty(...(await this.#at(session)));
  }

  /** @throws INVALID_CURSOR */
  async messages(session: string | SessionName, options: MessageListOptions = {}): Promise<Page<Message>> {
    return this.#sessions.messages(
      ...(await this.#at(session)),
      present(checkedQuery(sessionMessagesQuery, knownOptions<MessageListOptions>(options, { limit: true, cursor: true, order: true }))),
    );
  }

  /** The session with all its steps and elements, to go on with it in a client. */
  async thread(session: string | SessionName): Promise<Thread> {
    return this.#sessions.thread(...(await this.#at(session)));
  }

  /** A new session that shares the past up to a message. @throws MESSAGE_NOT_FOUND, SESSION_NOT_ACTIVE for a deleted session */
  async fork(session: string | SessionName, messageId: string): Promise<Session> {
    if (!messageIdField.safeParse(messageId).success) throw new AppError("INVALID_ID");
    return this.#sessions.fork(...(await this.#at(session)), messageId);
  }

  /** Waits until what was said is in long-term memory, for at most `timeoutMs` (0 to 60,000, default 5,000). Tells what is left. */
  async flush(session: string | SessionName, options: FlushOptions = {}): Promise<WriteBackState> {
    const { timeout_ms: timeoutMs = 5_000 } = checkedQuery(flushQuery, knownOptions<FlushOptions>(options, { timeoutMs: true }));
    return this.#sessions.flush(...(await this.#at(session)), timeoutMs);
  }

  async #at(session: string | SessionName): Promise<[Owner, string]> {
    const given = sessionGiven(session);
    const owner = await this.#user.now();
    return [owner, await this.#user.idOf(owner, given)];
  }
}
