import type { ErrorCode } from "../platform/errors.js";
import type { PendingTurn } from "../ports/session-store.js";

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

/** Something outside can't be reached, takes no more now, or doesn't answer in time: it passes, and no message is to blame for it. */
const OUTAGES: ReadonlySet<string> = new Set<ErrorCode>([
  "MODEL_UNAVAILABLE",
  "MODEL_TIMEOUT",
  "MODEL_QUOTA",
  "RATE_LIMITED",
  "EMBEDDING_UNAVAILABLE",
  "LONG_TERM_MEMORY_UNAVAILABLE",
  "HISTORY_UNAVAILABLE",
  "STORAGE_UNAVAILABLE",
  // Another reading of the same owner's, which may take long.
  "SESSION_BUSY",
  "SERVER_UNREACHABLE",
]);

/**
 * A reader that was asked as often as it is asked for a message, or whose window is too small for it: whoever wants it read all the same
 * says so.
 */
const IN_VAIN: ReadonlySet<string> = new Set<ErrorCode>(["EXTRACTION_FAILED", "CONTEXT_TOO_LARGE"]);

/** How a try to write a turn back ended. */
export interface FailedTry {
  readonly code: string;
  /** Whether the time of the try was up. */
  readonly late: boolean;
}

/** How often a turn is tried. As {@link WriteBackWorkerOptions} has them, all of them given. */
export type TryLimits = Required<
  Pick<WriteBackWorkerOptions, "maxAttempts" | "backoffBaseMs" | "backoffMaxMs" | "outageAttempts" | "outageBackoffMaxMs" | "random">
>;

/**
 * In how many milliseconds a turn is tried again that failed now; null where it is given up. `pending`: as it was before. Through an outage
 * tries go on for hours; a message that was read in vain is given up at once. Any other error may be the message's own: it is given up
 * after fewer tries, but not at once where an outage has used those up: the first such error behind one has another try.
 */
export function nextTryMs(
  pending: Pick<PendingTurn, "attempts" | "errorCode">,
  { code, late }: FailedTry,
  limits: TryLimits,
): number | null {
  const { maxAttempts, backoffBaseMs, backoffMaxMs, outageAttempts, outageBackoffMaxMs, random } = limits;
  if (IN_VAIN.has(code) && !late) return null;
  const attempts = pending.attempts + 1;
  const isOutage = late || OUTAGES.has(code);
  const goesOn = isOutage || OUTAGES.has(pending.errorCode ?? "");
  if (attempts >= (goesOn ? outageAttempts : maxAttempts)) return null;
  const waitMs = Math.min(isOutage ? outageBackoffMaxMs : backoffMaxMs, backoffBaseMs * 2 ** (attempts - 1));
  return waitMs * (waitMs > backoffMaxMs ? (1 + random()) / 2 : random());
}
