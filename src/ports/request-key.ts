/** The idempotency key of a request. The same key again, of the same owner, gives the same answer; it is kept 24 hours. */
export interface RequestKey {
  readonly key: string;
  /** SHA-256 of all that was asked: the same key with another is refused. */
  readonly requestHash: string;
  /** Called before the first request's answer is given again, with nothing done. */
  readonly onReplay?: () => void;
}
