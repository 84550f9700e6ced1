import { hash } from "node:crypto";
import type { DailyTokens } from "../../ports/daily-tokens.js";
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
 * Counters that all processes add to: `count/{day}/{hash of the tenant}`. A process adds up what it counts and writes it after 250 ms at
 * the latest: so much may be lost with it.
 */
export class EngineDailyTokens implements DailyTokens {
  readonly #engine: StateEngine;
  readonly #waiting = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async add(tenant: string, day: string, tokens: number): Promise<void> {
    this.#wait(countKey(day, tenant), Math.round(tokens));
    this.#timer ??= setTimeout(() => {
      // What can't be written is tried again with the next.
      this.#flush().catch(() => {});
    }, FLUSH_MS).unref();
  }

  async spent(tenant: string, day: string): Promise<number> {
    await this.#flush();
    const key = countKey(day, tenant);
    return countOf((await this.#engine.read(PARTITION, { keys: [key] })).entries.get(key));
  }

  async tenantsFrom(day: string, tokens: number): Promise<number> {
    await this.#flush();
    const { ranges } = await this.#engine.read(PARTITION, { ranges: [prefixRange(`count/${day}/`)] });
    return (ranges[0] ?? []).filter((entry) => countOf(entry) >= tokens).length;
  }

  /** @throws STORAGE_UNAVAILABLE where the last counts can't be written; they are lost then */
  async close(): Promise<void> {
    await this.#flush();
  }

  #wait(key: string, tokens: number): void {
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + tokens);
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
        for (const [key, tokens] of added) this.#wait(key, tokens);
        throw error;
      }
    }
  }

  async #add(added: readonly (readonly [string, number])[]): Promise<void> {
    const keys = added.map(([key]) => key);
    const ranges = [{ from: "count/", to: firstKept(keys), limit: AT_ONCE }];
    await optimisticCommit(this.#engine, PARTITION, { keys, ranges }, (read) => ({
      commit: {
        checks: unchanged(read, ...keys),
        puts: added.map(([key, tokens]) => ({ key, value: String(countOf(read.entries.get(key)) + tokens) })),
        deletes: (read.ranges[0] ?? []).map(({ key }) => key),
      },
      result: undefined,
    }));
  }
}

function countKey(day: string, tenant: string): string {
  return `count/${day}/${hash("sha256", tenant)}`;
}

function countOf(entry: StoredEntry | undefined): number {
  return Number(entry?.value ?? 0);
}

/** The first key that isn't dropped once there are such. */
function firstKept(keys: readonly string[]): string {
  const days = keys.map((key) => key.split("/")[1] ?? "");
  const last = Date.parse(days.toSorted().at(-1) ?? "");
  return `count/${Number.isNaN(last) ? "" : new Date(last - DAYS_KEPT * DAY_MS).toISOString().slice(0, 10)}`;
}
