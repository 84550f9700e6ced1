import { AppError, isAppError } from "./errors.js";
import { type ConversationHistory, historyMessageOf } from "./history.js";
import type { Owner } from "./owner.js";
import type { Clock } from "./platform/clock.js";
import { importedSessionId, newId } from "./platform/ids.js";
import { type JsonObject, type JsonValue, jsonObject, type MessageRecord, type NewRecord, type Role, type Session } from "./session.js";
import { type SessionStore, sessionLockKey } from "./session-store.js";
import type { SessionWriter } from "./session-writer.js";

export interface ConversationLogParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly history: ConversationHistory;
  readonly clock: Clock;
  /** Longest wait for another writer of the same conversation, in milliseconds. Default 30,000. */
  readonly lockWaitMs?: number;
}

/** One item of another framework's conversation: a message, a tool call, an event. */
export interface LogItem {
  /** The message's id in journal and search. Default: a new one. */
  readonly id?: string;
  readonly role: Role;
  /** What was said, for people and for search; empty where nothing was (a tool call). */
  readonly text: string;
  readonly name?: string;
  /** ISO 8601. Default: the present. */
  readonly at?: string;
  /** The item as the framework has it: comes back as it was given. */
  readonly item: JsonValue;
}

export interface LoggedItem {
  readonly id: string;
  readonly seq: number;
  readonly at: string;
  readonly item: JsonValue;
}

/** A conversation that another framework runs, by that framework's own id. */
export interface LogKey {
  readonly owner: Owner;
  /** `langchain`, `openai-agents`, `adk:<app>`: keeps the frameworks' ids apart. */
  readonly channel: string;
  readonly conversation: string;
}

/**
 * Keeps conversations that other frameworks run in the same journals as Maitred's own, and makes them searchable: the base of the
 * adapters for LangChain, OpenAI Agents and ADK. Nothing is extracted from them by itself (`maitred promote` does that).
 * Writers of one conversation go one after another; an append is durable and can be found on resolve.
 */
export class ConversationLog {
  readonly #parts: ConversationLogParts;

  constructor(parts: ConversationLogParts) {
    this.#parts = parts;
  }

  /** Null where there is none. */
  async session(key: LogKey): Promise<Session | null> {
    return this.#parts.store.index.get(key.owner, sessionIdOf(key));
  }

  /** False when it is there already. */
  async create(key: LogKey, metadata: JsonObject = {}): Promise<boolean> {
    return this.#locked(key, async () => {
      if (await this.#exists(key)) return false;
      await this.#parts.writer.create(key.owner, sessionIdOf(key), [this.#opening(key, metadata)]);
      return true;
    });
  }

  /** In order. Starts the conversation if need be. */
  async append(key: LogKey, items: readonly LogItem[]): Promise<readonly LoggedItem[]> {
    if (items.length === 0) return [];
    const { writer, history, store, clock } = this.#parts;
    const id = sessionIdOf(key);
    return this.#locked(key, async () => {
      const exists = await this.#exists(key);
      let turn = exists ? (await store.journal.window(key.owner, id, { rounds: 1 })).lastTurn : 0;
      let answerable = exists && (await this.#lastRole(key)) === "user";
      const records = items.map((given): NewRecord => {
        if (given.text !== "" || turn === 0) {
          if (!(given.role === "assistant" && answerable)) turn += 1;
          answerable = given.role === "user";
        }
        return {
          type: "message",
          id: given.id ?? newId(),
          turn,
          at: given.at ?? clock.now().toISOString(),
          body: {
            role: given.role,
            content: given.text,
            name: given.name ?? null,
            channel: key.channel,
            imported: true,
            ...(given.role === "assistant" && given.text !== "" ? { outcome: "completed" } : {}),
            item: given.item,
          },
        };
      });
      const written = exists
        ? await writer.append(key.owner, id, records)
        : await writer.create(key.owner, id, [this.#opening(key, {}), ...records]);
      const messages = written.filter((record): record is MessageRecord => record.type === "message");
      await history.addEvents(
        key.owner,
        messages.filter(({ body }) => body.content !== "").map((record) => historyMessageOf(id, record)),
      );
      return messages.map(logged);
    });
  }

  /** Oldest first; with `limit`, the newest so many. None of a conversation that there isn't. */
  async items(key: LogKey, limit?: number): Promise<readonly LoggedItem[]> {
    const items = (await this.#messages(key)).map(logged);
    return limit === undefined ? items : items.slice(Math.max(0, items.length - limit));
  }

  /** Takes the newest item back, out of the search as well, and returns it; null where there is none. */
  async pop(key: LogKey): Promise<LoggedItem | null> {
    return this.#locked(key, async () => {
      const newest = (await this.#messages(key)).at(-1);
      if (newest === undefined) return null;
      await this.#parts.writer.append(key.owner, sessionIdOf(key), [
        {
          type: "rewind",
          id: newId(),
          turn: newest.turn,
          at: this.#parts.clock.now().toISOString(),
          body: { to_seq: newest.seq - 1, to_offset: 0 },
        },
      ]);
      await this.#parts.history.removeMessages(key.owner, [newest.id]);
      return logged(newest);
    });
  }

  /** Deletes the conversation from every store. */
  async remove(key: LogKey): Promise<void> {
    const { store, history } = this.#parts;
    const id = sessionIdOf(key);
    await this.#locked(key, async () => {
      await history.removeSession(key.owner, id);
      await store.journal.remove(key.owner, id);
      await store.index.remove(key.owner, id);
    });
  }

  /** The conversations of a channel with what they were created with, newest activity first. */
  async list(owner: Owner, channel: string): Promise<readonly { readonly conversation: string; readonly session: Session }[]> {
    const found: { conversation: string; session: Session }[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#parts.store.index.list(owner, { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
      for (const session of page.data)
        if (session.external_id?.startsWith(`${channel}/`) === true)
          found.push({ conversation: session.external_id.slice(channel.length + 1), session });
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  async #messages(key: LogKey): Promise<MessageRecord[]> {
    const messages: MessageRecord[] = [];
    try {
      for await (const record of this.#parts.store.journal.read(key.owner, sessionIdOf(key)))
        if (record.type === "message") messages.push(record);
    } catch (error) {
      if (!isAppError(error, "SESSION_NOT_FOUND")) throw error;
    }
    return messages;
  }

  async #exists(key: LogKey): Promise<boolean> {
    return (await this.session(key)) !== null;
  }

  async #lastRole(key: LogKey): Promise<Role | undefined> {
    return (await this.#messages(key)).findLast(({ body }) => body.content !== "")?.body.role;
  }

  #opening(key: LogKey, metadata: JsonObject): NewRecord {
    return {
      type: "session",
      id: newId(),
      turn: 0,
      at: this.#parts.clock.now().toISOString(),
      body: { owner: key.owner, external_id: externalIdOf(key), metadata, agent_type: key.channel },
    };
  }

  async #locked<T>(key: LogKey, work: () => Promise<T>): Promise<T> {
    const lease = await this.#parts.store.locks.acquire(sessionLockKey(key.owner, sessionIdOf(key)), {
      waitMs: this.#parts.lockWaitMs ?? 30_000,
    });
    try {
      return await work();
    } finally {
      await lease.release();
    }
  }
}

/** Any framework value as JSON: what JSON can't hold is dropped, as JSON.stringify does. @throws INVALID_REQUEST for what is no object */
export function toJsonObject(value: unknown): JsonObject {
  const parsed = jsonObject.safeParse(JSON.parse(JSON.stringify(value) ?? "null"));
  if (!parsed.success) throw new AppError("INVALID_REQUEST", { detail: "The conversation's item is no JSON object." });
  return parsed.data;
}

function externalIdOf({ channel, conversation }: LogKey): string {
  return `${channel}/${conversation}`;
}

function sessionIdOf(key: LogKey): string {
  return importedSessionId(key.owner, externalIdOf(key));
}

function logged({ id, seq, at, body }: MessageRecord): LoggedItem {
  return { id, seq, at, item: body.item as JsonValue };
}
