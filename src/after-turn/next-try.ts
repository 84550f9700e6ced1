import type { ErrorCode } from "../platform/errors.js";
import type { PendingTurn } from "../ports/session-store.js";
import type { WriteBackWorkerOptions } from "./worker-options.js";

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
