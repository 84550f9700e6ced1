export interface WriteBackWorkerOptions {
  /** Turns written back at the same time, half of them of one owner at most: whose hang leave room for others'. Default 4. */
  readonly concurrency?: number;
  /** Tries before a turn is failed. Default 8. */
  readonly maxAttempts?: number;
  /** Tries where something outside is out of reach. Default: `maxAttempts` where it is given, else 74, which takes some 8 hours. */
  readonly outageAttempts?: number;
  /** Delay after the first failure; doubles with each. Default 500. */
  readonly backoffBaseMs?: number;
  /** Up to here a delay is anything between nothing and its whole; what is longer, between its half and its whole. Default 60,000. */
  readonly backoffMaxMs?: number;
  /** The same while something outside is out of reach. Default 600,000. */
  readonly outageBackoffMaxMs?: number;
  /** Bound of one try, asked when it begins. Default 60,000. */
  readonly timeoutMs?: () => number;
  /**
   * How long an answered turn waits, so that those which come quickly are read together. Who flushes, hurries or drains doesn't wait.
   * Default 0.
   */
  readonly delayMs?: number;
  /** How long a turn that was left to be read waits at most, as the write-back has it: who drains takes those of so long. Default 0. */
  readonly leftMs?: number;
  /** How often due turns are looked for beside being told. Default 1,000. */
  readonly pollMs?: number;
  /** 0 to below 1; for the jitter. Default Math.random. */
  readonly random?: () => number;
}

/** Some 8 hours, with delays of up to 10 minutes. */
const OUTAGE_ATTEMPTS = 74;

export function withDefaults(options: WriteBackWorkerOptions): Required<WriteBackWorkerOptions> {
  return {
    concurrency: 4,
    maxAttempts: 8,
    outageAttempts: options.maxAttempts ?? OUTAGE_ATTEMPTS,
    backoffBaseMs: 500,
    backoffMaxMs: 60_000,
    outageBackoffMaxMs: 10 * 60_000,
    timeoutMs: () => 60_000,
    delayMs: 0,
    leftMs: 0,
    pollMs: 1_000,
    random: Math.random,
    ...options,
  };
}
