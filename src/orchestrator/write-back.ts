import { type AppError, isAppError } from "../errors.js";
import { type ConversationHistory, historyMessageOf } from "../history.js";
import { type ExtractionInput, type LongTermMemory, type MemoryOperation, memoryOperationSchema } from "../long-term.js";
import type { Owner } from "../owner.js";
import type { Clock } from "../platform/clock.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import { isSearchable } from "../searchable.js";
import type { JournalRecord, MessageRecord, NewRecord, RecordOf } from "../session.js";
import type { PendingTurn, SessionStore } from "../session-store.js";
import type { SessionWriter } from "../session-writer.js";
import { isCompleted, recordedTurn } from "./answer.js";

export interface WriteBackParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly longTerm: LongTermMemory;
  /** Null when there is no history. */
  readonly history: ConversationHistory | null;
  /** Null when long-term memory is off. What it gives has passed the guards. */
  readonly extraction: {
    readonly name: string;
    operations(input: ExtractionInput, signal: AbortSignal): Promise<readonly MemoryOperation[]>;
  } | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface WriteBackOptions {
  /** Rounds before the turn that the extractor sees, for references. */
  readonly contextRounds: number;
  /** Memories near to the message that the extractor sees. */
  readonly relatedLimit: number;
}

/**
 * Writes one answered turn back: the verbatim messages to history, the extracted operations to long-term memory.
 *
 * Extraction runs once. Its operations, with the ids of the memories to be, are journalled (`write_back_plan`) before the
 * first call to a store; `write_back_done` follows when the stores have confirmed them. What crashes between the two is
 * replayed from the plan; every write is idempotent by its id.
 */
export class WriteBack {
  readonly #parts: WriteBackParts;
  readonly #options: WriteBackOptions;

  constructor(parts: WriteBackParts, options: WriteBackOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Resolves when the turn is done and journalled as such. Throws when it has to be tried again. */
  async run(pending: PendingTurn, signal: AbortSignal): Promise<void> {
    const { owner, sessionId, turn } = pending;
    const records = await this.#read(pending, signal);
    const recorded = recordedTurn(records, turn);
    if (!recorded || !isCompleted(recorded)) return this.#done(pending, { status: "skipped", memory_ids: [] });

    if (recorded.user.body.edit_of !== undefined) await this.#takeBack(owner, sessionId, recorded.user.body.edit_of, signal);
    if (isSearchable(recorded.user)) {
      const said = [historyMessageOf(sessionId, recorded.user), historyMessageOf(sessionId, recorded.assistant)];
      await this.#parts.history?.addEvents(owner, said, { signal });
    }
    const operations = await this.#operations(pending, records, recorded.user, signal);
    if (operations.length === 0) return this.#done(pending, { status: "skipped", memory_ids: [] });
    const applied = await this.#parts.longTerm.apply(owner, operations, { now: this.#parts.clock.now(), signal });
    await this.#done(pending, { status: "stored", memory_ids: [...applied.stored, ...applied.confirmed] });
  }

  /** Gives a turn up: it stays visible as failed until it is retried. */
  async fail(pending: PendingTurn, error: unknown): Promise<void> {
    const code = isAppError(error) ? error.code : "INTERNAL";
    await this.#done(pending, { status: "failed", memory_ids: [], error_code: code });
  }

  /** The plan that was journalled, or a new one, which is journalled before it is returned. */
  async #operations(
    pending: PendingTurn,
    records: readonly JournalRecord[],
    user: MessageRecord,
    signal: AbortSignal,
  ): Promise<readonly MemoryOperation[]> {
    const { extraction, longTerm, writer } = this.#parts;
    const { owner, sessionId, turn } = pending;
    const plan = records.find((record): record is RecordOf<"write_back_plan"> => record.type === "write_back_plan" && record.turn === turn);
    if (plan) return plan.body.operations.map((operation) => memoryOperationSchema.parse(operation));
    if (!extraction) return [];
    const text = user.body.content;
    const operations = await extraction.operations(
      {
        owner,
        session_id: sessionId,
        turn,
        message_id: user.id,
        text,
        stated_at: new Date(user.at),
        time_zone: user.body.time_zone ?? "UTC",
        context: contextBefore(records, turn, this.#options.contextRounds),
        related: await longTerm.related(owner, text, { limit: this.#options.relatedLimit, signal }),
      },
      signal,
    );
    signal.throwIfAborted();
    if (operations.length > 0) {
      const body = { message_id: user.id, extractor: extraction.name, operations: operations.map((operation) => ({ ...operation })) };
      await writer.append(owner, sessionId, [this.#record("write_back_plan", turn, body)]);
    }
    return operations;
  }

  /** A message that was said again differently leaves no memory and no history behind. */
  async #takeBack(owner: Owner, sessionId: string, messageId: string, signal: AbortSignal): Promise<void> {
    const { store, longTerm, history, clock } = this.#parts;
    const messageIds: string[] = [];
    let replaced: number | null = null;
    let rewound = false;
    for await (const record of store.journal.read(owner, sessionId, { includeRewound: true, signal })) {
      if (record.id === messageId) replaced = record.turn;
      rewound ||= replaced !== null && record.type === "rewind";
      // A summary that was taken back with it goes too: nobody else knows it any more. One that was written since stays.
      if (record.type === "summary" && replaced !== null && !rewound) messageIds.push(record.id);
      if (record.turn !== replaced) continue;
      if (record.type === "message") messageIds.push(record.id);
      if (record.type !== "write_back_plan") continue;
      for (const operation of record.body.operations.map((value) => memoryOperationSchema.parse(value))) {
        if (operation.op !== "add" && operation.op !== "supersede") continue;
        await longTerm.forget(owner, operation.memory_id, { now: clock.now() }).catch(passOver("MEMORY_NOT_FOUND"));
      }
    }
    if (messageIds.length > 0) await history?.removeMessages(owner, messageIds);
  }

  /** The records that are needed: with its plan, the turn's own; without, also the rounds before it, from the journal's end as a rule. */
  async #read(pending: PendingTurn, signal: AbortSignal): Promise<readonly JournalRecord[]> {
    const { journal } = this.#parts.store;
    const { owner, sessionId, turn } = pending;
    if (!pending.planned) {
      const { rounds } = await journal.window(owner, sessionId, { rounds: this.#options.contextRounds + 1, signal });
      if (rounds.some((round) => round.turn === turn)) return rounds.flatMap(({ user, assistant }) => [user, assistant]);
    }
    const records: JournalRecord[] = [];
    const from = pending.planned && pending.fromSeq !== undefined ? { fromSeq: pending.fromSeq } : {};
    for await (const record of journal.read(owner, sessionId, { ...from, signal })) {
      if (record.turn >= turn - this.#options.contextRounds && record.turn <= turn) records.push(record);
    }
    return records;
  }

  async #done(
    pending: PendingTurn,
    outcome: { status: "stored" | "skipped" | "failed"; memory_ids: string[]; error_code?: string },
  ): Promise<void> {
    const body = { ...outcome, attempts: pending.attempts + 1 };
    await this.#parts.writer.append(pending.owner, pending.sessionId, [this.#record("write_back_done", pending.turn, body)]);
  }

  #record<T extends "write_back_plan" | "write_back_done">(
    type: T,
    turn: number,
    body: Extract<NewRecord, { type: T }>["body"],
  ): NewRecord {
    return { type, id: newId(), turn, at: this.#parts.clock.now().toISOString(), body } as NewRecord;
  }
}

function contextBefore(records: readonly JournalRecord[], turn: number, rounds: number): ExtractionInput["context"] {
  return records.flatMap((record) => {
    if (record.type !== "message" || record.turn >= turn || record.turn < turn - rounds) return [];
    const { role, content } = record.body;
    return role === "system" ? [] : [{ role, content }];
  });
}

function passOver(code: AppError["code"]): (error: unknown) => void {
  return (error) => {
    if (!isAppError(error, code)) throw error;
  };
}
