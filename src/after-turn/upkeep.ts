import { LRUCache } from "lru-cache";
import { recitals } from "../domain/forgotten-words.js";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, NewRecord } from "../domain/session.js";
import { forgottenTurns, provenanceOf, type SessionProvenance, titleAnew } from "../domain/session-provenance.js";
import { titleFrom } from "../domain/title.js";
import { collected } from "../platform/collected.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import { longDay } from "../platform/rendering.js";
import type { ChatModel } from "../ports/agent.js";
import type { AlsoAsked } from "../ports/extraction.js";
import type { Memories } from "../ports/memories.js";
import { whileOpen } from "../ports/owner-gate.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";
import { underSessionLock } from "../ports/session-store.js";
import { sessionsSince } from "../ports/sessions-since.js";
import type { AlongWithReading } from "./along-with-reading.js";
import { bareName, modelTitle, titleAsked } from "./model-title.js";
import type { SummaryKeeper, SummaryParts } from "./summary.js";
import { deriveTopic, type Learnt } from "./topic.js";

export interface UpkeepParts extends Pick<SummaryParts, "store" | "writer" | "tokens" | "gate" | "clock" | "logger"> {
  readonly summaries: SummaryKeeper;
  readonly ledger: Pick<OwnerLedger, "tombstones" | "addTombstones">;
  /** Tells what was learnt from a session. */
  readonly memories: Pick<Memories, "list">;
  /** Null, or a stand-in: titles stay the first message. */
  readonly model: ChatModel | null;
  /** Names that readings gave. Default: none do. */
  readonly along?: Pick<AlongWithReading, "has" | "take">;
}

export interface UpkeepOptions {
  /** How long it waits for a turn that runs. Default 30,000. */
  readonly lockWaitMs?: number;
  /** Bound of the call that names a session. Default 20,000. */
  readonly modelTimeoutMs?: number;
}

/** A reading of a later one gives no name along: the model had its chances. */
const ROUNDS_TO_BE_NAMED_IN = 16;

const MOST_OWED = 1_000;
/** Where nobody knows of a look before, a session of at most so many rounds is looked at: the last may have come late. */
const FEW_ROUNDS = 8;

/** Memories of one session that its tags are made of. */
const MAX_LEARNT = 200;

type PatchBody = Extract<NewRecord, { type: "session_patch" }>["body"];

/**
 * What a session is given after a turn, off the reply path: its summary; topic, tags and (by a model) its name, at the 1st, 2nd, 4th, 8th …
 * round, so that all of it together costs no more than reading the session twice. What the user set is never overwritten.
 * Never throws, and never fails a turn.
 */
export class SessionUpkeep {
  readonly #parts: UpkeepParts;
  readonly #options: Required<UpkeepOptions>;
  /** Sessions whose name was left to a reading. It may give none, and the next upkeep is then not one that names. */
  readonly #owed = new LRUCache<string, true>({ max: MOST_OWED });
  /** How many rounds a session had at the last look. */
  readonly #seen = new LRUCache<string, number>({ max: MOST_OWED });

  constructor(parts: UpkeepParts, options: UpkeepOptions = {}) {
    this.#parts = parts;
    this.#options = { lockWaitMs: 30_000, modelTimeoutMs: 20_000, ...options };
  }

  /** `readingComes`: what a reading can do along is left to it. Default: none does. */
  async afterTurn(owner: Owner, sessionId: string, { readingComes = false }: { readonly readingComes?: boolean } = {}): Promise<void> {
    if (!readingComes) await this.#parts.summaries.maintain(owner, sessionId);
    await this.#tending(owner, sessionId, (signal) => this.#describe(owner, sessionId, readingComes, signal));
  }

  /** The call that would name the session; null where it has a name, or has had its chances. @throws what reading throws */
  async titleDue(owner: Owner, sessionId: string, signal: AbortSignal): Promise<AlsoAsked | null> {
    const session = await this.#parts.store.index.listed(owner, sessionId);
    if (!session || session.message_count > 2 * ROUNDS_TO_BE_NAMED_IN) return null;
    const records = await this.#records(owner, sessionId, signal);
    const hidden = forgottenTurns(records, await this.#parts.ledger.tombstones(owner));
    return this.#titleAsked(
      records.filter((record) => !hidden.has(record.turn)),
      provenanceOf(records),
    );
  }

  /** After the user asked not to keep a turn: title, topic and tags are made anew where they may repeat it. */
  async offRecord(owner: Owner, sessionId: string): Promise<void> {
    await this.#tending(owner, sessionId, (signal) => this.#withoutForgotten(owner, sessionId, signal));
  }

  /**
   * After something was forgotten: answers that recited it are hidden as what told it is, and derived titles, topics and tags of the
   * owner's sessions are made anew where they may repeat it. Reads the owner's sessions one after the other, whatever their status. What
   * fails is made anew with the session's next turns.
   */
  async forgotten(owner: Owner): Promise<void> {
    const { store } = this.#parts;
    await this.#tending(owner, null, async (signal) => {
      for (const { id, title, metadata } of await sessionsSince(store.index, owner)) {
        if (title === null || metadata.incognito === true) continue;
        signal.throwIfAborted();
        await this.#withoutForgotten(owner, id, signal).catch((error: unknown) => this.#failed(id, error));
      }
    });
  }

  /** Work of the owner's that an erasure waits for. What fails is told in the log. */
  async #tending(owner: Owner, sessionId: string | null, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await whileOpen(this.#parts.gate, owner, work);
    } catch (error) {
      this.#failed(sessionId, error);
    }
  }

  async #withoutForgotten(owner: Owner, sessionId: string, signal: AbortSignal): Promise<void> {
    const records = await this.#records(owner, sessionId, signal);
    const tombstones = await this.#hideRecitals(owner, records);
    if (forgottenTurns(records, tombstones).size === 0) return;
    await this.#describeAs(owner, sessionId, records, null, signal);
    const { journal, index } = this.#parts.store;
    if ((await index.listed(owner, sessionId))?.status === "archived") await journal.compress(owner, sessionId);
  }

  /** In the tombstones, which all that hides what was forgotten goes by. */
  async #hideRecitals(owner: Owner, records: readonly JournalRecord[]): Promise<readonly Tombstone[]> {
    const { ledger } = this.#parts;
    const tombstones = await ledger.tombstones(owner);
    const recited = recitals(records, tombstones);
    if (recited.size === 0) return tombstones;
    const all = tombstones.map((tombstone): Tombstone => {
      const answers = recited.get(tombstone.memoryId) ?? [];
      return { ...tombstone, messageIds: [...new Set([...tombstone.messageIds, ...answers])] };
    });
    const longer = all.filter(({ messageIds }, place) => messageIds.length > (tombstones[place]?.messageIds.length ?? 0));
    if (longer.length > 0) await ledger.addTombstones(owner, longer);
    return all;
  }

  #failed(sessionId: string | null, error: unknown): void {
    const code = isAppError(error) ? error.code : "INTERNAL";
    this.#parts.logger.warn({ session_id: sessionId, code, err: error }, "topic and tags were not derived");
  }

  #records(owner: Owner, sessionId: string, signal: AbortSignal): Promise<readonly JournalRecord[]> {
    return collected(this.#parts.store.journal.read(owner, sessionId, { signal }));
  }

  async #describe(owner: Owner, sessionId: string, readingComes: boolean, signal: AbortSignal): Promise<void> {
    const listed = await this.#parts.store.index.listed(owner, sessionId);
    // Two messages a round: a power of two of either is seen when the count is one.
    const session = `${owner} ${sessionId}`;
    const rounds = Math.ceil((listed?.message_count ?? 0) / 2);
    const seen = this.#seen.get(session) ?? (rounds > FEW_ROUNDS ? rounds : 0);
    // Of turns that follow fast the first look may come behind the third.
    const isDue = listed !== null && (isPowerOfTwo(rounds) || doublings(rounds) > doublings(seen));
    if (!isDue && !this.#owed.has(session) && this.#parts.along?.has(owner, sessionId, "title") !== true) return;
    if (readingComes) this.#owed.set(session, true);
    else this.#owed.delete(session);
    const records = await this.#records(owner, sessionId, signal);
    const hidden = forgottenTurns(records, await this.#parts.ledger.tombstones(owner));
    const { tokens } = this.#parts;
    const kept = records.filter((record) => !hidden.has(record.turn));
    const name = () => this.#name({ owner, sessionId }, kept, provenanceOf(records), signal);
    const named = readingComes ? null : await (tokens?.during({ owner, sessionId }, name) ?? name());
    await this.#describeAs(owner, sessionId, records, named, signal);
    this.#seen.set(session, rounds);
  }

  async #describeAs(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    named: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, tokens } = this.#parts;
    const learnt = await this.#learnt(owner, sessionId, signal);
    await underSessionLock(store.locks, owner, sessionId, { waitMs: this.#options.lockWaitMs, signal }, async (lease) => {
      // As it is now: the user may have set a title or tags meanwhile.
      const now = await this.#records(owner, sessionId, signal);
      const tombstones = await this.#parts.ledger.tombstones(owner);
      const hidden = forgottenTurns(records, tombstones);
      const anew = titleAnew(now, tombstones);
      // Emptied meanwhile, said again differently, or given back to another user: a name that was made of it would tell it.
      const left = new Set(now.map(({ id }) => id));
      const stands = records.every(({ type, id }) => type !== "message" || left.has(id));
      const body = derivedPatch(
        provenanceOf(now),
        records.filter((record) => !hidden.has(record.turn) && left.has(record.id)),
        learnt.filter(({ turn }) => !hidden.has(turn)),
        anew === undefined ? (stands ? (named ?? undefined) : undefined) : anew,
      );
      if (!body) return;
      const spent = tokens?.takeAll({ owner, sessionId }) ?? {};
      const told = Object.keys(spent).length > 0 ? { ...body, tokens: spent } : body;
      const patch: NewRecord = { type: "session_patch", id: newId(), turn: 0, at: this.#parts.clock.now().toISOString(), body: told };
      await this.#parts.writer.append(owner, sessionId, [patch], { fence: lease.fence });
    });
  }

  async #learnt(owner: Owner, sessionId: string, signal: AbortSignal): Promise<readonly Learnt[]> {
    try {
      const { data } = await this.#parts.memories.list(owner, { sessionId, limit: MAX_LEARNT, signal });
      const ofTurns = data.flatMap(({ category, source }) => (source === null ? [] : [{ category, turn: source.turn }]));
      return ofTurns.sort((a, b) => a.turn - b.turn);
    } catch (error) {
      if (isAppError(error, "LONG_TERM_MEMORY_DISABLED")) return [];
      throw error;
    }
  }

  /** A name by the model, once: while the title is still the first message. */
  async #name(
    { owner, sessionId }: { readonly owner: Owner; readonly sessionId: string },
    records: readonly JournalRecord[],
    provenance: SessionProvenance,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { model, along, logger } = this.#parts;
    const asked = this.#titleAsked(records, provenance);
    if (!model || asked === null) return null;
    try {
      const made = bareName(along?.take(owner, sessionId, asked) ?? "");
      const name = made ?? (await modelTitle(model, asked, AbortSignal.any([signal, AbortSignal.timeout(this.#options.modelTimeoutMs)])));
      return name === null ? null : titleFrom(name);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error }, "the model gave the session no name");
      return null;
    }
  }

  #titleAsked(records: readonly JournalRecord[], { title, titleBy }: SessionProvenance): AlsoAsked | null {
    const { model } = this.#parts;
    const said = records.find((record) => record.type === "message" && record.body.role === "user");
    const messages = records.flatMap((record) => (record.type === "message" ? [record.body] : []));
    const user = messages.find((message) => message.role === "user");
    const assistant = messages.find((message) => message.role === "assistant" && message.outcome === "completed");
    if (!model || model.standIn || !said || !user || !assistant || titleBy === "user" || title !== titleFrom(user.content)) return null;
    return titleAsked({ user: user.content, assistant: assistant.content, day: longDay(new Date(said.at), user.time_zone ?? "UTC") });
  }
}

/** What is new; null where nothing is. */
function derivedPatch(
  before: SessionProvenance,
  records: readonly JournalRecord[],
  learnt: readonly Learnt[],
  /** Undefined: it stays. */
  title: string | null | undefined,
): PatchBody | null {
  const derived = deriveTopic(records, learnt);
  const own = typeof before.metadata.topic === "string" ? before.metadata.topic : null;
  const topic = own ?? derived.topic;
  const patch: PatchBody = {
    by: "derived",
    ...(title !== undefined && before.titleBy !== "user" && title !== before.title ? { title } : {}),
    ...(before.topicBy !== "user" && topic !== before.topic ? { topic } : {}),
    ...(before.tagsBy !== "user" && derived.tags.join() !== before.tags.join() ? { tags: [...derived.tags] } : {}),
  };
  return Object.keys(patch).length > 1 ? patch : null;
}

function isPowerOfTwo(count: number): boolean {
  return count > 0 && Number.isInteger(Math.log2(count));
}

/** How often one has been doubled until then; -1: not once. */
function doublings(count: number): number {
  return count > 0 ? Math.floor(Math.log2(count)) : -1;
}
