import type { Owner } from "../domain/owner.js";
import type { RecallStatus } from "../domain/session.js";

/** What a list of all conversations tells of one without looking at it. */
export interface ConversationNotes {
  /** ISO 8601 UTC. */
  readonly last_active_at: string;
  readonly turns: number;
  /** Null where the price of any call is unknown. */
  readonly cost: number | null;
  readonly tokens: number;
  /** Of the last turn; null where none was recorded. */
  readonly memory_status: RecallStatus | null;
  /** Turns that failed. */
  readonly failed: number;
}

export interface ListedConversation {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly notes: ConversationNotes;
}

export interface ConversationQuery {
  readonly tenant?: string;
  /** Of the tenant; `default` where none is named. */
  readonly user?: string;
  /** ISO 8601 UTC: last active from then, and before then. */
  readonly from?: string;
  readonly to?: string;
  readonly memoryStatus?: RecallStatus;
  /** Whether any turn failed. */
  readonly failed?: boolean;
  readonly minCost?: number;
  /** 1 to 200. */
  readonly limit: number;
  readonly cursor?: string;
}

export interface ConversationNote {
  /** The last turn of it; 0 for what is no turn's. */
  readonly turn: number;
  /** How it ended. Absent: it isn't told. */
  readonly ended?: { readonly memoryStatus: RecallStatus; readonly failed: boolean };
}

/** Conversations of all users, newest activity first. Follows what is written, a moment behind it. */
export interface ConversationList {
  /** Something was written, or taken away. Returns at once, never throws. */
  touched(owner: Owner, sessionId: string, note?: ConversationNote): void;
  /** A page may hold less than `limit` where another follows. @throws INVALID_CURSOR */
  list(query: ConversationQuery): Promise<{ readonly data: readonly ListedConversation[]; readonly nextCursor: string | null }>;
  /** What is kept of one; null where it isn't in the list. */
  notes(owner: Owner, sessionId: string): Promise<ConversationNotes | null>;
  erase(owner: Owner): Promise<number>;
  residue(owner: Owner): Promise<number>;
  /** Resolves when the list is level with what was written. */
  settled(): Promise<void>;
  close(): Promise<void>;
}
