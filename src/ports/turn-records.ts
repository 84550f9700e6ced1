import type { Owner } from "../domain/owner.js";
import type { HeldBack, RecalledMemory, RecallStatus } from "../domain/session.js";
import type { PromptBlock, ProposalRecord, ReadingRecord, TimingRecord, TurnRecord, WriteBackRecord } from "../domain/turn-record.js";

/** What is kept of one turn for whoever runs the server. Null where it isn't kept, or not yet. */
export interface RecordedParts {
  readonly turn: TurnRecord | null;
  readonly reading: ReadingRecord | null;
  readonly writeBack: WriteBackRecord | null;
}

/** Records of turns, in their owner's partition. A session's go with it, an owner's with them. */
export interface TurnRecords {
  /**
   * Keeps these parts, by the number of their turn; a turn's others stay. Nothing is kept of a session that is no more.
   * @throws STORAGE_UNAVAILABLE
   */
  put(owner: Owner, sessionId: string, turns: ReadonlyMap<number, Partial<RecordedParts>>): Promise<void>;
  get(owner: Owner, sessionId: string, turn: number): Promise<RecordedParts>;
  /** Of a session that is emptied and stays. */
  removeSession(owner: Owner, sessionId: string): Promise<void>;
  /** Returns how many turns' went. Idempotent. */
  erase(owner: Owner): Promise<number>;
  /** What is left of an owner, by looking at the medium. */
  residue(owner: Owner): Promise<number>;
}

/** How a turn went, until it ended. */
export interface EndedTurn extends TurnName {
  readonly outcome: TurnRecord["outcome"];
  /** Of one that failed or was interrupted. */
  readonly errorCode: string | null;
  readonly model: string | null;
  readonly incognito: boolean;
  readonly memoryStatus: RecallStatus;
  readonly recalled: readonly Pick<RecalledMemory, "id" | "why" | "score">[];
  readonly heldBack: HeldBack | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
  /** Of the input that the answer's calls were given: what their provider had cached; null where that isn't told. */
  readonly cachedTokens: number | null;
  /** From the turn's beginning. */
  readonly timings: readonly TimingRecord[];
  /** What the model was given, by pieces; made off the reply's path. */
  readonly blocks: () => readonly Omit<PromptBlock, "cached">[];
}

/** Keeps how turns went, off every reply's path. Returns at once and never throws. */
export interface TurnRecorder {
  turnEnded(owner: Owner, turn: EndedTurn): void;
}

export type TurnName = { readonly session_id: string; readonly turn: number };

/** Told what the reading of a turn's message came to. Returns at once and must not throw. */
export type OnMessageRead = (owner: Owner, turn: TurnName, proposals: readonly ProposalRecord[]) => void;
