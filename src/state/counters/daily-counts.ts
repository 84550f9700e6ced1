import { hash } from "node:crypto";
import type { DailyCounts } from "../../ports/daily-counts.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";

const PARTITION = systemPartition("tokens");

/** How long what was counted may be known to this process alone. */
const FLUSH_MS = 250;
/** Days behind the last one that was counted on; older ones are dropped. */
const DAYS_KEPT = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Counters in one commit, and as many of old days that go with it. */
const AT_ONCE = 40;

/**
 * Counters that all processes add to: `{prefix}/{day}/{hash of the tenant}`. A process adds up what it counts and writes it after 250 ms at
 * the latest: so much may be lost with it.
 */
export class EngineDailyCounts implements DailyCounts {
  readonly #engine: StateEngine;
  readonly #prefix: string;
  readonly #waiting = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();

  /** `prefix`: what is counted by another name is counted apart. */
  constructor(engine: StateEngine, prefix: string) {
    this.#engine = engine;
    this.#prefix = prefix;
  }

  async add(tenant: string, day: string, count: number): Promise<void> {
    if (count === 0) return;
    this.#wait(this.#keyOf(day, tenant), count);
    this.#timer ??= setTimeout(() => {
      // What can't be written is tried again with the next.
      this.#flush().catch(() => {});
    }, FLUSH_MS).unref();
  }

  async spent(tenant: string, day: string): Promise<number> {
    await this.#flush();
    const key = this.#keyOf(day, tenant);
    return countOf((await this.#engine.read(PARTITION, { keys: [key] })).entries.get(key));
  }

  async tenantsFrom(day: string, count: number): Promise<number> {
    await this.#flush();
    const { ranges } = await this.#engine.read(PARTITION, { ranges: [prefixRange(`${this.#prefix}/${day}/`)] });
    return (ranges[0] ?? []).filter((entry) => countOf(entry) >= count).length;
  }

  /** @throws STORAGE_UNAVAILABLE where the last counts can't be written; they are lost then */
  async close(): Promise<void> {
    await this.#flush();
  }

  #keyOf(day: string, tenant: string): string {
    return `${this.#prefix}/${day}/${hash("sha256", tenant)}`;
  }

  #wait(key: string, count: number): void {
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + count);
  }

  /** One after the other. */
  #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.size > 0) {
      const added = [...this.#waiting].slice(0, AT_ONCE);
      for (const [key] of added) this.#waiting.delete(key);
      try {
        await this.#add(added);
      } catch (error) {
        for (const [key, count] of added) this.#wait(key, count);
        throw error;
      }
    }
  }

  async #add(added: readonly (readonly [string, number])[]): Promise<void> {
    const keys = added.map(([key]) => key);
    const ranges = [{ from: `${this.#prefix}/`, to: `${this.#prefix}/${firstKept(keys)}`, limit: AT_ONCE }];
    await optimisticCommit(this.#engine, PARTITION, { keys, ranges }, (read) => ({
      commit: {
        checks: unchanged(read, ...keys),
        puts: added.map(([key, count]) => ({ key, value: String(countOf(read.entries.get(key)) + count) })),
        deletes: (read.ranges[0] ?? []).map(({ key }) => key),
      },
      result: undefined,
    }));
  }
}

function countOf(entry: StoredEntry | undefined): number {
  return Number(entry?.value ?? 0);
}

/** The first day that isn't dropped once there are such keys. */
function firstKept(keys: readonly string[]): string {
  const days = keys.map((key) => key.split("/")[1] ?? "");
  const last = Date.parse(days.toSorted().at(-1) ?? "");
  return Number.isNaN(last) ? "" : new Date(last - DAYS_KEPT * DAY_MS).toISOString().slice(0, 10);
}
