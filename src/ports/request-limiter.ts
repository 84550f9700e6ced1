/** What counts: structurally a limiter of rate-limiter-flexible, which rejects with how things stand once there are too many. */
export interface RequestLimiter {
  consume(key: string): Promise<{ readonly consumedPoints: number; readonly remainingPoints: number; readonly msBeforeNext: number }>;
}

/** Makes a counter of requests: at most so many in so many seconds, for each key. */
export type MakeLimiter = (requests: number, seconds: number) => RequestLimiter;
