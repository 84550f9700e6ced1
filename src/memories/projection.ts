import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { collected } from "../platform/collected.js";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { MemoryLog } from "../ports/memory-log.js";
import type { MemoryStore } from "../ports/memory-store.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { OwnerMemories } from "./owner-memories.js";
import { notForgotten, stillKept } from "./unforgotten.js";

export interface ProjectionParts {
  readonly log: MemoryLog;
  readonly store: MemoryStore;
  readonly ledger: Pick<OwnerLedger, "epoch" | "tombstones" | "receipts">;
  readonly logger: Logger;
}

/** Logs that are compared with the store when it is asked how it does. */
const MAX_LOOKED_AT = 1_000;

/** Keeps the store level with the log: what a crash, a lost file or an old copy left is mended from the log, without a model. */
export class Projection {
  readonly #parts: ProjectionParts;
  /** True once it is known that this installation writes to this store. */
  #known = false;
  /** Owners whose log was found to be an older copy. */
  readonly #short = new Set<Owner>();
  #looked: Promise<void> | undefined;

  constructor(parts: ProjectionParts) {
    this.#parts = parts;
  }

  /**
   * Memories of before there was a log, read from the store: what the log is to begin with. Empty for an owner of whom nothing lies there.
   * Notes that this installation writes here, where no owner of it has a log yet.
   */
  async before(owner: Owner): Promise<readonly MemoryRecord[]> {
    const { store, ledger, log } = this.#parts;
    const records = await collected(store.all(owner));
    if (store.remote && !this.#known && (await isEmpty(log.owners()))) await this.announce();
    return stillKept(ledger, owner, records);
  }

  /** From now on the store is filled by itself. */
  async announce(): Promise<void> {
    await this.#parts.store.announce();
    this.#known = true;
  }

  /** False for a server in which nothing of this installation lies, though its logs hold memories. */
  async mayFill(): Promise<boolean> {
    const { store, log } = this.#parts;
    if (!store.remote || this.#known) return true;
    this.#known = await store.knowsUs();
    return this.#known || (await isEmpty(log.owners()));
  }

  /**
   * How many owners' logs are shorter than what the store was given from them: older copies that were restored. Looks at the first 1,000
   * once, and knows of those that were met since.
   */
  async shortLogs(): Promise<number> {
    this.#looked ??= this.#lookForShortLogs().catch(() => {
      // Out of reach: looked at again when it is asked the next time.
      this.#looked = undefined;
    });
    await this.#looked;
    return this.#short.size;
  }

  /**
   * What an older copy of the log lacks: the store's records that are newer, but for what was forgotten or erased since, and the log's own
   * that were forgotten since. Null where the log is no older copy.
   */
  async lostTail(
    owner: Owner,
    memories: OwnerMemories,
  ): Promise<{ readonly puts: readonly MemoryRecord[]; readonly removed: readonly string[] } | null> {
    if (!(await this.#isShort(owner))) return null;
    const { store, ledger, logger } = this.#parts;
    const newer: MemoryRecord[] = [];
    for await (const record of store.all(owner))
      if (record.updated_at > (memories.records.get(record.id)?.updated_at ?? "")) newer.push(record);
    const own = [...memories.records.values()];
    const kept = new Set(notForgotten(owner, own, await ledger.tombstones(owner)).map(({ id }) => id));
    const puts = await stillKept(ledger, owner, newer);
    const removed = own.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
    logger.warn(
      { regained: puts.length, forgotten: removed.length },
      "A memory log is an older copy of what the store was given from it. What the store still holds of the rest is taken back into it",
    );
    return { puts, removed };
  }

  async #lookForShortLogs(): Promise<void> {
    let looked = 0;
    for await (const owner of this.#parts.log.owners()) {
      await this.#isShort(owner);
      if (++looked === MAX_LOOKED_AT) return;
    }
  }

  async #isShort(owner: Owner): Promise<boolean> {
    const { store, ledger, log } = this.#parts;
    const marker = await store.marker(owner);
    // The log is asked last: somebody else may have gone on meanwhile.
    const isShort = marker !== null && marker.epoch === (await ledger.epoch(owner)) && marker.seq > (await log.lastSeq(owner));
    if (isShort) this.#short.add(owner);
    return isShort;
  }

  /**
   * Brings the store level with an owner's memories, from what the store says of itself. `epoch`: the owner's when the memories were read.
   * @throws LONG_TERM_MEMORY_UNAVAILABLE when that can't be done, or may not by itself
   */
  async mend(
    owner: Owner,
    memories: OwnerMemories,
    options: { readonly signal?: AbortSignal; readonly anew?: boolean; readonly epoch?: number },
  ): Promise<void> {
    const { store, ledger, logger } = this.#parts;
    const epochNow = options.epoch ?? ledger.epoch(owner);
    const [marker, count, epoch] = await Promise.all([store.marker(owner), store.count(owner), epochNow]);
    const { seq, records } = memories;
    if (options.anew !== true) {
      if (marker === null && seq === 0 && count === 0) return;
      const trusted = marker !== null && marker.count === count && marker.epoch === epoch && marker.seq <= seq;
      if (trusted && marker.seq >= memories.changedSeq && count === records.size) return;
      if (trusted) {
        await this.complete(owner, memories, marker.seq, options);
        if ((await store.count(owner)) === records.size) return;
      }
      if (marker === null && seq > 0 && !(await this.mayFill()))
        throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", {
          detail: "Nothing of this installation lies in the store of memories.",
          hint: "Run `maitred reindex --memories` to fill it.",
        });
    }
    const there: string[] = [];
    for await (const { id } of store.all(owner)) if (!records.has(id)) there.push(id);
    await store.project(owner, { puts: [...records.values()], removed: there, marker: { seq, count: records.size, epoch } }, options);
    logger.info({ memories: records.size, swept: there.length }, "The store of memories was made level with the log");
  }

  /** Carries what changed behind an entry over to the store. */
  async complete(
    owner: Owner,
    memories: OwnerMemories,
    behind: number,
    { epoch, ...options }: { readonly signal?: AbortSignal; readonly epoch?: number },
  ): Promise<void> {
    const { store, ledger } = this.#parts;
    const marker = { seq: memories.seq, count: memories.records.size, epoch: epoch ?? (await ledger.epoch(owner)) };
    await store.project(owner, { ...memories.since(behind), marker }, options);
  }
}

async function isEmpty(items: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of items) return false;
  return true;
}
