/** What each tenant's models have cost on each day, in tokens. Holds no user and no text. */
export interface DailyTokens {
  /** `day`: of UTC, as 2027-03-28. Kept over restarts where anything is. */
  add(tenant: string, day: string, tokens: number): Promise<void>;
  /** 0 where nothing was counted. */
  spent(tenant: string, day: string): Promise<number>;
  /** How many tenants spent so much or more on that day. */
  tenantsFrom(day: string, tokens: number): Promise<number>;
  close(): Promise<void>;
}
