import { LRUCache } from "lru-cache";
import { type MemoryRecord, madeOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import { KeyedMutex } from "../platform/keyed-mutex.js";
import type { MemoryLog, NewMemoryLogEntry } from "../ports/memory-log.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import { OwnerMemories } from "./owner-memories.js";
import type { Projection } from "./projection.js";

interface OwnerLogsParts {
  readonly log: MemoryLog;
  readonly ledger: Pick<OwnerLedger, "epoch">;
  readonly projection: Projection;
  readonly clock: Clock;
  /** Runs work while no other process changes the owner's memories. Default: there is no other. */
  readonly alone?: <T>(owner: Owner, work: () => Promise<T>) => Promise<T>;
}

/** Memories held in memory, of all owners. */
const HELD_MEMORIES = 100_000;
const MAX_TRIES = 5;

interface Held {
  readonly memories: OwnerMemories;
  /** The entry up to which the store was seen to follow; null: it was not looked at, or a write failed. */
  level: number | null;
  /** Whether the store was asked for what it holds from before there was a log. */
  begun: boolean;
}

export interface MemoryChange<T> {
  /** Null where nothing changes. */
  readonly entry: NewMemoryLogEntry | null;
  readonly result: T;
}

/** The logs of owners, folded, and every change of them: one entry, durable, then the store. An owner's changes run one after the other. */
export class OwnerLogs {
  readonly #parts: OwnerLogsParts;
  readonly #mutex = new KeyedMutex();
  readonly #held = new LRUCache<Owner, Held>({ maxSize: HELD_MEMORIES, sizeCalculation: ({ memories }) => memories.records.size + 1 });
  readonly #looks = new Map<Owner, Promise<number>>();

  constructor(parts: OwnerLogsParts) {
    this.#parts = parts;
  }

  /**
   * What the log says. Reads the store only where there is no log yet. `seenSeq`: of the log's last entry, where the caller has just read
   * it. Default: it is asked for.
   */
  async known(owner: Owner, seenSeq?: number): Promise<OwnerMemories> {
    const held = this.#held.get(owner);
    if (held !== undefined && (await this.#isCurrent(owner, held, seenSeq))) return held.memories;
    return this.#mutex.run(owner, async () => (await this.#load(owner)).memories);
  }

  /** What the log says, where that is at hand: neither the log nor the store is read. Null where it isn't. */
  async atHand(owner: Owner, seenSeq?: number): Promise<OwnerMemories | null> {
    const held = this.#held.get(owner);
    return held !== undefined && (await this.#isCurrent(owner, held, seenSeq)) ? held.memories : null;
  }

  /** For who reads what is to be kept: a change of what was read before an erasure is refused. */
  epoch(owner: Owner): Promise<number> {
    return this.#parts.ledger.epoch(owner);
  }

  /** What the log says, with the store level. @throws LONG_TERM_MEMORY_UNAVAILABLE when it can't be made so */
  async level(owner: Owner, signal?: AbortSignal): Promise<OwnerMemories> {
    const held = this.#held.get(owner);
    if (held !== undefined && (await this.isLevel(owner))) return held.memories;
    return this.#exclusively(owner, async () => {
      const loaded = await this.#load(owner);
      await this.#project(owner, loaded, signal === undefined ? {} : { signal });
      return loaded.memories;
    });
  }

  /** Whether the store is known to be level; it isn't asked. `seenSeq` as in {@link known}. */
  async isLevel(owner: Owner, seenSeq?: number): Promise<boolean> {
    const held = this.#held.get(owner);
    return held !== undefined && follows(held) && (await this.#isCurrent(owner, held, seenSeq));
  }

  /** The store was found to lack something: it is looked at anew. */
  doubt(owner: Owner): void {
    const held = this.#held.get(owner);
    if (held !== undefined) held.level = null;
  }

  /**
   * Makes one change: `plan` says what, from what is known; its entry is logged, with the narratives that tell of what it removes, and the
   * store follows. Where nothing changes the store is made level all the same, so that a repetition completes what was broken off.
   * @throws OWNER_ERASED when an erasure began meanwhile
   */
  async change<T>(
    owner: Owner,
    plan: (memories: OwnerMemories) => Promise<MemoryChange<T>> | MemoryChange<T>,
    options: {
      readonly now: Date;
      readonly signal?: AbortSignal;
      readonly store?: "later";
      readonly dropsTexts?: boolean;
      /** The owner's when what is kept was read. Default: as it is now. */
      readonly epoch?: number;
      /** For a user who is fenced off, by who did so. */
      readonly behindFence?: true;
    },
  ): Promise<{ readonly result: T; readonly memories: OwnerMemories }> {
    const epoch = options.epoch ?? (await this.epoch(owner));
    return this.#exclusively(owner, async () => {
      for (let tries = 1; ; tries++) {
        const held = await this.#load(owner);
        const { memories } = held;
        const { entry: planned, result } = await plan(memories);
        const entry = planned === null ? null : withNarrativesOf(planned, memories.records);
        const { now, behindFence } = options;
        const append = { expectedSeq: memories.seq, epoch, now, ...(behindFence && { behindFence }) };
        try {
          if (entry !== null) memories.fold(await this.#parts.log.append(owner, entry, append));
        } catch (error) {
          const isBehind = isAppError(error, "MEMORIES_CHANGED");
          if (isBehind && tries < MAX_TRIES) continue;
          this.#held.delete(owner);
          throw error;
        }
        this.#held.set(owner, held);
        await this.#dropRemovedTexts(owner, memories);
        if (options.store !== "later") {
          const isWritten = await this.#project(owner, held, { epoch, ...(options.signal && { signal: options.signal }) });
          if (isWritten) await this.#sweepIfErased(owner, memories, epoch);
        }
        return { result, memories };
      }
    });
  }

  /** Writes the store anew from the log. */
  async rebuild(owner: Owner, signal: AbortSignal): Promise<number> {
    return this.#exclusively(owner, async () => {
      const held = await this.#load(owner);
      await this.#regain(owner, held);
      await this.#parts.projection.mend(owner, held.memories, { signal, anew: true });
      held.level = held.memories.seq;
      return held.memories.records.size;
    });
  }

  /** Changes what stands in the log. */
  async redact(owner: Owner, change: (record: MemoryRecord) => MemoryRecord | null): Promise<void> {
    await this.#exclusively(owner, async () => {
      await this.#parts.log.redact(owner, change);
      this.#held.delete(owner);
    });
  }

  /** Runs alone for the owner; afterwards nothing of them is held. */
  async alone<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    return this.#exclusively(owner, async () => {
      try {
        return await work();
      } finally {
        this.#held.delete(owner);
      }
    });
  }

  /** Resolves when no change runs or waits. */
  settled(): Promise<void> {
    return this.#mutex.settled();
  }

  #exclusively<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    const { alone } = this.#parts;
    return this.#mutex.run(owner, alone === undefined ? work : () => alone(owner, work));
  }

  async #isCurrent(owner: Owner, held: Held, seenSeq?: number): Promise<boolean> {
    // One that differs may be of before a write of this process, or of behind another's erasure.
    return held.memories.seq === seenSeq || held.memories.seq === (await this.#lastSeq(owner));
  }

  /** One look for all who ask at the same time, before it is taken. */
  #lastSeq(owner: Owner): Promise<number> {
    const look =
      this.#looks.get(owner) ??
      Promise.resolve()
        .then(() => this.#looks.delete(owner))
        .then(() => this.#parts.log.lastSeq(owner));
    this.#looks.set(owner, look);
    return look;
  }

  /** For one who holds the mutex. */
  async #load(owner: Owner): Promise<Held> {
    const { log, ledger, projection, clock } = this.#parts;
    let held = this.#held.get(owner);
    if (held !== undefined && held.memories.seq === (await log.lastSeq(owner))) return held;
    if (held === undefined || held.memories.seq > (await log.lastSeq(owner)))
      held = { memories: new OwnerMemories(), level: null, begun: false };
    for await (const entry of log.read(owner, { fromSeq: held.memories.seq + 1 })) {
      held.memories.fold(entry);
      // Another process wrote it, and most likely to the store as well: the store says.
      held.level = null;
    }
    if (held.memories.seq === 0 && !held.begun) {
      const epoch = await ledger.epoch(owner);
      const puts = await projection.before(owner);
      if (puts.length > 0) {
        const seed: NewMemoryLogEntry = { kind: "seed", turn: null, puts, removed: [] };
        held.memories.fold(await log.append(owner, seed, { expectedSeq: 0, epoch, behindFence: true, now: clock.now() }));
      }
      held.begun = true;
    }
    await this.#dropRemovedTexts(owner, held.memories);
    this.#held.set(owner, held);
    return held;
  }

  async #dropRemovedTexts(owner: Owner, memories: OwnerMemories): Promise<void> {
    if (!memories.holdsRemovedTexts) return;
    // Another process may have put something behind what was folded here.
    const stands = (id: string, seq: number) => seq > memories.seq || memories.records.has(id);
    await this.#parts.log.redact(owner, (record, seq) => (stands(record.id, seq) ? record : null));
    memories.redacted();
  }

  /**
   * What came into the store behind an erasure goes again: no epoch stands in the way there of a process that was stopped for long, and
   * then went on. While the log is there the erasure has yet to come to both. @throws OWNER_ERASED
   */
  async #sweepIfErased(owner: Owner, written: OwnerMemories, epoch: number): Promise<void> {
    if ((await this.epoch(owner)) === epoch || (await this.#parts.log.lastSeq(owner)) >= written.seq) return;
    this.#held.delete(owner);
    const { memories } = await this.#load(owner);
    await this.#parts.projection.mend(owner, memories, {});
    throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
  }

  /** What an older copy of the log lacks is taken back into it from the store. */
  async #regain(owner: Owner, { memories }: Held): Promise<void> {
    const { log, ledger, projection, clock } = this.#parts;
    const tail = await projection.lostTail(owner, memories);
    if (tail === null || tail.puts.length + tail.removed.length === 0) return;
    const epoch = await ledger.epoch(owner);
    const seed: NewMemoryLogEntry = { kind: "seed", turn: null, ...tail };
    memories.fold(await log.append(owner, seed, { expectedSeq: memories.seq, epoch, behindFence: true, now: clock.now() }));
    await this.#dropRemovedTexts(owner, memories);
  }

  /**
   * False where nothing had to be written. `epoch`: of what is carried over; what lands behind an erasure is then known as of before it.
   * Default: as it is now.
   */
  async #project(owner: Owner, held: Held, options: { readonly signal?: AbortSignal; readonly epoch?: number }): Promise<boolean> {
    const { projection } = this.#parts;
    const { level, memories } = held;
    if (follows(held)) return false;
    held.level = null;
    if (level === null) {
      await this.#regain(owner, held);
      await projection.mend(owner, memories, options);
    } else await projection.complete(owner, memories, level, options);
    held.level = memories.seq;
    return true;
  }
}

/** Entries that change no memory leave the store as it is: what it says of itself follows with the next one that does. */
function follows({ level, memories }: Held): boolean {
  return level !== null && level >= memories.changedSeq;
}

/**
 * The entry, taking along what is told of the memories that it removes, words otherwise, or that hold no longer: a narrative that holds
 * their words is gone in the same write.
 */
export function withNarrativesOf(entry: NewMemoryLogEntry, records: ReadonlyMap<string, MemoryRecord>): NewMemoryLogEntry {
  const untold = entry.puts.filter((record) => isToldNoMore(records.get(record.id), record)).map(({ id }) => id);
  const gone = new Set([...entry.removed, ...untold]);
  if (gone.size === 0) return entry;
  const [put, removed] = [new Set(entry.puts.map(({ id }) => id)), new Set(entry.removed)];
  const telling = [...records.values()].filter(
    (record) => record.type === "narrative" && !removed.has(record.id) && !put.has(record.id) && madeOf(record).some((id) => gone.has(id)),
  );
  return telling.length === 0 ? entry : { ...entry, removed: [...entry.removed, ...telling.map(({ id }) => id)] };
}

function isToldNoMore(before: MemoryRecord | undefined, after: MemoryRecord): boolean {
  if (before === undefined) return false;
  return before.text !== after.text || (before.status === "active" && after.status !== "active");
}
