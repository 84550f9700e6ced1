import { hash } from "node:crypto";
import type { RedisConnection } from "./redis-connection.js";
import { REPAIR } from "./scripts.js";

const SHARDS = 16;
/** A commit is refused so long after its alarm was announced, in milliseconds by the engine's clock. */
const COMMITS_WITHIN_MS = 10_000;
/** Before so long a hint is not repaired; the difference is what the clocks of a Cluster's servers may differ by. */
const REPAIRS_AFTER_MS = 30_000;
/** Partitions that are remembered as registered. */
const MOST_REMEMBERED = 100_000;

/** An alarm may ring at `dueMs`, and not before. */
export interface Hint {
  readonly partition: string;
  readonly dueMs: number;
}

/**
 * Which partitions there are, and when each may be due: in shards that lie in other slots of a Cluster than the partitions, so that no
 * script can write both. What holds stands with the partition; the index promises too much, and never too little: it is written before the
 * partition. An alarm's hint is announced, then committed within a time, and repaired only after that time: no repair takes away the hint
 * of a commit that is still to come, and no commit depends on a hint.
 */
export class PartitionIndex {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #registered = new Set<string>();
  /** The engine's clock less this process's own. */
  #aheadMs = 0;

  constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  /** Keys of this name, one a shard. */
  keys(name: string): readonly string[] {
    return Array.from({ length: SHARDS }, (_, shard) => this.#key(shard, name));
  }

  sawClock(engineMs: unknown): number {
    this.#aheadMs = Number(engineMs) - performance.now();
    return Number(engineMs);
  }

  /** Sent before it returns. `deadlineMs`: of the commit, by the engine's clock; undefined where it sets no alarm. */
  announce(partition: string, dueMs: number | null): { readonly written: Promise<unknown>; readonly deadlineMs: number | undefined } {
    const shard = shardOf(partition);
    const nowMs = Math.trunc(performance.now() + this.#aheadMs);
    const written: Promise<unknown>[] = [];
    if (!this.#registered.has(partition)) written.push(this.#register(shard, partition));
    if (dueMs === null) return { written: Promise.all(written), deadlineMs: undefined };
    written.push(this.#connection.command("ZADD", this.#key(shard, "announced"), "GT", nowMs, partition));
    written.push(this.#connection.command("ZADD", this.#key(shard, "alarms"), "LT", dueMs, partition));
    return { written: Promise.all(written), deadlineMs: nowMs + COMMITS_WITHIN_MS };
  }

  /** Hints up to `dueMs`, `count` of each shard behind the first `offset`. All that are not given here are at `horizonMs` or later. */
  async hints(dueMs: number, offset: number, count: number): Promise<{ readonly hints: readonly Hint[]; readonly horizonMs: number }> {
    const ask = (key: string) =>
      this.#connection.command("ZRANGEBYSCORE", key, "-inf", dueMs, "WITHSCORES", "LIMIT", offset, count) as Promise<readonly string[]>;
    let horizonMs = Number.POSITIVE_INFINITY;
    const hints: Hint[] = [];
    for (const found of await Promise.all(this.keys("alarms").map(ask))) {
      for (let at = 0; at < found.length; at += 2) hints.push({ partition: found[at] ?? "", dueMs: Number(found[at + 1]) });
      if (found.length >= 2 * count) horizonMs = Math.min(horizonMs, Number(found.at(-1)));
    }
    return { hints, horizonMs };
  }

  /** Sets a hint to what the partition was seen to hold at `seenMs` (null: no alarm), unless it has been announced anew. */
  async repair({ partition, dueMs }: Hint, holdsMs: number | null, seenMs: number): Promise<void> {
    const shard = shardOf(partition);
    const keys = { alarms: this.#key(shard, "alarms"), announced: this.#key(shard, "announced") };
    await this.#connection.run(REPAIR, keys, partition, dueMs, holdsMs ?? "", seenMs - REPAIRS_AFTER_MS);
  }

  /** Registered partitions, page by page, by shard and name. */
  async *registered(after: string | undefined, count: number): AsyncGenerator<readonly string[]> {
    let from = after === undefined ? "-" : `(${after}`;
    for (let shard = after === undefined ? 0 : shardOf(after); shard < SHARDS; ) {
      const key = this.#key(shard, "partitions");
      const found = (await this.#connection.command("ZRANGEBYLEX", key, from, "+", "LIMIT", 0, count)) as readonly string[];
      yield found;
      if (found.length < count) shard += 1;
      from = found.length < count ? "-" : `(${found.at(-1)}`;
    }
  }

  async #register(shard: number, partition: string): Promise<void> {
    await this.#connection.command("ZADD", this.#key(shard, "partitions"), 0, partition);
    if (this.#registered.size >= MOST_REMEMBERED) this.#registered.clear();
    this.#registered.add(partition);
  }

  #key(shard: number, name: string): string {
    return `{${this.#prefix}:index:${shard}}:${name}`;
  }
}

function shardOf(partition: string): number {
  return Number.parseInt(hash("sha1", partition).slice(0, 4), 16) % SHARDS;
}
