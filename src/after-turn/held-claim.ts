import type { Logger } from "../platform/logger.js";
import type { PendingTurn, SessionIndex } from "../ports/session-store.js";

/** So long the turn of a worker that is gone is waited for, in milliseconds: by the next worker, and by an erasure. */
export const CLAIM_MS = 15_000;
/** In it one that lives renews so often, and sees that the turn is not its own any more. */
const RENEWALS = 15;

/** A worker's hold on a turn that it was given. */
export interface HeldClaim {
  /** With the claim as it is now. */
  readonly turn: PendingTurn;
  /** Renews it no more. */
  end(): void;
}

/**
 * Renews the claim of a turn as long as it is worked on. `lost`: called once, when somebody else may be given the turn, or the owner's data
 * is being erased. Without effect where claims are not renewed.
 */
export function holdClaim(index: Pick<SessionIndex, "renewClaim">, given: PendingTurn, logger: Logger, lost: () => void): HeldClaim {
  let turn = given;
  if (index.renewClaim === undefined) return { turn, end: () => {} };
  let renewedAt = performance.now();
  let renewing = false;
  const renew = async () => {
    renewing = true;
    const now = performance.now();
    try {
      const claim = await index.renewClaim?.(turn, CLAIM_MS);
      if (claim == null) return lose();
      turn = { ...turn, claim };
      renewedAt = now;
    } catch (error) {
      logger.warn({ session_id: turn.sessionId, turn: turn.turn, err: error }, "The claim of a turn could not be renewed");
      if (now - renewedAt > CLAIM_MS) lose();
    } finally {
      renewing = false;
    }
  };
  const timer = setInterval(() => {
    // One that takes long is waited for: the next says which claim it renews.
    if (!renewing) void renew();
  }, CLAIM_MS / RENEWALS);
  timer.unref();
  const end = () => clearInterval(timer);
  const lose = () => {
    end();
    lost();
  };
  return {
    get turn() {
      return turn;
    },
    end,
  };
}
