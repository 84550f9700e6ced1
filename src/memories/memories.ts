import { type CategoriesOf, DEFAULT_CATEGORIES } from "../domain/categories.js";
import { textHash } from "../domain/folded-text.js";
import type { Memory } from "../domain/memory.js";
import { beginsAfter, holdsAt, type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { ReadingCalls } from "../ports/extraction.js";
import type { MergedMemories } from "../ports/identities.js";
import type { LongTermMemory, MemoryQuery, MemorySearch, NeedsOptions } from "../ports/memories.js";
import type { MemoryLog } from "../ports/memory-log.js";
import type { MemoryStore } from "../ports/memory-store.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { OnMessageRead } from "../ports/turn-records.js";
import { MemoriesAsAWhole } from "./administration.js";
import { Forgetting } from "./forgetting.js";
import { LeftToRead, type LeftToReadParts } from "./left-to-read.js";
import type { MemoryChanges } from "./memory-changes.js";
import { handedOut, limitOf, listedMemories, selectionOf } from "./memory-list.js";
import { MergingMemories } from "./merging.js";
import { takeOffRecord } from "./off-record.js";
import { OwnerLogs } from "./owner-logs.js";
import { Projection } from "./projection.js";
import { readByHand } from "./read-by-hand.js";
import { RecallOfMemories } from "./recall.js";
import type { RecallDecider } from "./recall-decider.js";
import type { ReconcileRules } from "./reconcile.js";
import { eventsOf } from "./record-changes.js";
import { askedCategory } from "./spelling.js";
import { StandingRecall } from "./standing-recall.js";
import { StatingByHand, type StatingParts } from "./stating.js";
import { type CheckProposed, propose } from "./tool-proposals.js";
import { MemoriesOfTurns, type ReadMessage } from "./turn-memories.js";
import { waits } from "./waiting.js";

export type { LeftToReadParts } from "./left-to-read.js";
export { RecallByOccasion } from "./recall-by-occasion.js";
export { StandingRecall } from "./standing-recall.js";
export type { ReadMessage } from "./turn-memories.js";

export interface MemoryServiceParts {
  readonly log: MemoryLog;
  readonly store: MemoryStore;
  readonly ledger: Pick<OwnerLedger, "epoch" | "tombstones" | "addTombstones" | "receipts">;
  readonly readMessage: ReadMessage;
  /** Reads by rules what is stated by hand, where {@link readMessage} doesn't. Default: nobody does. */
  readonly readPlainly?: (owner: Owner) => ReadMessage | null;
  /** How messages are read together. Default: each by itself. */
  readonly left?: LeftToReadParts;
  /** Before a model reads. @throws what says that it may not, now. Default: it may. */
  readonly mayRead?: (owner: Owner) => Promise<void>;
  /** What readings have cost, over restarts. Default: it is known to this process alone. */
  readonly readingCalls?: ReadingCalls;
  readonly checkProposed: CheckProposed;
  /** Whether a message asks in plain words not to be kept. Default: none does. */
  readonly asksNotToKeep?: (owner: Owner, text: string) => boolean;
  /** Runs work while no other process changes the owner's memories. Default: there is no other. */
  readonly alone?: <T>(owner: Owner, work: () => Promise<T>) => Promise<T>;
  /** Told after something was forgotten, whoever asked for it. Default: nobody is. */
  readonly onForgotten?: (owner: Owner) => void;
  /** Told what became of what a reading proposed. Default: nobody is. */
  readonly onRead?: OnMessageRead;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the domain: what decides which memories a message is given. Default: `otherwise`. */
  readonly recall?: RecallDecider;
  /** What decides where that can't. Default: a {@link StandingRecall}. */
  readonly otherwise?: RecallDecider;
}

export interface MemoryServiceOptions {
  /** Default: `DEFAULT_CATEGORIES`, for everybody. */
  readonly categoriesOf?: CategoriesOf;
  /** What a person has one need of. Default: no need excludes another. */
  readonly slotOf?: (owner: Owner, need: string) => string | undefined;
  /** Soft statements below it are not stored. Default 0.6. */
  readonly minConfidence?: number;
}

/**
 * The use-case of memories: every change is one durable entry of the owner's memory log, which is what is listed and read; then of the
 * store, which finds what is near a text and can be made anew. What the parts do is in the files of their names.
 */
export class MemoryService implements LongTermMemory {
  readonly #parts: MemoryServiceParts;
  readonly #options: Required<MemoryServiceOptions>;
  readonly #logs: OwnerLogs;
  readonly #forgetting: Forgetting;
  readonly #turns: MemoriesOfTurns;
  readonly #stating: StatingByHand;
  readonly #recall: RecallOfMemories;
  readonly #whole: MemoriesAsAWhole;

  readonly remember: LongTermMemory["remember"] = (...args) => this.#turns.remember(...args);
  readonly readLeft: LongTermMemory["readLeft"] = (...args) => this.#turns.readLeft(...args);
  readonly propose: LongTermMemory["propose"];
  readonly takeOffRecord: LongTermMemory["takeOffRecord"];
  readonly toConfirm: LongTermMemory["toConfirm"] = (...args) => this.#turns.toConfirm(...args);
  readonly asked: LongTermMemory["asked"] = (...args) => this.#turns.asked(...args);
  readonly settle: LongTermMemory["settle"] = (...args) => this.#turns.settle(...args);
  readonly remembered: LongTermMemory["remembered"] = (...args) => this.#turns.remembered(...args);
  readonly recall: LongTermMemory["recall"] = (...args) => this.#recall.recall(...args);
  readonly add: LongTermMemory["add"] = (...args) => this.#stating.add(...args);
  readonly addAll: LongTermMemory["addAll"] = (...args) => this.#stating.addAll(...args);
  readonly patch: LongTermMemory["patch"] = (...args) => this.#stating.patch(...args);
  readonly approve: LongTermMemory["approve"] = (...args) => this.#stating.approve(...args);
  readonly reject: LongTermMemory["reject"] = (...args) => this.#stating.reject(...args);
  readonly all: LongTermMemory["all"] = (...args) => this.#whole.all(...args);
  readonly restore: LongTermMemory["restore"] = (...args) => this.#whole.restore(...args);
  readonly detachSession: LongTermMemory["detachSession"] = (...args) => this.#whole.detachSession(...args);
  readonly residue: LongTermMemory["residue"] = (...args) => this.#whole.residue(...args);
  readonly health: LongTermMemory["health"] = () => this.#whole.health();
  readonly rebuild: LongTermMemory["rebuild"] = (...args) => this.#whole.rebuild(...args);

  /** For two users who turned out to be one. */
  readonly merged: MergedMemories;

  /** For what is made of memories by code, beside a turn. */
  get changes(): MemoryChanges {
    return this.#logs;
  }

  constructor(parts: MemoryServiceParts, options: MemoryServiceOptions = {}) {
    const { log, store, ledger, readMessage, onForgotten = () => {}, alone, clock, logger } = parts;
    const { categoriesOf = () => DEFAULT_CATEGORIES, slotOf = () => undefined, minConfidence = 0.6 } = options;
    this.#parts = parts;
    this.#options = { categoriesOf, slotOf, minConfidence };
    const projection = new Projection({ log, store, ledger, logger });
    const logs = new OwnerLogs({ log, ledger, projection, clock, ...(alone && { alone }) });
    const rules = (owner: Owner, now: Date) => this.#rules(owner, now);
    this.#logs = logs;
    this.#forgetting = new Forgetting({ logs, ledger, onForgotten });
    const { left, mayRead, readingCalls, onRead } = parts;
    const reading = {
      readMessage,
      ...(left !== undefined && { left: new LeftToRead(left) }),
      ...(mayRead !== undefined && { mayRead }),
      ...(readingCalls !== undefined && { readingCalls }),
    };
    const { checkProposed, asksNotToKeep = () => false } = parts;
    this.propose = (...args) => propose({ logs, forgetting: this.#forgetting, checkProposed, rules }, ...args);
    this.#turns = new MemoriesOfTurns({
      logs,
      log,
      store,
      forgetting: this.#forgetting,
      ...reading,
      rules,
      propose: this.propose,
      clock,
      ...(onRead && { onRead }),
    });
    this.takeOffRecord = (...args) => takeOffRecord({ logs, log }, ...args);
    const read: StatingParts["read"] = (owner, ...args) =>
      readByHand({ ...reading, readPlainly: parts.readPlainly?.(owner) ?? null, categoriesOf, logger }, owner, ...args);
    this.#stating = new StatingByHand({ logs, forgetting: this.#forgetting, categoriesOf, rules, read });
    const { otherwise = new StandingRecall({ categoriesOf }), recall = otherwise } = parts;
    this.#recall = new RecallOfMemories({ logs, store, decision: recall, otherwise, logger });
    this.merged = new MergingMemories({ logs, log, ledger, rules, logger });
    this.#whole = new MemoriesAsAWhole({ logs, log, store, projection, ledger, checkProposed, asksNotToKeep, categoriesOf, clock, logger });
  }

  async get(owner: Owner, id: string, options: { readonly signal?: AbortSignal } = {}): Promise<Memory> {
    if (!isId(id)) throw new AppError("MEMORY_NOT_FOUND");
    const record = (await this.#logs.level(owner, options.signal)).records.get(id);
    if (record === undefined) throw new AppError("MEMORY_NOT_FOUND");
    return handedOut(record);
  }

  async list(owner: Owner, query: MemoryQuery) {
    const { asked, records } = await this.#asked(owner, query);
    return listedMemories(owner, asked, records.values(), this.#parts.clock.now());
  }

  async search(owner: Owner, query: MemorySearch) {
    const { asked, records: known } = await this.#asked(owner, query);
    const { fields, isMeant } = selectionOf(asked, this.#parts.clock.now());
    const { text, signal } = query;
    const found = await this.#parts.store.search(owner, { text, limit: limitOf(query), fields, known, signal });
    return found.flatMap(({ record, score }) => (isMeant(record) ? [{ ...handedOut(record), score }] : []));
  }

  /** The query with its category as it was stored, and the memories to choose from. */
  async #asked(owner: Owner, query: MemoryQuery) {
    const { records } = await this.#logs.level(owner, query.signal);
    const { category } = query;
    if (category === undefined) return { asked: query, records };
    return { asked: { ...query, category: askedCategory(category, this.#options.categoriesOf(owner), records.values()) }, records };
  }

  async history(owner: Owner, id: string) {
    const memories = await this.#logs.known(owner);
    const record = memories.records.get(id);
    if (record === undefined) throw new AppError("MEMORY_NOT_FOUND");
    return eventsOf(memories.withPredecessors([record]), this.#parts.clock.now());
  }

  /** What the log says, once the store has said the same: one that lost something while it ran is mended, or the caller is told. */
  async needs(owner: Owner, { now, signal, soft = () => false }: NeedsOptions): Promise<readonly Memory[]> {
    for (let tries = 1; ; tries++) {
      const { records } = await this.#logs.level(owner, signal);
      const stored = new Set((await this.#parts.store.hard(owner, signal === undefined ? {} : { signal })).map(({ id }) => id));
      const counts = (record: Memory) => holdsAt(record, now) || waitsAt(record, now) || beginsAfter(record, now);
      const hard = [...records.values()].filter((record) => record.strength === "hard" && counts(record));
      const isSoft = (record: MemoryRecord) => record.strength === "soft" && (holdsAt(record, now) || beginsAfter(record, now));
      if (hard.every(({ id }) => stored.has(id)))
        return [...hard, ...[...records.values()].filter((record) => isSoft(record) && soft(record))].map(memoryOf);
      this.#logs.doubt(owner);
      if (tries > 1) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: "The store lacks memories that must hold." });
    }
  }

  async companions(owner: Owner, { now }: { readonly now: Date }): Promise<readonly Memory[]> {
    const { records } = await this.#logs.known(owner);
    return [...records.values()].filter((record) => tellsOfCompanion(record, now)).map(memoryOf);
  }

  forget(owner: Owner, id: string, options: { readonly now: Date; readonly askedIn?: readonly string[] }): Promise<readonly Memory[]> {
    return this.#forgetting.one(owner, id, options.now, options.askedIn ?? []);
  }

  forgetAll(owner: Owner, options: { readonly now: Date }): Promise<number> {
    return this.#forgetting.all(owner, options.now);
  }

  async erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }> {
    await this.#recall.settled();
    return this.#whole.erase(owner);
  }

  /** Waits for what runs. Log and store stay open: they are the caller's. */
  async close(): Promise<void> {
    await this.#logs.settled();
    await this.#recall.settled();
  }

  async #rules(owner: Owner, now: Date): Promise<ReconcileRules> {
    const tombstones = await this.#parts.ledger.tombstones(owner);
    const { categoriesOf, slotOf, minConfidence } = this.#options;
    const hash: ReconcileRules["hash"] = (text, of = owner) => textHash(of, text);
    return { categories: categoriesOf(owner), minConfidence, now, tombstones, hash, slotOf: (need) => slotOf(owner, need) };
  }
}

/** Whom a need names they are when it is over, too; a statement of who somebody is tells it while it holds. */
function tellsOfCompanion(record: Memory, now: Date): boolean {
  const { strength, status, superseded_by, type, subject, entities } = record;
  if (type === "episodic" || (subject === "self" && entities.length === 0)) return false;
  return strength === "hard" ? status === "superseded" && superseded_by === null : holdsAt(record, now);
}

function waitsAt(record: Memory, now: Date): boolean {
  const over = record.valid_until !== null && Date.parse(record.valid_until) <= now.getTime();
  return waits(record) && !over && record.status !== "superseded";
}
