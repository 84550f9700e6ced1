export interface WriteBackWorkerOptions {
  /** Turns written back at the same time, half of them of one owner at most: whose hang leave room for others'. Default 4. */
  readonly concurrency?: number;
  /** Tries before a turn is failed. Default 8. */
  readonly maxAttempts?: number;
  /** Delay after the first failure; doubles with each. Default 500. */
  readonly backoffBaseMs?: number;
  /** Default 60,000. */
  readonly backoffMaxMs?: number;
  /** Bound of one try. Default 60,000. */
  readonly timeoutMs?: number;
  /**
   * How long an answered turn waits, so that those which come quickly are read together. Who flushes, hurries or drains doesn't wait.
   * Default 0.
   */
  readonly delayMs?: number;
  /** How often due turns are looked for beside being told. Default 1,000. */
  readonly pollMs?: number;
  /** 0 to below 1; for the jitter. Default Math.random. */
  readonly random?: () => number;
}
