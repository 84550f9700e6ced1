import { givenRecords, positionAfter } from "../domain/given-messages.js";
import type { Owner } from "../domain/owner.js";
import type { JsonObject, MessageRecord, NewRecord, Session } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { AppError, insteadOf } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { Sessions } from "../ports/application.js";
import { type ConversationHistory, historyMessageOf } from "../ports/history.js";
import type { TurnMemories } from "../ports/memories.js";
import { type OwnerGate, whileOpen } from "../ports/owner-gate.js";
import { everyItem } from "../ports/pages.js";
import { sessionIdFor } from "../ports/session-names.js";
import { type Lease, type SessionStore, type ShortTermMemory, underSessionLock } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import { givenMessage, type LoggedItem, type LogItem, type LogKey, type LogWindow } from "./log-items.js";

export interface ConversationLogParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly history: ConversationHistory;
  readonly sessions: Pick<Sessions, "get" | "empty" | "purge">;
  /** Null when long-term memory is off. */
  readonly turns: Pick<TurnMemories, "takeOffRecord"> | null;
  readonly gate: OwnerGate;
  readonly writeBack: {
    /** Aborts the owner's write-backs, waits for them, and starts none until the result is called. */
    hold(owner: Owner): Promise<() => void>;
  };
  /** Called after each append; `remember`: it is to be written back. Must not throw. */
  readonly afterAppend: (owner: Owner, sessionId: string, remember: boolean) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest wait for another writer of the same conversation, in milliseconds. Default 30,000. */
  readonly lockWaitMs?: number;
}

/**
 * Keeps conversations that other frameworks run in the same journals as Maitred's own: the base of the adapters for LangChain, OpenAI
 * Agents and ADK. What the user says forms memories as in a chat, off the reply path; what was said can be searched. Writers of one
 * conversation go one after another; an append is durable on resolve, can be found then where history is within reach, and costs what it
 * adds, not what the conversation holds.
 */
export class ConversationLog {
  readonly #parts: ConversationLogParts;

  constructor(parts: ConversationLogParts) {
    this.#parts = parts;
  }

  /** The id that a conversation has as a session of Maitred, whether or not it has begun. */
  async sessionId({ owner, session }: LogKey): Promise<string> {
    return "sessionId" in session ? session.sessionId : sessionIdFor(this.#parts.store.index, owner, session.externalId);
  }

  /** Null where there is none. */
  async session(key: LogKey): Promise<Session | null> {
    return this.#parts.store.index.get(key.owner, await this.sessionId(key));
  }

  /** False when it is there already. */
  async create(key: LogKey, metadata: JsonObject = {}): Promise<boolean> {
    const id = await this.sessionId(key);
    return this.#locked(key, id, async () => {
      if ((await this.session(key)) !== null) return false;
      await this.#parts.writer.create(key.owner, id, [this.#opening(key, metadata)]);
      return true;
    });
  }

  /** In order. Starts a conversation of that name if need be. @throws SESSION_NOT_FOUND for an id that there isn't, SESSION_NOT_ACTIVE */
  async append(key: LogKey, items: readonly LogItem[]): Promise<readonly LoggedItem[]> {
    if (items.length === 0) return [];
    const { writer, history, store, clock, logger, afterAppend } = this.#parts;
    const id = await this.sessionId(key);
    return this.#locked(key, id, async ({ fence }) => {
      const session = await this.session(key);
      if (session !== null && session.status !== "active") throw new AppError("SESSION_NOT_ACTIVE");
      const { lastTurn, lastUserMessage } =
        session === null ? { lastTurn: 0, lastUserMessage: null } : await store.journal.window(key.owner, id, { rounds: 0 });
      const { incognito, time_zone: timeZone } = session?.metadata ?? {};
      const remember = incognito !== true;
      const records = givenRecords(items.map(givenMessage), {
        position: positionAfter(lastTurn, lastUserMessage),
        now: clock.now(),
        channel: key.channel,
        remember,
        timeZone: typeof timeZone === "string" ? timeZone : "UTC",
        idOf: (index) => items[index]?.id ?? newId(),
      });
      const written =
        session === null
          ? await writer.create(key.owner, id, [this.#opening(key, {}), ...records])
          : await writer.append(key.owner, id, records, { fence });
      const messages = written.filter((record): record is MessageRecord => record.type === "message");
      const said = remember ? messages.filter(({ body }) => body.content !== "") : [];
      try {
        await history.addEvents(
          key.owner,
          said.map((record) => historyMessageOf(id, record)),
        );
      } catch (error) {
        logger.warn({ session_id: id, err: error }, "what was said can't be searched yet; its write-back tries again");
      }
      if (said.length > 0) afterAppend(key.owner, id, remember);
      return messages.map((message) => logged(key, message));
    });
  }

  /** Oldest first; with `limit`, the newest so many, read from the end. None of a conversation that there isn't. */
  async items(key: LogKey, limit?: number): Promise<readonly LoggedItem[]> {
    const { journal } = this.#parts.store;
    const id = await this.sessionId(key);
    const read = limit === undefined ? messagesFrom(journal, key.owner, id, 1) : newestMessages(journal, key.owner, id, limit);
    return (await orNone(read)).map((message) => logged(key, message));
  }

  /** The last so many answered turns and what came after them, read from the end; all of it where there are fewer. */
  async window(key: LogKey, rounds: number): Promise<LogWindow> {
    const { journal } = this.#parts.store;
    const id = await this.sessionId(key);
    try {
      const window = await journal.window(key.owner, id, { rounds });
      const first = window.rounds.length < rounds ? undefined : window.rounds[0];
      const messages = await messagesFrom(journal, key.owner, id, first?.user.seq ?? 1);
      const summary = first === undefined ? null : (await this.#parts.sessions.get(key.owner, id)).summary;
      return { summary, items: messages.map((message) => logged(key, message)) };
    } catch (error) {
      return insteadOf("SESSION_NOT_FOUND", { summary: null, items: [] })(error);
    }
  }

  /**
   * Takes the newest item back, out of the search as well, and returns it; null where there is none. What a user's message alone gave to
   * memory goes with it; what must hold waits for the user's word instead.
   */
  async pop(key: LogKey): Promise<LoggedItem | null> {
    const { store, writer, history, turns, writeBack, clock } = this.#parts;
    const id = await this.sessionId(key);
    const release = await writeBack.hold(key.owner);
    try {
      return await this.#locked(key, id, async ({ fence }) => {
        const [newest] = await orNone(newestMessages(store.journal, key.owner, id, 1));
        if (newest === undefined) return null;
        const { turn, seq } = newest;
        const body = { to_seq: seq - 1, to_offset: 0 };
        const rewind: NewRecord = { type: "rewind", id: newId(), turn, at: clock.now().toISOString(), body };
        await writer.append(key.owner, id, [rewind], { fence });
        await history.removeMessages(key.owner, [newest.id]);
        if (newest.body.role === "user") await turns?.takeOffRecord(key.owner, [newest.id], { now: clock.now() });
        return logged(key, newest);
      });
    } finally {
      release();
    }
  }

  /** Takes out all that was said, and keeps the conversation. Its memories stay, without their quotes. */
  async empty(key: LogKey): Promise<void> {
    await this.#parts.sessions.empty(key.owner, await this.sessionId(key)).catch(insteadOf("SESSION_NOT_FOUND", undefined));
  }

  /** Deletes the conversation from every store. Its memories stay, without their quotes. */
  async remove(key: LogKey): Promise<void> {
    const purged = this.#parts.sessions.purge(key.owner, await this.sessionId(key), { keepMemories: true, by: "user" });
    await purged.catch(insteadOf("SESSION_NOT_FOUND", undefined));
  }

  /** The conversations whose names begin so, with what comes behind that; newest activity first. */
  async list(owner: Owner, prefix: string): Promise<readonly { readonly name: string; readonly session: Session }[]> {
    const found: { name: string; session: Session }[] = [];
    for await (const session of everyItem((at) => this.#parts.store.index.list(owner, { limit: 200, ...at })))
      if (session.external_id?.startsWith(prefix) === true) found.push({ name: session.external_id.slice(prefix.length), session });
    return found;
  }

  /** All owners that have a session, each once, in no order. Reads what every session's journal says of itself. */
  async owners(): Promise<ReadonlySet<Owner>> {
    const owners = new Set<Owner>();
    for await (const { owner } of this.#parts.store.journal.list()) owners.add(owner);
    return owners;
  }

  #opening({ owner, channel, session }: LogKey, metadata: JsonObject): NewRecord {
    // Only what has a name of the application's can be made: ids are given here.
    if ("sessionId" in session) throw new AppError("SESSION_NOT_FOUND");
    return {
      type: "session",
      id: newId(),
      turn: 0,
      at: this.#parts.clock.now().toISOString(),
      body: { owner, external_id: session.externalId, metadata, agent_type: channel },
    };
  }

  async #locked<T>({ owner }: LogKey, id: string, work: (lease: Lease) => Promise<T>): Promise<T> {
    const { gate, store, lockWaitMs: waitMs = 30_000 } = this.#parts;
    return whileOpen(gate, owner, (signal) => underSessionLock(store.locks, owner, id, { waitMs, signal }, work));
  }
}

function logged({ channel }: LogKey, { id, at, body }: MessageRecord): LoggedItem {
  return { id, at, role: body.role, text: body.content, item: (body.channel === channel ? body.item : undefined) ?? null };
}

async function orNone<T>(read: Promise<readonly T[]>): Promise<readonly T[]> {
  return read.catch(insteadOf("SESSION_NOT_FOUND", []));
}

/** The newest so many messages that stand, oldest first. @throws SESSION_NOT_FOUND */
async function newestMessages(journal: ShortTermMemory, owner: Owner, sessionId: string, limit: number): Promise<MessageRecord[]> {
  const messages: MessageRecord[] = [];
  for await (const record of journal.newestFirst(owner, sessionId)) {
    if (messages.length >= limit) break;
    if (record.type === "message") messages.push(record);
  }
  return messages.reverse();
}

/** @throws SESSION_NOT_FOUND */
async function messagesFrom(
  journal: Pick<ShortTermMemory, "read">,
  owner: Owner,
  sessionId: string,
  fromSeq: number,
): Promise<MessageRecord[]> {
  const messages: MessageRecord[] = [];
  for await (const record of journal.read(owner, sessionId, { fromSeq })) if (record.type === "message") messages.push(record);
  return messages;
}
