import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { optimisticChange, unchanged } from "../optimistic-commit.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";

const FLUSH_MS = 250;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Sums in one commit, and as many of old days that go with it. */
const AT_ONCE = 40;
const DAY = "2027-03-28".length;

interface BatchedSumsOptions<T> {
  readonly partition: string;
  /** What is counted by another name is counted apart. */
  readonly prefix: string;
  /** Under which hours are summed up by their days as well. Default: they aren't. */
  readonly daily?: string;
  readonly plus: (a: T, b: T) => T;
  /** Days behind the last one that was counted on; older ones are dropped. */
  readonly daysKept: number;
  /** How long what was counted may be known to this process alone, in milliseconds. Default: 250. */
  readonly flushMs?: number;
}

/**
 * Sums that all processes add to: `{prefix}/{day, or hour of it}/{name}`. A process adds up what it counts and writes it after `flushMs`
 * at the latest: so much may be lost with it.
 */
export class BatchedSums<T> {
  readonly #engine: StateEngine;
  readonly #options: BatchedSumsOptions<T>;
  readonly #waiting = new Map<string, T>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();

  constructor(engine: StateEngine, options: BatchedSumsOptions<T>) {
    this.#engine = engine;
    this.#options = options;
  }

  /** `period`: as 2027-03-28 or 2027-03-28T09, of UTC. */
  add(period: string, name: string, value: T): void {
    this.#wait(this.#keyOf(period, name), value);
    this.#timer ??= setTimeout(() => {
      // What can't be written is tried again with the next.
      this.flush().catch(() => {});
    }, this.#options.flushMs ?? FLUSH_MS).unref();
  }

  /** Null where nothing was counted. */
  async of(period: string, name: string): Promise<T | null> {
    await this.flush();
    return jsonOf<T>(await rowAt(this.#engine, this.#options.partition, this.#keyOf(period, name)));
  }

  /** In the order of periods, those from the one to before the other. `prefix`: that of hours, or of days. */
  async between(
    from: string,
    to: string,
    prefix = this.#options.prefix,
  ): Promise<readonly { readonly period: string; readonly name: string; readonly value: T }[]> {
    await this.flush();
    const rows = await rowsIn(this.#engine, this.#options.partition, { from: `${prefix}/${from}`, to: `${prefix}/${to}` });
    return rows.map(this.#named);
  }

  /** The first period that anything is kept of; null where nothing is. */
  async first(prefix = this.#options.prefix): Promise<string | null> {
    await this.flush();
    const [row] = await rowsIn(this.#engine, this.#options.partition, { ...prefixRange(`${prefix}/`), limit: 1 });
    return row === undefined ? null : this.#named(row).period;
  }

  /** One after the other. @throws STORAGE_UNAVAILABLE where they can't be written; they are kept for the next time */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write());
    return this.#flushing;
  }

  readonly #named = (entry: StoredEntry) => {
    const [, period = "", name = ""] = entry.key.split("/");
    return { period, name, value: jsonOf<T>(entry) };
  };

  #keyOf(period: string, name: string, prefix = this.#options.prefix): string {
    return `${prefix}/${period}/${name}`;
  }

  #wait(key: string, value: T): void {
    const before = this.#waiting.get(key);
    this.#waiting.set(key, before === undefined ? value : this.#options.plus(before, value));
  }

  async #write(): Promise<void> {
    while (this.#waiting.size > 0) {
      const added = [...this.#waiting].slice(0, this.#options.daily === undefined ? AT_ONCE : AT_ONCE / 2);
      for (const [key] of added) this.#waiting.delete(key);
      try {
        await this.#add(this.#withDays(added));
      } catch (error) {
        for (const [key, value] of added) this.#wait(key, value);
        throw error;
      }
    }
  }

  /** Each hour's sum counts for its day as well. */
  #withDays(added: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
    const { daily, plus } = this.#options;
    if (daily === undefined) return added;
    const days = new Map<string, T>();
    for (const [key, value] of added) {
      const [, hour = "", name = ""] = key.split("/");
      const day = this.#keyOf(hour.slice(0, DAY), name, daily);
      const before = days.get(day);
      days.set(day, before === undefined ? value : plus(before, value));
    }
    return [...added, ...days];
  }

  async #add(added: readonly (readonly [string, T])[]): Promise<void> {
    const { partition, prefix, daily = [], plus } = this.#options;
    const keys = added.map(([key]) => key);
    const first = this.#firstKept(keys);
    const ranges = [prefix, daily].flat().map((each) => ({ from: `${each}/`, to: `${each}/${first}`, limit: AT_ONCE / 2 }));
    await optimisticChange(this.#engine, partition, { keys, ranges }, (read) => ({
      checks: unchanged(read, ...keys),
      puts: added.map(([key, value]) => {
        const before = jsonOf<T>(read.entries.get(key));
        return { key, value: JSON.stringify(before === null ? value : plus(before, value)) };
      }),
      deletes: read.ranges.flat().map(({ key }) => key),
    }));
  }

  /** The first day that isn't dropped once there are such keys. */
  #firstKept(keys: readonly string[]): string {
    const days = keys.map((key) => key.split("/")[1]?.slice(0, DAY) ?? "");
    const last = Date.parse(days.toSorted().at(-1) ?? "");
    return Number.isNaN(last) ? "" : new Date(last - this.#options.daysKept * DAY_MS).toISOString().slice(0, DAY);
  }
}
