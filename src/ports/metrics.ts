import type { RecallStatus } from "../domain/session.js";
import type { TaskTokens, TokenTask } from "../domain/tokens.js";
import type { ErrorCode } from "../platform/errors.js";

/**
 * How a turn ended that had begun. A replay is none, nor is a request that was refused before its message was kept. `suspended`: it waits
 * for its caller's tools, and is told of again when it has gone on.
 */
export type TurnEnd =
  | { readonly outcome: "suspended"; readonly memory: RecallStatus }
  | { readonly outcome: "completed"; readonly memory: RecallStatus; readonly timing: TurnTiming }
  | { readonly outcome: "interrupted" | "failed"; readonly memory: RecallStatus; readonly code: ErrorCode };

/** Milliseconds. */
export interface TurnTiming {
  readonly totalMs: number;
  /** Until the first text went to the client; null where none did before the answer was whole. */
  readonly firstTokenMs: number | null;
  readonly recallMs: number;
  readonly modelMs: number;
}

/**
 * How a try to write a turn back ended. `waiting`: for the next day's tokens. `failed`: it is tried again, or it was the last
 * try and `given_up` follows: nobody tries again before it is asked for.
 */
export type WriteBackEnd =
  | { readonly outcome: "done"; readonly ms: number }
  | { readonly outcome: "waiting" | "failed" | "given_up"; readonly code: ErrorCode };

export interface CostSpent {
  readonly model: string;
  /** Null for a call that was made for nobody. */
  readonly tenant: string | null;
  /** Null where the model's price is unknown. */
  readonly cost: number | null;
}

export interface RequestEnd {
  /** As the client named it: not bounded. */
  readonly method: string;
  /** The route's pattern, never the path as it came. */
  readonly route: string;
  readonly status: number;
  /** Until the answer's head; of a stream that is its begin. */
  readonly ms: number;
}

/** Turns that are not written back, over all owners, and events that are not delivered. */
export interface Backlog {
  readonly pending: number;
  readonly failed: number;
  /** Age of the oldest that is pending; 0 where none is, null where the store can't tell. */
  readonly oldestMs: number | null;
  /** Absent where nothing is delivered. */
  readonly deliveries?: { readonly waiting: number; readonly dead: number };
}

/**
 * Counts and times what happens, for whoever looks after the process. Nothing that is told here names a user or a session, or quotes
 * anybody. Calls return at once and must not throw.
 */
export interface Metrics {
  turnEnded(end: TurnEnd): void;
  /** One call of a model or an embedder. Input includes what was cached. */
  tokensUsed(task: TokenTask, tokens: TaskTokens): void;
  /** What a call of a model cost, where prices are known. Default: not told. */
  costSpent?(spent: CostSpent): void;
  writeBackEnded(end: WriteBackEnd): void;
  requestEnded(end: RequestEnd): void;
  /** Called once, at the start: `read` may be called whenever somebody looks, and rejects while the store is out of reach. */
  backlogFrom(read: () => Promise<Backlog>): void;
}

/** Metrics that can be read as text. */
export interface ReadableMetrics extends Metrics {
  /** Of the text, with its version. */
  readonly contentType: string;
  /** In the form that Prometheus scrapes. While the backlog can't be read its numbers are left out. */
  text(): Promise<string>;
}

function nothing(): void {}

/** Counts nothing. */
export const noMetrics: Metrics = {
  turnEnded: nothing,
  tokensUsed: nothing,
  writeBackEnded: nothing,
  requestEnded: nothing,
  backlogFrom: nothing,
};
