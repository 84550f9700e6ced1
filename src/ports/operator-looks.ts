/** How often the operator looked at lists over all users, by minute. */
export interface OperatorLooks {
  /** Durable on resolve. `what`: `conversations`, `plots`. */
  noted(what: string): Promise<void>;
  /** Oldest first, kept for 90 days. */
  all(): Promise<readonly { readonly minute: string; readonly what: string; readonly times: number }[]>;
}
