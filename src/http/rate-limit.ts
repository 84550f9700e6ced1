import type { Context, MiddlewareHandler } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { ownerHash } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { MakeLimiter } from "../ports/counters.js";
import type { HttpEnv } from "./http-env.js";
import { isOperatorPath } from "./operator-door.js";

const WINDOW_SECONDS = 60;

const inThisProcess: MakeLimiter = (points, duration) => new RateLimiterMemory({ points, duration });

/** Counted as one, and no user's hash. */
const OPERATOR = "operator";

/** Under the user's hash, once the user is known; who is none is the operator. */
const byUser = (c: Context<HttpEnv>): string => (isOperatorPath(c.req.path) ? OPERATOR : ownerHash(c.get("owner")));

/**
 * At most `perMinute` requests a minute of each name; 0: no limit. `nameOf`: whom a request is counted for, by default its user. Answers
 * carry `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds).
 */
export function rateLimit(
  perMinute: number,
  make: MakeLimiter = inThisProcess,
  nameOf: (c: Context<HttpEnv>) => string = byUser,
): MiddlewareHandler<HttpEnv> {
  if (perMinute === 0) return (_c, next) => next();
  const limiter = make(perMinute, WINDOW_SECONDS);
  return async (c, next) => {
    const result = await limiter.consume(nameOf(c)).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
    c.header("RateLimit-Limit", String(perMinute));
    c.header("RateLimit-Remaining", String(Math.max(0, result.remainingPoints)));
    c.header("RateLimit-Reset", String(resetSeconds));
    if (result.consumedPoints > perMinute) throw new AppError("RATE_LIMITED", { retryAfterSeconds: resetSeconds });
    return next();
  };
}
