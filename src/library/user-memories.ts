import type { Memory, MemoryEvent, MemoryType } from "../domain/memory.js";
import {
  historySearchBody,
  memoryListQuery,
  memoryPatchBody,
  memorySearchBody,
  newMemoryBody,
  requestHash,
  whyOf,
  zoneOfEnds,
} from "../http/http.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Application } from "../ports/application.js";
import type { ConversationHistory, HistorySearch } from "../ports/history.js";
import type { MemoryQuery } from "../ports/memories.js";
import type { HistoryHit, Why } from "../ports/resources.js";
import type { Page } from "../ports/session-store.js";
import { checked, checkedKey, checkedQuery, inSession, memoryId, optionsIn, type UserNow } from "./checked.js";
import { knownOptions, OF_A_SESSION, type SessionName, sessionNamed } from "./known-options.js";

/** What is stated of a memory beside its text. */
export interface StatementOptions {
  /** One of the categories, 1 to 64 characters. Default: what the text is read as, else `other`. */
  readonly category?: string;
  /** What of the category: "row", "party size". 1 to 64 characters. */
  readonly aspect?: string;
  /** Default: the category's. */
  readonly type?: MemoryType;
  /** `hard`: must hold whenever something is booked. Default: the category's. */
  readonly strength?: "hard" | "soft";
  /** `self` or `companion:<name>`. Default: `self`. */
  readonly subject?: string;
  /** `trip`: ends with `validUntil`, or after 30 days. Default: `standing`. */
  readonly scope?: "standing" | "trip";
  /** ISO 8601; a date without a time holds through its day, in the user's time zone. Null, the default: no end. */
  readonly validUntil?: string | null;
  /** At most 32, of 1 to 64 characters. */
  readonly tags?: readonly string[];
}

export interface NewMemoryOptions extends StatementOptions {
  /** 1 to 255 printable ASCII characters: the same again adds nothing. */
  readonly idempotencyKey?: string;
}

/** What a memory is changed to. A changed text is a new memory that supersedes the old one. */
export interface MemoryChange extends StatementOptions {
  /** 1 to 500 characters. */
  readonly text?: string;
}

export interface MemoryFilter
  extends Pick<
    MemoryQuery,
    "category" | "type" | "tag" | "entity" | "subject" | "channel" | "status" | "includeSuperseded" | "limit" | "signal"
  > {
  /** ISO 8601: what held at that time. */
  readonly asOf?: string;
}

/** Which memories, by pages; where a session is named, only what comes from it. */
export interface MemoryListOptions extends MemoryFilter, SessionName {
  /** With a session: only what comes from this turn of it. */
  readonly turn?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

const { text: _text, ...OF_A_STATEMENT } = optionsIn(newMemoryBody.shape);
const { query: _query, ...SEARCHED } = optionsIn(memorySearchBody.shape);
const OF_A_FILTER = { ...SEARCHED, signal: true } as const;

/**
 * What is remembered of one user. All throw LONG_TERM_MEMORY_DISABLED where long-term memory is off, LONG_TERM_MEMORY_UNAVAILABLE
 * where its store is out of reach, OWNER_ERASED while the user is being erased, INVALID_REQUEST for options beyond their limits,
 * UNKNOWN_FIELD for one that there isn't; those that take an id INVALID_ID, and MEMORY_NOT_FOUND for one that this user doesn't have.
 */
export class UserMemories {
  readonly #application: Application;
  readonly #user: UserNow;
  readonly #clock: Clock;

  constructor(application: Application, user: UserNow, clock: Clock) {
    this.#application = application;
    this.#user = user;
    this.#clock = clock;
  }

  /**
   * States a memory by hand: active at once. `text`: 1 to 500 characters. Without a `category` the text is read, by the model where there
   * is one (up to 10 seconds), so that "allergic to nuts" must hold. @throws MEMORY_REFUSED for a secret
   */
  async add(text: string, options: NewMemoryOptions = {}): Promise<Memory> {
    const { idempotencyKey, ...given } = knownOptions<NewMemoryOptions>(options, { ...OF_A_STATEMENT, idempotencyKey: true });
    const said = checked(newMemoryBody, { ...given, text });
    const owner = await this.#user.now();
    const key = checkedKey(idempotencyKey);
    const request = key === undefined ? {} : { request: { key, requestHash: requestHash({ key, text, given }) } };
    const statement = { ...present(said), text: said.text };
    return this.#application.memories.add(owner, statement, {
      ...request,
      now: this.#clock.now(),
      ...(await this.#zoneOf(said.valid_until)),
    });
  }

  /** Newest first. @throws INVALID_CURSOR */
  async list(options: MemoryListOptions = {}): Promise<Page<Memory>> {
    const known = { ...OF_A_FILTER, ...OF_A_SESSION, turn: true, cursor: true } as const;
    const { signal, thread, sessionId, ...given } = knownOptions<MemoryListOptions>(options, known);
    const session = sessionNamed({ thread, sessionId });
    const { q: _, include_superseded, session_id: __, ...filter } = checkedQuery(memoryListQuery, given);
    if (filter.turn !== undefined && session === null)
      throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/turn", detail: "Turns are counted within a session: name it too." }] });
    const owner = await this.#user.now();
    const query = {
      ...present({ ...filter, includeSuperseded: include_superseded, signal }),
      ...(await inSession(this.#user, owner, session)),
    };
    return this.#application.memories.list(owner, query);
  }

  /** By meaning and by words, best first. `query`: 1 to 1,000 characters. */
  async search(query: string, options: MemoryFilter = {}): Promise<readonly (Memory & { readonly score: number })[]> {
    const { signal, ...given } = knownOptions<MemoryFilter>(options, OF_A_FILTER);
    const { query: text, include_superseded, ...filter } = checked(memorySearchBody, { ...given, query });
    const search = { ...present({ ...filter, includeSuperseded: include_superseded, signal }), text };
    return this.#application.memories.search(await this.#user.now(), search);
  }

  async get(id: string): Promise<Memory> {
    return this.#application.memories.get(await this.#user.now(), memoryId(id));
  }

  /** @throws MEMORY_REFUSED for a secret */
  async update(id: string, change: MemoryChange): Promise<Memory> {
    const patch = checked(memoryPatchBody, knownOptions<MemoryChange>(change, { ...OF_A_STATEMENT, text: true }));
    const at = { now: this.#clock.now(), ...(await this.#zoneOf(patch.valid_until)) };
    return this.#application.memories.patch(await this.#user.now(), memoryId(id), present(patch), at);
  }

  /** The user's own words that a memory comes from. */
  async why(id: string): Promise<Why> {
    return whyOf(this.#application, await this.#user.now(), memoryId(id));
  }

  /** What happened to a memory, oldest first. */
  async history(id: string): Promise<readonly MemoryEvent[]> {
    return this.#application.memories.history(await this.#user.now(), memoryId(id));
  }

  /** For good, with its older versions; the sentence that it came from is hidden from history. */
  async forget(id: string): Promise<void> {
    await this.#application.memories.forget(await this.#user.now(), memoryId(id), { now: this.#clock.now() });
  }

  /** Forgets everything. Returns how many. */
  async forgetAll(): Promise<number> {
    return this.#application.memories.forgetAll(await this.#user.now(), { now: this.#clock.now() });
  }

  /** The user's yes to a memory that waits for it (status `review`), or to a change that waits (`pending_change`). */
  async approve(id: string): Promise<Memory> {
    return this.#application.memories.approve(await this.#user.now(), memoryId(id), { now: this.#clock.now() });
  }

  /** The user's no: what waits goes, a change that waits is dropped and the memory stays. */
  async reject(id: string): Promise<Memory> {
    return this.#application.memories.reject(await this.#user.now(), memoryId(id), { now: this.#clock.now() });
  }

  #zoneOf(end: string | null | undefined): Promise<{ readonly timeZone?: string }> {
    return zoneOfEnds([end], this.#user.timeZone, async () => this.#application.user(await this.#user.now()));
  }
}

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
