import { turnsOffRecord } from "../domain/off-record.js";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, MessageRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { collected } from "../platform/collected.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { RememberedTurn, TurnMemories, TurnToRemember } from "../ports/memories.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { PendingTurn, SessionStore } from "../ports/session-store.js";

export interface PromotionParts {
  readonly store: Pick<SessionStore, "journal" | "index" | "turns">;
  /** Ids come from (owner, session, message), so that doing it again changes nothing. */
  readonly longTerm: Pick<TurnMemories, "remember" | "remembered">;
  /** Tries the write-back of a turn once more that was given up. Null where long-term memory is off. */
  readonly writeBack: ((turn: PendingTurn, signal: AbortSignal) => Promise<unknown>) | null;
  readonly ledger: OwnerLedger;
  /** Lets an erasure end the work and wait for it. */
  readonly gate: { begin(owner: Owner): { readonly signal: AbortSignal; end(): void } };
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface PromotionOptions {
  /** Messages between two marks of how far it came. Default 20. */
  readonly batch?: number;
  /** Messages before the user's that its reader sees, for references. Default 6. */
  readonly contextMessages?: number;
}

export interface PromotionReport {
  readonly sessions: number;
  /** User messages that were read in this run. */
  readonly messages: number;
  readonly stored: number;
  readonly confirmed: number;
  /** Sessions that were broken off by an error, or in which a message still can't be read; run again to go on. */
  readonly failed_sessions: number;
}

/** Told after each user message of a session: how many were read, of how many. */
export type OnMessage = (done: number, total: number) => void;

const NOTHING: PromotionReport = { sessions: 0, messages: 0, stored: 0, confirmed: 0, failed_sessions: 0 };

/** A message to be read. `failed`: its turn, where a write-back of it was given up. */
interface Unread {
  readonly message: MessageRecord;
  readonly failed?: PendingTurn;
}

/**
 * Makes memories of what lies in the journals already: imported conversations, turns from when long-term memory was off, and those whose
 * write-back was given up, which is done with that. The same guards as for live turns; user messages alone. What the write-back has done
 * or will do, what the user kept out of memory, incognito and deleted sessions, and forks' copies are passed over. How far each session
 * came is marked in the owner's ledger, so that it can be broken off and run again, and a session that grew goes on where it ended.
 */
export class Promotion {
  readonly #parts: PromotionParts;
  readonly #options: Required<PromotionOptions>;

  constructor(parts: PromotionParts, options: PromotionOptions = {}) {
    this.#parts = parts;
    this.#options = { batch: 20, contextMessages: 6, ...options };
  }

  /** Every session of the owner, or of all owners. */
  async run(options: {
    readonly owner?: Owner;
    readonly signal: AbortSignal;
    readonly onProgress?: (report: PromotionReport) => void;
  }): Promise<PromotionReport> {
    let report = NOTHING;
    for await (const { owner, sessionId } of this.#parts.store.journal.list()) {
      options.signal.throwIfAborted();
      if (options.owner !== undefined && owner !== options.owner) continue;
      report = sum(report, await this.#safely(owner, sessionId, options.signal));
      options.onProgress?.(report);
    }
    return report;
  }

  /** One session. @throws what extraction or the store throws: what was done before is marked as done */
  async session(owner: Owner, sessionId: string, signal: AbortSignal, onMessage?: OnMessage): Promise<PromotionReport> {
    const running = this.#parts.gate.begin(owner);
    try {
      return await this.#session(owner, sessionId, AbortSignal.any([signal, running.signal]), onMessage);
    } finally {
      running.end();
    }
  }

  async #safely(owner: Owner, sessionId: string, signal: AbortSignal): Promise<PromotionReport> {
    try {
      return await this.session(owner, sessionId, signal);
    } catch (error) {
      if (signal.aborted || isAppError(error, "LONG_TERM_MEMORY_DISABLED")) throw error;
      const code = isAppError(error) ? error.code : "INTERNAL";
      this.#parts.logger.warn({ session_id: sessionId, code, err: error }, "a session could not be promoted to its end");
      return { ...NOTHING, failed_sessions: 1 };
    }
  }

  async #session(owner: Owner, sessionId: string, signal: AbortSignal, onMessage?: OnMessage): Promise<PromotionReport> {
    const { store, ledger } = this.#parts;
    const session = await store.index.get(owner, sessionId);
    if (!session || session.status === "deleted" || session.metadata.incognito === true) return NOTHING;
    const records = await collected(store.journal.read(owner, sessionId, { signal }));
    const job = `promote:${sessionId}`;
    const done = Number((await ledger.progress(owner, job)) ?? 0);
    const failed = (await store.turns.of(owner, sessionId)).filter(({ state }) => state === "failed");
    const messages = unread(records, failed, done);
    const tally: { -readonly [K in keyof PromotionReport]: number } = { ...NOTHING, sessions: messages.length > 0 ? 1 : 0 };
    let mark: number | null = null;
    for (const [position, each] of messages.entries()) {
      const { message } = each;
      const memories = await this.#read(owner, sessionId, records, each, signal);
      const holding = (memories ?? []).filter(({ status }) => status !== "superseded");
      const own = holding.filter(({ source }) => source?.message_id === message.id).length;
      tally.stored += own;
      tally.confirmed += holding.length - own;
      if (memories === null) tally.failed_sessions = 1;
      else tally.messages += 1;
      onMessage?.(position + 1, messages.length);
      // What failed is marked by its write-back.
      if (each.failed === undefined) mark = message.seq;
      const last = position === messages.length - 1;
      if (mark !== null && (last || position % this.#options.batch === this.#options.batch - 1))
        await ledger.setProgress(owner, job, String(mark));
    }
    return tally;
  }

  /** What came of a message; null where it failed once more, which keeps nothing from what follows it. */
  async #read(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    { message, failed }: Unread,
    signal: AbortSignal,
  ): Promise<RememberedTurn["memories"] | null> {
    const { writeBack, longTerm, logger } = this.#parts;
    if (failed === undefined) return (await this.#remember(owner, sessionId, records, message, signal)).memories;
    if (writeBack === null) throw new AppError("LONG_TERM_MEMORY_DISABLED");
    try {
      // One that was tried before is not left to be read with another.
      await writeBack({ ...failed, attempts: Math.max(1, failed.attempts) }, signal);
      return (await longTerm.remembered(owner, message.id, { signal }))?.memories ?? [];
    } catch (error) {
      if (signal.aborted) throw error;
      const code = isAppError(error) ? error.code : "INTERNAL";
      logger.warn({ session_id: sessionId, turn: failed.turn, code, err: error }, "a write-back that was given up failed once more");
      return null;
    }
  }

  #remember(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    message: MessageRecord,
    signal: AbortSignal,
  ): Promise<RememberedTurn> {
    const turn: TurnToRemember = {
      session_id: sessionId,
      turn: message.turn,
      message_id: message.id,
      text: message.body.content,
      stated_at: new Date(message.at),
      time_zone: message.body.time_zone ?? "UTC",
      channel: message.body.channel,
      context: contextBefore(records, message.seq, this.#options.contextMessages),
    };
    return this.#parts.longTerm.remember(owner, turn, { now: this.#parts.clock.now(), signal });
  }
}

/** In order: what is promotable behind the mark, and the messages of turns that were given up, wherever they stand. */
function unread(records: readonly JournalRecord[], failed: readonly PendingTurn[], done: number): readonly Unread[] {
  const byTurn = new Map(failed.map((turn) => [turn.turn, turn]));
  const givenUp = records.flatMap((record): Unread[] => {
    const turn = byTurn.get(record.turn);
    return turn !== undefined && record.type === "message" && record.body.role === "user" ? [{ message: record, failed: turn }] : [];
  });
  const rest = promotable(records).filter(({ seq, turn }) => seq > done && !byTurn.has(turn));
  return [...givenUp, ...rest.map((message) => ({ message }))].sort((a, b) => a.message.seq - b.message.seq);
}

/** The user messages that nobody else makes memories of, in order: imported ones, and answered ones from when long-term memory was off. */
function promotable(records: readonly JournalRecord[]): MessageRecord[] {
  const offRecord = turnsOffRecord(records);
  const without = new Set<number>();
  for (const record of records) {
    // Where another agent answers, the write-back alone tells.
    if (record.type === "write_back_done" && record.body.error_code === "LONG_TERM_MEMORY_DISABLED") without.add(record.turn);
    if (record.type !== "message" || record.body.role !== "assistant" || record.body.outcome !== "completed") continue;
    if (record.body.memory?.status === "disabled") without.add(record.turn);
  }
  return records.flatMap((record) => {
    if (record.type !== "message" || record.body.role !== "user" || !record.body.remember || record.body.origin_id !== undefined) return [];
    if (offRecord.has(record.turn)) return [];
    return record.body.imported === true || without.has(record.turn) ? [record] : [];
  });
}

function contextBefore(records: readonly JournalRecord[], seq: number, limit: number): TurnToRemember["context"] {
  return records
    .flatMap((record) => {
      if (record.type !== "message" || record.seq >= seq) return [];
      const { role, content } = record.body;
      return role === "system" ? [] : [{ role, content }];
    })
    .slice(-limit);
}

function sum(a: PromotionReport, b: PromotionReport): PromotionReport {
  return {
    sessions: a.sessions + b.sessions,
    messages: a.messages + b.messages,
    stored: a.stored + b.stored,
    confirmed: a.confirmed + b.confirmed,
    failed_sessions: a.failed_sessions + b.failed_sessions,
  };
}
