import type { PlotSums } from "../domain/plots.js";

/** What happens, by hour and tenant. Holds no user and no text. */
export interface Plots {
  /** Returns at once, never throws. `tenant`: null for what is nobody's. */
  add(tenant: string | null, sums: Partial<PlotSums>): void;
  /** Of the hours from the one to before the other, as 2027-03-28T09 (UTC), or of the days. Default: of the hours. */
  between(from: string, to: string, step?: "hour" | "day"): Promise<readonly PlottedSums[]>;
  /** The first hour that is kept, or day; null where none is. */
  first(step?: "hour" | "day"): Promise<string | null>;
  close(): Promise<void>;
}

/** Of one tenant. */
export interface PlottedSums {
  /** As 2027-03-28T09, or 2027-03-28. */
  readonly period: string;
  /** Null for what is nobody's. */
  readonly tenant: string | null;
  readonly sums: PlotSums;
}

/** What is counted for each tenant on each day: tokens, or what they cost. Holds no user and no text. */
export interface DailyCounts {
  /** `day`: of UTC, as 2027-03-28. Whole numbers; kept over restarts where anything is. */
  add(tenant: string, day: string, count: number): Promise<void>;
  /** 0 where nothing was counted. */
  spent(tenant: string, day: string): Promise<number>;
  /** How many tenants spent so much or more on that day. */
  tenantsFrom(day: string, count: number): Promise<number>;
  close(): Promise<void>;
}

/** How often the operator looked at lists over all users, by minute. */
export interface OperatorLooks {
  /** Durable on resolve. `what`: `conversations`, `plots`. */
  noted(what: string): Promise<void>;
  /** Oldest first, kept for 90 days. */
  all(): Promise<readonly { readonly minute: string; readonly what: string; readonly times: number }[]>;
}

/** What counts: structurally a limiter of rate-limiter-flexible, which rejects with how things stand once there are too many. */
interface RequestLimiter {
  consume(key: string): Promise<{ readonly consumedPoints: number; readonly remainingPoints: number; readonly msBeforeNext: number }>;
}

/** Makes a counter of requests: at most so many in so many seconds, for each key. */
export type MakeLimiter = (requests: number, seconds: number) => RequestLimiter;
