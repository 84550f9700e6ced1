import { LRUCache } from "lru-cache";
import type { OwnerEvent } from "../../domain/event.js";
import type { Owner } from "../../domain/owner.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { Logger } from "../../platform/logger.js";
import type { AppendMemoryOptions, ChangeRecord, MemoryLog, MemoryLogEntry, NewMemoryLogEntry } from "../../ports/memory-log.js";
import { memoryEvents } from "../journal/memory-log-events.js";
import type { SqliteEventLog } from "./sqlite-event-log.js";

/** Owners whose log is known to be told. */
const TOLD_OWNERS = 10_000;
/** Entries that tell nothing and are not noted one by one: after a crash so many are looked at once more. */
const NOT_NOTED = 64;

/**
 * A memory log whose entries are told as events, right behind each entry. What a crash kept from being told is told at the next start,
 * for every owner whose log the killed process had written; and before an owner's next entry.
 */
export class ToldMemoryLog implements MemoryLog {
  readonly #log: MemoryLog;
  readonly #events: SqliteEventLog;
  readonly #logger: Logger;
  readonly #mutex = new KeyedMutex();
  /** With the entry up to which that is noted. */
  readonly #told = new LRUCache<Owner, number>({ max: TOLD_OWNERS });
  readonly #behind = new Set<Owner>();
  #caughtUp = false;
  #closed = false;

  constructor(log: MemoryLog, events: SqliteEventLog, logger: Logger) {
    this.#log = log;
    this.#events = events;
    this.#logger = logger;
  }

  /** To be called at the start. `all`: what was told is not known any more, of anybody. Never rejects. */
  async catchUp({ all = false }: { readonly all?: boolean } = {}): Promise<void> {
    try {
      for await (const owner of all ? this.#log.owners() : this.#events.openOwners()) {
        if (this.#closed) return;
        await this.#mutex.run(owner, () => this.#level(owner));
      }
      this.#caughtUp = true;
    } catch (error) {
      this.#logger.error({ err: error }, "what happened to users' memories could not be caught up with; the next start goes on");
    }
  }

  append(owner: Owner, entry: NewMemoryLogEntry, options: AppendMemoryOptions): Promise<MemoryLogEntry> {
    return this.#mutex.run(owner, async () => {
      if (!this.#told.has(owner)) await this.#level(owner);
      const written = await this.#log.append(owner, entry, options);
      if (this.#told.has(owner)) this.#tell(owner, memoryEvents(owner, written), written.seq);
      return written;
    });
  }

  /** Tells what the log has beyond what was told. An event log that can't follow fails no write: it is caught up with later. */
  async #level(owner: Owner): Promise<void> {
    try {
      const last = await this.#log.lastSeq(owner);
      const followed = Math.min(this.#events.followedTo(owner) ?? 0, last);
      const events: OwnerEvent[] = [];
      if (followed < last)
        for await (const entry of this.#log.read(owner, { fromSeq: followed + 1 })) events.push(...memoryEvents(owner, entry));
      this.#tell(owner, events, last);
    } catch (error) {
      this.#failed(owner, error);
    }
  }

  #tell(owner: Owner, events: readonly OwnerEvent[], seq: number): void {
    const noted = this.#told.get(owner);
    if (events.length === 0 && noted !== undefined && seq - noted < NOT_NOTED) return;
    try {
      this.#events.follow(owner, events, seq, true);
      this.#told.set(owner, seq);
      this.#behind.delete(owner);
    } catch (error) {
      this.#failed(owner, error);
    }
  }

  #failed(owner: Owner, error: unknown): void {
    this.#told.delete(owner);
    this.#behind.add(owner);
    this.#logger.error({ err: error }, "what happened to a user's memories could not be told; it is caught up with");
  }

  read(owner: Owner, options?: { readonly fromSeq?: number; readonly signal?: AbortSignal }): AsyncIterable<MemoryLogEntry> {
    return this.#log.read(owner, options);
  }

  lastSeq(owner: Owner): Promise<number> {
    return this.#log.lastSeq(owner);
  }

  redact(owner: Owner, change: ChangeRecord): Promise<void> {
    return this.#log.redact(owner, change);
  }

  owners(): AsyncIterable<Owner> {
    return this.#log.owners();
  }

  erase(owner: Owner): Promise<number> {
    return this.#mutex.run(owner, () => {
      this.#told.delete(owner);
      return this.#log.erase(owner);
    });
  }

  residue(owner: Owner): Promise<number> {
    return this.#log.residue(owner);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#mutex.settled();
    if (this.#caughtUp && this.#behind.size === 0) this.#events.allTold();
    await this.#log.close();
  }
}
