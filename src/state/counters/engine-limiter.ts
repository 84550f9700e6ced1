import { hash } from "node:crypto";
import { RateLimiterRes } from "rate-limiter-flexible";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { MakeLimiter } from "../../ports/counters.js";
import type { StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { numberKey, systemPartition } from "../partition.js";

/** Hex digits of the key's hash that tell its partition. */
const SHARD_DIGITS = 2;
/** Counters of windows before that go with one request. */
const DROPPED = 10;

/**
 * Counters that all processes share: `limit/{start of the window, in seconds}/{hash of the key}`. The engine's clock says which window
 * it is. Once there are too many, `consume` rejects with a RateLimiterRes and writes nothing.
 */
export function engineLimiter(engine: StateEngine): MakeLimiter {
  return (points, seconds) => {
    const mutex = new KeyedMutex();
    // Of the last answer: as a rule the window that it still is.
    let startMs = 0;
    const consume = async (hashed: string): Promise<RateLimiterRes> => {
      for (;;) {
        const result = await consumeIn(engine, { hashed, points, seconds, startMs });
        if (typeof result === "number") startMs = result;
        else if (result.consumedPoints > points) throw result;
        else return result;
      }
    };
    return {
      consume: (key) => {
        const hashed = hash("sha256", key);
        return mutex.run(hashed, () => consume(hashed));
      },
    };
  };
}

interface Window {
  readonly hashed: string;
  readonly points: number;
  readonly seconds: number;
  readonly startMs: number;
}

/** How things stand, or the start of the window that has begun meanwhile. */
function consumeIn(engine: StateEngine, { hashed, points, seconds, startMs }: Window): Promise<RateLimiterRes | number> {
  const partition = systemPartition("limits", `${seconds}-${hashed.slice(0, SHARD_DIGITS)}`);
  const key = `${windowKey(startMs)}${hashed}`;
  const ranges = [{ from: "limit/", to: windowKey(startMs), limit: DROPPED }];
  return optimisticCommit<RateLimiterRes | number>(engine, partition, { keys: [key], ranges }, (read) => {
    const now = windowStart(read.nowMs, seconds);
    if (now !== startMs) return { commit: null, result: now };
    const consumed = Number(read.entries.get(key)?.value ?? 0) + 1;
    const result = new RateLimiterRes(Math.max(0, points - consumed), startMs + seconds * 1_000 - read.nowMs, consumed, consumed === 1);
    if (consumed > points) return { commit: null, result };
    const deletes = (read.ranges[0] ?? []).map((entry) => entry.key);
    return { commit: { checks: unchanged(read, key), puts: [{ key, value: String(consumed) }], deletes }, result };
  });
}

function windowStart(nowMs: number, seconds: number): number {
  return nowMs - (nowMs % (seconds * 1_000));
}

function windowKey(startMs: number): string {
  return `limit/${numberKey(startMs / 1_000)}/`;
}
