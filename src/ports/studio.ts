import type { ConversationQuery } from "./conversation-list.js";
import type { Page } from "./session-store.js";
import type {
  ConversationDetail,
  ConversationRow,
  GuestDetail,
  HealthView,
  PlotStep,
  QueuedWriteBack,
  QueueState,
  StudioInfo,
  TimelineEntry,
  TurnDetail,
  TurnReplay,
  WaitingMemory,
} from "./studio-views.js";

/**
 * What whoever runs a server sees of what happened, read-only but for a retry; a replay keeps nothing. A text is null where texts are not
 * to be shown, where it was forgotten, and where it isn't kept; its length stands beside it. A number that isn't known is null, never 0.
 */
export interface Studio {
  about(): Promise<StudioInfo>;
  /** Newest activity first. @throws INVALID_CURSOR, INVALID_USER_ID */
  conversations(query: ConversationQuery): Promise<Page<ConversationRow>>;
  /** With its turns, newest first. @throws SESSION_NOT_FOUND, INVALID_CURSOR, INVALID_USER_ID */
  conversation(name: ConversationName, page: PageQuery): Promise<ConversationDetail>;
  /** @throws SESSION_NOT_FOUND, NOT_FOUND for a turn that is not there, INVALID_USER_ID */
  turn(name: ConversationName, turn: number): Promise<TurnDetail>;
  /**
   * Answers a turn once more, over stores that are gone behind it. One at a time in each process.
   * @throws SESSION_NOT_FOUND, NOT_FOUND for a turn that is not there or has no message, INVALID_USER_ID, JOB_RUNNING while another is
   *   replayed, INVALID_REQUEST for a turn whose words are for nobody else or a model that can't be chosen, and what a turn throws
   */
  replay(name: ConversationName, turn: number, otherwise: ReplayOtherwise, signal: AbortSignal): Promise<TurnReplay>;
  /** @throws NOT_FOUND for one of whom nothing is kept, INVALID_USER_ID */
  guest(name: GuestName): Promise<GuestDetail>;
  /** Newest first; `asOf` (ISO 8601): what held then. @throws INVALID_CURSOR, INVALID_USER_ID, LONG_TERM_MEMORY_DISABLED */
  timeline(name: GuestName, query: PageQuery & { readonly asOf?: string }): Promise<Page<TimelineEntry>>;
  /** What waits for its guest's word. A page may hold less than `limit` where another follows. @throws INVALID_CURSOR */
  waiting(query: PageQuery & { readonly tenant?: string }): Promise<Page<WaitingMemory>>;
  queues(): Promise<readonly QueueState[]>;
  /** Of all users. @throws INVALID_CURSOR */
  writeBacks(query: PageQuery & { readonly state?: "pending" | "failed" }): Promise<Page<QueuedWriteBack>>;
  /** Turns that were given up are tried again. @throws SESSION_NOT_FOUND, INVALID_USER_ID */
  retry(name: ConversationName): Promise<void>;
  /** At most 1,000 steps. @throws INVALID_REQUEST for more, or a range that ends before it begins */
  plots(query: PlotQuery): Promise<readonly PlotStep[]>;
  health(): Promise<HealthView>;
}

export interface PageQuery {
  /** 1 to 200. */
  readonly limit: number;
  readonly cursor?: string;
}

export interface GuestName {
  readonly tenant: string;
  readonly user: string;
}

export interface ConversationName extends GuestName {
  readonly sessionId: string;
}

/** What is to be another than when the turn was recorded. */
export interface ReplayOtherwise {
  /** The name of one of the provider's. Default: the configured one. */
  readonly model?: string;
  /** In the place of the product's. Default: the product's. */
  readonly prompt?: string;
  /** Whether memories are recalled. Default true. */
  readonly memory?: boolean;
}

export interface PlotQuery {
  /** ISO 8601. Default: a day, or thirty with steps of a day, before `to`. */
  readonly from?: string;
  /** Default: now. */
  readonly to?: string;
  readonly step: "hour" | "day";
  readonly tenant?: string;
}
