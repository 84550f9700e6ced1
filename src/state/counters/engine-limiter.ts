import { hash } from "node:crypto";
import { RateLimiterRes } from "rate-limiter-flexible";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { MakeLimiter } from "../../ports/counters.js";
import type { StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { numberKey, systemPartition } from "../partition.js";

/** Hex digits of the key's hash that tell its partition. */
const SHARD_DIGITS = 2;
/** Counters of windows before that go with one write. */
const DROPPED = 10;
/** In each window a process lets so many through before it asks the engine, and at most the limit's twentieth. */
const UNASKED = 2;
const UNASKED_SHARE = 20;
/** The share of what is left that a process takes ahead; where that is less than two it takes one for each request. */
const AHEAD_SHARE = 16;

/** What this process knows of a key in the window that it is in. */
interface Bucket {
  readonly startMs: number;
  /** Let through without the engine's knowing. */
  uncounted: number;
  /** Counted by the engine, and not used yet. */
  permits: number;
  /** By all processes, with what they have taken ahead, as the engine told last; null: it was not asked in this window. */
  counted: number | null;
  /** While more are being taken in the background. Never rejects. */
  taking: Promise<void> | null;
}

/**
 * Counters that all processes share: `limit/{start of the window, in seconds}/{hash of the key}`. The engine's clock says which window
 * it is. The first {@link UNASKED} requests of a window go through without a word; the last of them has the engine count them, and take
 * permits ahead, in the background, and so does whoever uses up half of those. Requests wait for the engine only where they come faster,
 * and near the limit, where they are counted one by one. So all processes together let at most the limit through, and of each but one of
 * them {@link UNASKED} more; permits that a process has taken and does not use are lost with the window. Once there are too many,
 * `consume` rejects with a RateLimiterRes and asks nobody until the window is over.
 *
 * `elapsedMs`: a clock that only runs forward. Default: the process's.
 */
export function engineLimiter(engine: StateEngine, elapsedMs: () => number = () => performance.now()): MakeLimiter {
  return (points, seconds) => new EngineLimiter(engine, { points, seconds, elapsedMs });
}

interface Limit {
  readonly points: number;
  readonly seconds: number;
  readonly elapsedMs: () => number;
}

class EngineLimiter {
  readonly #engine: StateEngine;
  readonly #limit: Limit;
  readonly #unasked: number;
  readonly #mutex = new KeyedMutex();
  /** What the engine's clock is ahead of the process's own; until it has told, it is taken for the machine's. */
  #aheadMs: number;
  /** Of one window: those of before are dropped with it. */
  #startMs = 0;
  #buckets = new Map<string, Bucket>();

  constructor(engine: StateEngine, limit: Limit) {
    this.#engine = engine;
    this.#limit = limit;
    this.#unasked = Math.min(UNASKED, Math.floor(limit.points / UNASKED_SHARE));
    this.#aheadMs = Date.now() - limit.elapsedMs();
  }

  async consume(key: string): Promise<RateLimiterRes> {
    const hashed = hash("sha256", key);
    return this.#without(hashed) ?? (await this.#mutex.run(hashed, () => this.#asking(hashed)));
  }

  /** How things stand where it can be told without the engine; null: it is to be asked. @throws RateLimiterRes where there are too many */
  #without(hashed: string): RateLimiterRes | null {
    const bucket = this.#bucketOf(hashed);
    if (bucket.permits > 0) bucket.permits -= 1;
    else if (bucket.counted === null && bucket.uncounted < this.#unasked) bucket.uncounted += 1;
    else if (bucket.counted !== null && bucket.counted >= this.#limit.points) throw this.#told(bucket, this.#limit.points + 1);
    else return null;
    this.#takeAhead(hashed, bucket);
    return this.#told(bucket);
  }

  async #asking(hashed: string): Promise<RateLimiterRes> {
    // Who was before in line may have taken enough, or all.
    for (let told = this.#without(hashed); ; told = this.#without(hashed)) {
      if (told !== null) return told;
      const bucket = this.#bucketOf(hashed);
      await (bucket.taking ?? this.#take(hashed, bucket, 1));
    }
  }

  #bucketOf(hashed: string): Bucket {
    const startMs = this.#windowAt(this.#nowMs());
    if (startMs !== this.#startMs) this.#buckets = new Map();
    this.#startMs = startMs;
    const bucket = this.#buckets.get(hashed) ?? { startMs, uncounted: 0, permits: 0, counted: null, taking: null };
    this.#buckets.set(hashed, bucket);
    return bucket;
  }

  #takeAhead(hashed: string, bucket: Bucket): void {
    const { counted, permits, uncounted } = bucket;
    const ahead = aheadOf(this.#limit.points - (counted ?? 0));
    const isDue = counted === null ? uncounted === this.#unasked : permits <= ahead / 2;
    if (bucket.taking !== null || ahead === 0 || !isDue) return;
    bucket.taking = this.#take(hashed, bucket, 0)
      // Where they can't be had, a later request waits for them.
      .catch(() => {})
      .finally(() => {
        bucket.taking = null;
      });
  }

  /** Has the engine count what it does not know of, what is `needed`, and what is taken ahead, as far as the limit allows. */
  async #take(hashed: string, bucket: Bucket, needed: number): Promise<void> {
    const { points, seconds, elapsedMs } = this.#limit;
    const { startMs, uncounted } = bucket;
    const partition = systemPartition("limits", `${seconds}-${hashed.slice(0, SHARD_DIGITS)}`);
    const key = `${windowKey(startMs)}${hashed}`;
    const ranges = [{ from: "limit/", to: windowKey(startMs), limit: DROPPED }];
    const counted = await optimisticCommit<{ readonly before: number; readonly taken: number } | null>(
      this.#engine,
      partition,
      { keys: [key], ranges },
      (read) => {
        this.#aheadMs = read.nowMs - elapsedMs();
        if (this.#windowAt(read.nowMs) !== startMs) return { commit: null, result: null };
        const before = Number(read.entries.get(key)?.value ?? 0);
        const left = Math.max(0, points - before);
        const taken = Math.min(left, uncounted + needed + aheadOf(left));
        const puts = [{ key, value: String(before + taken) }];
        const deletes = (read.ranges[0] ?? []).map((entry) => entry.key);
        const commit = { checks: unchanged(read, key), puts, deletes, durability: "relaxed" } as const;
        return { commit: taken === 0 ? null : commit, result: { before, taken } };
      },
    );
    // Another window has begun: what was counted here is that one's no more.
    if (counted === null) return;
    bucket.uncounted -= uncounted;
    bucket.permits += Math.max(0, counted.taken - uncounted);
    bucket.counted = counted.before + counted.taken;
  }

  #told({ startMs, counted, permits, uncounted }: Bucket, consumed = (counted ?? 0) - permits + uncounted): RateLimiterRes {
    const { points, seconds } = this.#limit;
    const leftMs = Math.max(0, startMs + seconds * 1_000 - this.#nowMs());
    return new RateLimiterRes(Math.max(0, points - consumed), leftMs, consumed, consumed === 1);
  }

  #nowMs(): number {
    return this.#limit.elapsedMs() + this.#aheadMs;
  }

  #windowAt(nowMs: number): number {
    return nowMs - (nowMs % (this.#limit.seconds * 1_000));
  }
}

/** Permits that are taken ahead where so many are left. */
function aheadOf(left: number): number {
  const share = Math.floor(left / AHEAD_SHARE);
  return share < 2 ? 0 : share;
}

function windowKey(startMs: number): string {
  return `limit/${numberKey(startMs / 1_000)}/`;
}
