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
