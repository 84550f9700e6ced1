import { setTimeout as sleep } from "node:timers/promises";
import { handleWhen, retry } from "cockatiel";
import { EmbeddingFailure } from "./embedding-failure.js";

export interface Patience {
  /** Tries after the first. */
  readonly retries: number;
  /** Longest wait before one of them, in milliseconds. A service that asks for more is not waited for at all. */
  readonly maxWaitMs: number;
}

const FIRST_WAIT_MS = 100;

/**
 * Tries again what may pass, after what `Retry-After` says or with exponential backoff and jitter, within bounds; the wait ends at once
 * with
 * the signal (the SDK's own does not: openai/openai-node#2580).
 */
export async function withRetries<T>(work: () => Promise<T>, patience: Patience, signal: AbortSignal | undefined): Promise<T> {
  let attempt = 0;
  let waitMs = 0;
  const again = handleWhen((error) => {
    if (!(error instanceof EmbeddingFailure) || !error.passing) return false;
    waitMs = error.retryAfterMs ?? Math.min(patience.maxWaitMs, FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2));
    return waitMs <= patience.maxWaitMs;
  });
  // The policy's own delay pays no heed to a signal: the wait is ours.
  const policy = retry(again, { maxAttempts: patience.retries, backoff: { next: () => NO_DELAY } });
  return policy.execute(async ({ attempt: now }) => {
    attempt = now;
    if (now > 0) await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
    return work();
  });
}

const NO_DELAY = { duration: 0, next: () => NO_DELAY };
