import type {
  Memory,
  MemoryEvent,
  MemoryPatch,
  MemorySource,
  MemoryState,
  MemoryType,
  NewStatement,
  RestorableMemory,
} from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import type { HeldBack, RecalledMemory, RecallStatus } from "../domain/session.js";
import type { AppError } from "../platform/errors.js";
import type { MessageToRead, ProposedOperation } from "./extraction.js";
import type { RequestKey } from "./request-key.js";
import type { Page } from "./session-store.js";

export interface RecallRequest {
  readonly text: string;
  readonly now: Date;
  /** At most this many by similarity. Default MEM0_SEARCH_LIMIT (5). */
  readonly limit?: number;
  /** Bound of the whole recall. What arrived in time is used. */
  readonly deadlineMs: number;
  /** Of the last entry of the owner's log, where the caller has just read it. Default: it is asked for. */
  readonly memorySeq?: number;
  /** Ids of what the answer before asked about, which this message may settle. Default: nothing. */
  readonly asked?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface RecallResult {
  readonly status: Exclude<RecallStatus, "disabled"> | "disabled";
  /** Hard constraints first; no id twice. */
  readonly memories: readonly RecalledMemory[];
  /** How many were not given, by reason. Absent where nothing decides by occasion. */
  readonly held_back?: HeldBack;
  /** What waits for the guest's word and may be asked about in talk: at most 5, hard ones first. Default: nothing. */
  readonly to_confirm?: readonly Memory[];
  /** What the answer before asked about for the last time: this message may settle it. Default: nothing. */
  readonly to_settle?: readonly Memory[];
}

export interface MemoryQuery {
  /** One of the categories, in any spelling that a statement may have. One that there isn't finds nothing. */
  readonly category?: string;
  /** Default: every type but the narrative, which is told of the others and has its own place. */
  readonly type?: MemoryType;
  /** One of its tags, exactly. */
  readonly tag?: string;
  /** One of its entities, exactly: a name, or the id of a memory that it was made of. A companion's finds what names them, too. */
  readonly entity?: string;
  /** Whom it is about, exactly: `self` or `companion:<name>`. */
  readonly subject?: string;
  /** Through which it was said. */
  readonly channel?: string;
  /** Default: what holds. */
  readonly status?: MemoryState;
  /** What held at that time, superseded ones included. ISO 8601. */
  readonly as_of?: string;
  /** Default: false. */
  readonly includeSuperseded?: boolean;
  /** Only what comes from this session; with `turn`, from that turn of it. Without a status then also what waits. */
  readonly sessionId?: string;
  readonly turn?: number;
  /** 1 to 200. Default 20. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly signal?: AbortSignal;
}

export interface MemorySearch extends Omit<MemoryQuery, "cursor"> {
  readonly text: string;
}

/**
 * What can be done with memories, each caller's part by itself. Behind all of them stands one use-case: every
 * change is an entry of the memory log first, then of the collection. Methods throw LONG_TERM_MEMORY_DISABLED when long-term memory is
 * off, LONG_TERM_MEMORY_UNAVAILABLE when the store is out of reach, OWNER_ERASED while the owner is being erased. A memory of somebody
 * else is MEMORY_NOT_FOUND.
 */
export interface Memories {
  get(owner: Owner, id: string, options?: { readonly signal?: AbortSignal }): Promise<Memory>;
  list(owner: Owner, query: MemoryQuery): Promise<Page<Memory>>;
  /** Best first. */
  search(owner: Owner, query: MemorySearch): Promise<readonly (Memory & { readonly score: number })[]>;
  history(owner: Owner, id: string): Promise<readonly MemoryEvent[]>;
  /**
   * A memory that the user states by hand, active at once. `request`: a repetition is answered with what the first one stated, as it is,
   * and states nothing. `timeZone` (IANA): where a `valid_until` without a time ends with its day; default UTC.
   * @throws MEMORY_REFUSED for a secret, INVALID_REQUEST for what can't be stored, with nothing half-stored, IDEMPOTENCY_KEY_REUSED
   */
  add(
    owner: Owner,
    statement: NewStatement,
    options: { readonly request?: RequestKey; readonly now: Date; readonly timeZone?: string },
  ): Promise<Memory>;
  /**
   * As {@link add} for each, in order. What is wrong with one doesn't stop the others; where the store fails, it and those after it have
   * that error. `request`: as with {@link add}, of all. @throws where none could be stored because of the store, LONG_TERM_MEMORY_DISABLED
   */
  addAll(
    owner: Owner,
    statements: readonly NewStatement[],
    options: { readonly request?: RequestKey; readonly now: Date; readonly timeZone?: string },
  ): Promise<readonly AddedMemory[]>;
  /** `timeZone` as with {@link add}. @throws MEMORY_REFUSED for a secret */
  patch(owner: Owner, id: string, patch: MemoryPatch, options: { readonly now: Date; readonly timeZone?: string }): Promise<Memory>;
  /** The guest's yes: what waits becomes active, a change that waits is made. */
  approve(owner: Owner, id: string, options: { readonly now: Date }): Promise<Memory>;
  /** The guest's no: what waits goes, a change that waits is dropped and the memory stays. */
  reject(owner: Owner, id: string, options: { readonly now: Date }): Promise<Memory>;
  /** For good: leaves a tombstone, takes the older versions along. Returns what was forgotten. */
  forget(owner: Owner, id: string, options: { readonly now: Date; readonly askedIn?: readonly string[] }): Promise<readonly Memory[]>;
  /** Forgets all, in batches. Returns how many. */
  forgetAll(owner: Owner, options: { readonly now: Date }): Promise<number>;
}

/** What became of one statement of many. */
export type AddedMemory = { readonly memory: Memory } | { readonly error: AppError };

/** What a turn reads before its answer. */
export interface MemoryRecall {
  /** Never throws: what went wrong is in `status`. Ends within `deadlineMs`. */
  recall(owner: Owner, request: RecallRequest): Promise<RecallResult>;
}

export interface NeedsOptions {
  readonly now: Date;
  readonly signal?: AbortSignal;
  readonly soft?: (memory: Memory) => boolean;
}

/** What the gate in front of a booking reads. */
export interface StandingNeeds {
  /**
   * All hard memories that hold or wait for the guest's word, by filter, outside any limit; and of what is soft and holds, those that
   * `soft` takes (default: none). @throws when that can't be told for sure
   */
  needs(owner: Owner, options: NeedsOptions): Promise<readonly Memory[]>;
  /**
   * What else tells by which names companions go: statements that name somebody, and needs that are over. Default: nothing is told.
   * @throws when it can't be read
   */
  companions?(owner: Owner, options: { readonly now: Date; readonly signal?: AbortSignal }): Promise<readonly Memory[]>;
}

/** A turn whose user message is to be remembered. */
export interface TurnToRemember extends Omit<MessageToRead, "owner" | "known" | "calls"> {
  readonly channel: string;
  /** Message ids that this one replaces (an edit): what they alone gave is taken back. */
  readonly replaces?: readonly string[];
  /** It may be left to be read by the call for the owner's next message, where the reader can do that. Default false. */
  readonly may_wait?: boolean;
  /**
   * A tool was to take something away in this turn, and the guest was asked what: what the reader takes away waits for their word.
   * Default false.
   */
  readonly left_to_guest?: boolean;
}

export interface RememberedTurn {
  /** Memories that this turn added, confirmed or changed, as they are now. */
  readonly memories: readonly Memory[];
  /** What waits for the guest's word because of this turn. */
  readonly to_confirm: readonly Memory[];
  readonly forgotten: readonly string[];
  readonly off_record: "this" | "previous" | null;
  /** Proposals that were dropped, by code. */
  readonly dropped: Readonly<Record<string, number>>;
  /** The message was left to be read later, and has not been read. Default false. */
  readonly left?: boolean;
}

/** What a guest's message settles of what they were asked in the answer before it. */
export interface Settlement {
  readonly memory_id: string;
  readonly answer: "yes" | "no";
  /** The guest's words that answer it. */
  readonly quote: string;
}

/** What happens to memories because of a turn. */
export interface TurnMemories {
  /**
   * Reads the message, checks what the model proposes, reconciles, logs, projects. A turn is read once: asked again, by a booking in the
   * same turn or by a repeated write-back, it only completes what its entry in the log says. `epoch`: the owner's when the message was
   * known to be there. Default: as it is now. `last`: where it can't be read, nobody reads it again but at somebody's word.
   * @throws OWNER_ERASED when an erasure began since, EXTRACTION_FAILED for what the reader can't read
   */
  remember(
    owner: Owner,
    turn: TurnToRemember,
    options: { readonly now: Date; readonly signal: AbortSignal; readonly epoch?: number; readonly last?: boolean },
  ): Promise<RememberedTurn>;
  /** Reads what was left to be read with a next message. Costs nothing where nothing was. @throws while some of it can't be read */
  readLeft(owner: Owner, options: { readonly now: Date; readonly signal: AbortSignal }): Promise<void>;
  /**
   * What the answering model proposes by a tool, in the middle of a turn: passes the same checks as what reading proposes, is reconciled,
   * logged (kind `tool`) and projected. Safe to repeat. Returns what came of these proposals alone.
   */
  propose(
    owner: Owner,
    turn: TurnToRemember,
    operations: readonly ProposedOperation[],
    options: { readonly now: Date; readonly signal: AbortSignal },
  ): Promise<RememberedTurn>;
  /** What reading a message gave, with its memories as they are now; null while it has not been read. */
  remembered(owner: Owner, messageId: string, options?: Pick<RecallRequest, "memorySeq" | "signal">): Promise<RememberedTurn | null>;
  /**
   * The guest asked that messages are not kept: what they alone gave goes, as with an edit; hard ones wait for the guest's word instead
   * (reason `off_record`). Safe to repeat. Returns those that wait.
   */
  takeOffRecord(owner: Owner, messageIds: readonly string[], options: { readonly now: Date }): Promise<readonly Memory[]>;
  /** Waiting memories and waiting changes, hard ones first, at most 20. `talk`: only those that may still be asked about in talk. */
  toConfirm(owner: Owner, options: { readonly talk: boolean; readonly signal?: AbortSignal }): Promise<readonly Memory[]>;
  /** Counts that an answer asked about these. */
  asked(owner: Owner, ids: readonly string[], options: { readonly now: Date }): Promise<void>;
  /**
   * Settles what the answer before asked about. `asked`: the ids that its record lists; others are refused. A no to a hard one counts
   * only when it alone was asked, or keeps what was to be taken away. @throws MEMORY_NOT_FOUND, INVALID_REQUEST with the reason
   */
  settle(
    owner: Owner,
    settlements: readonly Settlement[],
    options: { readonly asked: readonly string[]; readonly source: Omit<MemorySource, "quote">; readonly text: string; readonly now: Date },
  ): Promise<readonly Memory[]>;
}

/** What is done with all memories of an owner, or of a session. */
export interface MemoryAdministration {
  /** Every memory of the owner, all states, streamed: for export. */
  all(owner: Owner): AsyncIterable<Memory>;
  /**
   * Takes memories of an export back, but for narratives, which are told anew. Returns how many are new. `onLeftOut`: told which of them,
   * from 0, were refused.
   */
  restore(
    owner: Owner,
    memories: readonly RestorableMemory[],
    options?: { readonly onLeftOut?: (at: number, detail: string) => void },
  ): Promise<number>;
  /** After a session's purge: deletes the memories that came from it, or drops their quotes. Returns how many it touched. */
  detachSession(owner: Owner, sessionId: string, how: "delete" | "drop-quotes"): Promise<number>;
  erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }>;
  residue(owner: Owner): Promise<number>;
  health(): Promise<{ readonly status: "ok" | "degraded" | "down" | "disabled"; readonly detail?: string }>;
  close(): Promise<void>;
}

/** All of it, for whoever puts the parts together. Callers take the part that they need. */
export interface LongTermMemory extends Memories, MemoryRecall, StandingNeeds, TurnMemories, MemoryAdministration {
  /** Writes the store anew from the logs, of all owners; no model is called but the embedder. */
  rebuild(options: { readonly signal: AbortSignal; readonly onProgress?: (done: RebuiltMemories) => void }): Promise<RebuiltMemories>;
}

export interface RebuiltMemories {
  readonly owners: number;
  readonly memories: number;
  /** Owners whose memories could not be written; run again. */
  readonly failed: number;
}
