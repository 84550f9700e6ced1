import type { JsonObject, Message, Session, SessionStatus } from "../domain/session.js";
import {
  flushQuery,
  messageIdField,
  newSessionBody,
  present,
  sessionListQuery,
  sessionMessagesQuery,
  sessionPatchBody,
  sessionSettingsOf,
} from "../http/http.js";
import { AppError } from "../platform/errors.js";
import type { Sessions, Thread, WriteBackState } from "../ports/application.js";
import type { Page } from "../ports/session-store.js";
import { checked, checkedId, checkedQuery, knownOptions, optionsOf, type UserNow } from "./checked.js";

/** A session to be. */
export interface SessionOptions {
  /** 1 to 256 characters: your own name of it. The session of that name, where there is one, is given as it is. */
  readonly externalId?: string;
  /** 1 to 200 characters. Default: derived from what is said. */
  readonly title?: string;
  /** 1 to 80 characters. Default: derived from what is said. */
  readonly topic?: string;
  /** At most 32, of 1 to 64 characters. */
  readonly tags?: readonly string[];
  /** What kind of agent it is with, 1 to 64 characters. Default: the domain's name. */
  readonly agentType?: string;
  /** At most 16 KiB of JSON; `incognito: true` keeps the session out of memory and history. */
  readonly metadata?: JsonObject;
  /** 1 to 36,500. Default: by retention's rules. */
  readonly expiresInDays?: number;
}

/** What is changed of a session. */
export interface SessionChange {
  /** 1 to 200 characters. */
  readonly title?: string;
  /** 1 to 80 characters. */
  readonly topic?: string;
  /** At most 32, of 1 to 64 characters. */
  readonly tags?: readonly string[];
  /** 1 to 64 characters. */
  readonly agentType?: string;
  /** From now, 1 to 36,500; null: when retention says. */
  readonly expiresInDays?: number | null;
  /** Merged with what is there; null takes a key out. At most 16 KiB of JSON. */
  readonly metadata?: JsonObject;
  readonly status?: "active" | "archived";
}

/** Which sessions. */
export interface SessionListOptions {
  /** Default: `active`. */
  readonly status?: SessionStatus;
  readonly tag?: string;
  /** Text within the title, whatever its case. */
  readonly title?: string;
  /** 1 to 200. Default: 20. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Which messages of a session. */
export interface MessageListOptions {
  /** 1 to 200. Default: 50. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  /** Default: `asc`, oldest first. */
  readonly order?: "asc" | "desc";
}

/**
 * One user's sessions. All that take an id throw INVALID_SESSION_ID, SESSION_NOT_FOUND for one that this user doesn't have,
 * SESSION_BUSY where a turn holds it for longer than `sessionLockWaitMs`; all throw INVALID_REQUEST for options beyond their limits,
 * STORAGE_UNAVAILABLE, OWNER_ERASED while the user is being erased.
 */
export class UserSessions {
  readonly #sessions: Sessions;
  readonly #user: UserNow;

  constructor(sessions: Sessions, user: UserNow) {
    this.#sessions = sessions;
    this.#user = user;
  }

  /** An empty session, or the one that has the `externalId`. A chat without a session's id makes one by itself. */
  async create(session: SessionOptions = {}): Promise<Session> {
    const { external_id: externalId, ...settings } = checked(newSessionBody, optionsOf(session));
    const wanted = sessionSettingsOf(settings);
    if (externalId === undefined) return this.#sessions.create(await this.#user.now(), wanted);
    return (await this.#sessions.findOrCreate(await this.#user.now(), externalId, wanted)).session;
  }

  /** Newest activity first. @throws INVALID_CURSOR */
  async list(options: SessionListOptions = {}): Promise<Page<Session>> {
    return this.#sessions.list(await this.#user.now(), present(checkedQuery(sessionListQuery, optionsOf(options))));
  }

  async get(id: string): Promise<Session> {
    return this.#sessions.get(await this.#user.now(), checkedId(id, "session"));
  }

  /** @throws SESSION_NOT_ACTIVE for a deleted session */
  async update(id: string, change: SessionChange): Promise<Session> {
    const { status, expires_in_days: expiresInDays, ...settings } = checked(sessionPatchBody, optionsOf(change));
    const patch = { ...sessionSettingsOf(settings), ...present({ status, expiresInDays }) };
    return this.#sessions.patch(await this.#user.now(), checkedId(id, "session"), patch);
  }

  /** Ends a session: it is kept, and takes no more turns. @throws SESSION_NOT_ACTIVE for a deleted session */
  async archive(id: string): Promise<Session> {
    return this.update(id, { status: "archived" });
  }

  /** Recoverable until retention purges it. */
  async delete(id: string): Promise<void> {
    await this.#sessions.delete(await this.#user.now(), checkedId(id, "session"));
  }

  /** For good. `keepMemories`: what came from it stays remembered, without its quotes. Default: false. */
  async purge(id: string, options: { readonly keepMemories?: boolean } = {}): Promise<void> {
    const { keepMemories = false } = knownOptions(options, ["keepMemories"]);
    await this.#sessions.purge(await this.#user.now(), checkedId(id, "session"), { keepMemories, by: "user" });
  }

  /** A deleted session, back to the status that it had. @throws INVALID_TRANSITION */
  async restore(id: string): Promise<Session> {
    return this.#sessions.restore(await this.#user.now(), checkedId(id, "session"));
  }

  /** Takes all messages out and keeps the session. @throws SESSION_NOT_ACTIVE for a deleted session */
  async empty(id: string): Promise<void> {
    await this.#sessions.empty(await this.#user.now(), checkedId(id, "session"));
  }

  /** @throws INVALID_CURSOR */
  async messages(id: string, options: MessageListOptions = {}): Promise<Page<Message>> {
    return this.#sessions.messages(
      await this.#user.now(),
      checkedId(id, "session"),
      present(checkedQuery(sessionMessagesQuery, optionsOf(options))),
    );
  }

  /** The session with all its steps and elements, to go on with it in a client. */
  async thread(id: string): Promise<Thread> {
    return this.#sessions.thread(await this.#user.now(), checkedId(id, "session"));
  }

  /** A new session that shares the past up to a message. @throws MESSAGE_NOT_FOUND, SESSION_NOT_ACTIVE for a deleted session */
  async fork(id: string, messageId: string): Promise<Session> {
    if (!messageIdField.safeParse(messageId).success) throw new AppError("INVALID_ID");
    return this.#sessions.fork(await this.#user.now(), checkedId(id, "session"), messageId);
  }

  /** Waits until what was said is in long-term memory, for at most `timeoutMs` (0 to 60,000, default 5,000). Tells what is left. */
  async flush(id: string, options: { readonly timeoutMs?: number } = {}): Promise<WriteBackState> {
    const { timeout_ms: timeoutMs = 5_000 } = checkedQuery(flushQuery, optionsOf(options));
    return this.#sessions.flush(await this.#user.now(), checkedId(id, "session"), timeoutMs);
  }
}
