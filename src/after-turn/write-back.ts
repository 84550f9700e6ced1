// Over 300 lines: a turn from the journal to its stores, with all that may come between.
import type { TokenMeter } from "../agent/token-meter.js";
import type { Owner } from "../domain/owner.js";
import { hasNoAnswer, isSaid, isUnanswered, type RecordedTurn, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, NewRecord } from "../domain/session.js";
import { isSearchable } from "../history/history.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import { type ConversationHistory, historyMessageOf } from "../ports/history.js";
import type { TurnMemories } from "../ports/memories.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { AppendOptions, PendingTurn, SessionStore } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import type { AlongDue } from "./along-with-reading.js";
import { type JudgeOfWaiting, leaveUntil, mayBeLeft, type RoundBefore, roundBefore } from "./deferred-turns.js";
import { LEFT_TO_READ, OUT_OF_TOKENS } from "./due-turns.js";
import type { OffRecordAsked } from "./off-record.js";
import { replacedMessages, turnToRemember } from "./turn-to-remember.js";

export interface WriteBackParts {
  readonly store: SessionStore;
  readonly ledger: Pick<OwnerLedger, "epoch">;
  readonly writer: SessionWriter;
  /** Null when long-term memory is off. */
  readonly longTerm: Pick<TurnMemories, "remember" | "takeOffRecord"> | null;
  /** Null when there is no history. */
  readonly history: ConversationHistory | null;
  /** What a session's upkeep is due for, and a reading can do along; null where it has calls of its own. Default: it has. */
  readonly along?: (owner: Owner, sessionId: string) => Promise<AlongDue | null>;
  /** Of an owner's messages. Default: none can wait. */
  readonly judgeOf?: (owner: Owner) => JudgeOfWaiting;
  /** Whether a message asks in plain words not to be kept: it waits for no other, and is in no history even while it can't be read. */
  readonly asksNotToKeep?: (owner: Owner, text: string) => boolean;
  /** Takes a turn off the record, where its message asks for it. */
  readonly takeOffRecord: (asked: OffRecordAsked) => Promise<unknown>;
  /** Told in the turn's record. Default: nothing is counted. */
  readonly tokens?: Pick<TokenMeter, "takeAll">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const WAITING: ReadonlySet<string | null> = new Set([OUT_OF_TOKENS, LEFT_TO_READ]);
/** Something may be said in a turn while it is written back: so often it is looked at anew. */
const MAX_TRIES = 5;

export interface WriteBackOptions {
  /** Rounds before the turn that its reader sees, for references. */
  readonly contextRounds: number;
  /** How long a message that can wait does so for a next one, in milliseconds, from when it was left; as the index has due times. */
  readonly leftMs: number;
}

/**
 * Writes one turn back: the verbatim messages to history, what the message says to long-term memory. Neither waits for the other. Of a
 * turn that got no answer the message is read all the same.
 *
 * A message is read once, by a call of its own or along with another: what came of it is one entry of the owner's memory log, durable
 * before the first call to a store; `write_back_done` follows when the stores have confirmed it. What crashes between the two is completed
 * from the log. Where another agent leads the conversation, a turn is written back when something was said in it, and again when more is.
 */
export class WriteBack {
  readonly #parts: WriteBackParts;
  readonly #options: WriteBackOptions;

  constructor(parts: WriteBackParts, options: WriteBackOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Resolves when the turn is done and journalled as such, or left to be read later. Throws when it has to be tried again. */
  async run(pending: PendingTurn, signal: AbortSignal): Promise<"done" | "left"> {
    // An erasure that begins from here on is known by it.
    const epoch = await this.#parts.ledger.epoch(pending.owner);
    const read = await this.#read(pending, signal);
    try {
      return await this.#write(pending, read, epoch, signal);
    } catch (error) {
      await this.#takeBackIfPurged(pending, read);
      await this.#takeBackIfErased(pending, read, epoch);
      throw error;
    }
  }

  async #write(pending: PendingTurn, read: TurnRead, epoch: number, signal: AbortSignal): Promise<"done" | "left"> {
    const { owner, sessionId, turn } = pending;
    const { records, recorded } = read;
    const nothing = { status: "skipped", memory_ids: [] } as const;
    if (!recorded || !isSaid(recorded)) {
      await this.#keep(owner, sessionId, read.elsewhere, [], signal);
      await this.#finish(pending, nothing, read, signal);
      return "done";
    }

    const replaces = await replacedMessages(this.#parts.store.journal, pending, recorded.user.body.edit_of, signal);
    // One that only waits, to be read or for the next day's tokens, is in history already, unless it was answered since.
    const answeredLate = records.some((record) => record.type === "message" && record.turn === turn && hasNoAnswer(record));
    const waited = WAITING.has(pending.errorCode) && read.elsewhere.length === 0 && !answeredLate;
    // What got no answer is read, and is not part of history.
    const both = isUnanswered(recorded) ? [] : [recorded.user, ...(recorded.assistant === null ? [] : [recorded.assistant])];
    const isOff = this.#parts.asksNotToKeep?.(owner, recorded.user.body.content) === true;
    const said = isOff ? [] : read.elsewhere.length > 0 ? read.elsewhere : both;
    const [remembered, kept] = await Promise.allSettled([
      this.#remember(
        pending,
        records,
        recorded.user,
        { replaces: replaces.messages, before: roundBefore(records, turn), isOff, epoch },
        signal,
      ),
      waited ? null : this.#keep(owner, sessionId, said, replaces.searchable, signal),
    ]);
    const waits = remembered.status === "rejected" && isAppError(remembered.reason, OUT_OF_TOKENS);
    if (waits && kept.status === "rejected") throw kept.reason;
    if (remembered.status === "rejected") throw remembered.reason;
    if (kept.status === "rejected") throw kept.reason;
    const { offRecord, isLeft, ...outcome } = remembered.value;
    if (isLeft) {
      const nowMs = this.#parts.clock.now().getTime();
      await leaveUntil(this.#parts.store.turns, pending, { nowMs, dueAtMs: nowMs + this.#options.leftMs });
      return "left";
    }
    // Once it is in history: what is taken out is then out of all of them.
    const takeOut = async () => offRecord && this.#parts.takeOffRecord({ owner, sessionId, turn, which: offRecord, signal });
    await takeOut();
    await this.#finish(pending, outcome, read, signal, takeOut);
    return "done";
  }

  /** Gives a turn up: it stays visible as failed until it is retried. */
  async fail(pending: PendingTurn, error: unknown): Promise<void> {
    const code = isAppError(error) ? error.code : "INTERNAL";
    await this.#append(pending, this.#done(pending, { status: "failed", memory_ids: [], error_code: code }), {});
  }

  /**
   * Journals that the turn is done, as far as it was read: what was said in it since goes to history first, and `then` runs again. Where it
   * was said again differently, another process may have looked for what it gave, and found nothing yet: it goes.
   */
  async #finish(
    pending: PendingTurn,
    outcome: Outcome,
    first: TurnRead,
    signal: AbortSignal,
    then: () => Promise<unknown> = async () => {},
  ): Promise<void> {
    const done = this.#done(pending, outcome);
    let read = first;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#append(pending, done, tries === 1 || read.goesOn ? { expectedSeq: read.lastSeq } : {});
      } catch (error) {
        if (!isAppError(error, "SESSION_CHANGED") || tries >= MAX_TRIES) throw error;
      }
      read = await this.#read(pending, signal);
      if (first.recorded !== null && read.recorded === null) {
        await this.#takeBack(pending, first);
        return this.#append(pending, { ...done, status: "skipped", memory_ids: [] }, {});
      }
      // Answered meanwhile, by a retry or its caller's tools: it is written back as that.
      if (isUnanswered(first.recorded) && !isUnanswered(read.recorded)) return void (await this.run(pending, signal));
      await this.#keep(pending.owner, pending.sessionId, read.elsewhere, [], signal);
      await then();
    }
  }

  async #remember(
    pending: PendingTurn,
    records: readonly JournalRecord[],
    user: MessageRecord,
    {
      replaces,
      before,
      isOff,
      epoch,
    }: { readonly replaces: readonly string[]; readonly before: RoundBefore | null; readonly isOff: boolean; readonly epoch: number },
    signal: AbortSignal,
  ): Promise<Outcome & { readonly offRecord?: "this" | "previous"; readonly isLeft?: boolean }> {
    const { store, longTerm, clock, judgeOf = () => () => false } = this.#parts;
    const { owner, sessionId } = pending;
    if (longTerm === null) return { status: "skipped", memory_ids: [], error_code: "LONG_TERM_MEMORY_DISABLED" };
    const now = clock.now();
    const isReadNow = replaces.length > 0 || isOff;
    const mayWait = isReadNow ? null : await mayBeLeft(store, pending, { user, before, judge: judgeOf(owner) }, signal);
    const said = turnToRemember(sessionId, user, records, this.#options.contextRounds);
    const also = mayWait === "along" ? null : await this.#alsoDue(owner, sessionId);
    const waits = mayWait !== null && also?.overdue !== true;
    const toRemember = { ...said, ...(replaces.length > 0 && { replaces }), ...(also && { also }), may_wait: waits };
    const remembered = await longTerm.remember(owner, toRemember, { now, signal, epoch, last: true });
    const { memories, forgotten, off_record: offRecord, left = false } = remembered;
    const ids = memories.flatMap(({ id, status }) => (status === "superseded" ? [] : [id]));
    return {
      status: memories.length + forgotten.length > 0 ? "stored" : "skipped",
      memory_ids: ids,
      ...(offRecord !== null && { offRecord }),
      ...(left && mayWait === "aside" && { isLeft: true }),
    };
  }

  /** What can't be looked up is left to the upkeep. */
  async #alsoDue(owner: Owner, sessionId: string): Promise<AlongDue | null> {
    return (await this.#parts.along?.(owner, sessionId).catch(() => null)) ?? null;
  }

  /**
   * What lands in history behind an erasure goes again: no epoch stands in the way there of a process that was stopped for longer than its
   * claim, and then went on.
   */
  async #takeBackIfErased(pending: PendingTurn, read: TurnRead, epoch: number): Promise<void> {
    const { history, ledger } = this.#parts;
    if (history === null) return;
    try {
      if ((await ledger.epoch(pending.owner)) !== epoch) await history.removeMessages(pending.owner, saidIn(pending, read));
    } catch {
      // What made it fail is told by whoever was broken off.
    }
  }

  /** Another process that purges the session meanwhile finds nothing yet of what the turn gave: it goes. */
  async #takeBackIfPurged(pending: PendingTurn, read: TurnRead): Promise<void> {
    const { owner, sessionId } = pending;
    try {
      await this.#parts.store.journal.window(owner, sessionId, { rounds: 0 });
    } catch (error) {
      if (isAppError(error, "SESSION_NOT_FOUND")) await this.#takeBack(pending, read);
    }
  }

  /** Of a turn that is no part of the conversation any more. */
  async #takeBack(pending: PendingTurn, read: TurnRead): Promise<void> {
    const { history, longTerm, clock } = this.#parts;
    const said = saidIn(pending, read);
    await longTerm?.takeOffRecord(pending.owner, said, { now: clock.now() });
    await history?.removeMessages(pending.owner, said);
  }

  /** Verbatim, in history; what was said again differently leaves it. */
  async #keep(
    owner: Owner,
    sessionId: string,
    said: readonly MessageRecord[],
    replaced: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { history } = this.#parts;
    if (history === null) return;
    if (replaced.length > 0) await history.removeMessages(owner, replaced);
    if (said.length === 0 || !said.every(isSearchable)) return;
    const messages = said.map((message) => historyMessageOf(sessionId, message));
    await history.addEvents(owner, messages, { signal });
  }

  /** From the journal's end as a rule: the turn, and what stands of those right before it. */
  async #read(pending: PendingTurn, signal: AbortSignal): Promise<TurnRead> {
    const { journal } = this.#parts.store;
    const { owner, sessionId, turn } = pending;
    const { contextRounds } = this.#options;
    const { lastSeq } = await journal.window(owner, sessionId, { rounds: 0, signal });
    const found: JournalRecord[] = [];
    const elsewhere: MessageRecord[] = [];
    let goesOn = false;
    const newest: JournalRecord[] = [];
    for await (const record of journal.newestFirst(owner, sessionId, { signal })) {
      // User messages come in the order of their turns: what is older is no part of the rounds that the turn's reader sees.
      if (record.type === "message" && record.body.role === "user" && record.turn < turn - contextRounds) break;
      newest.push(record);
    }
    for (const record of newest.reverse()) {
      const isMessage = record.type === "message";
      if (isMessage && record.turn === turn && record.body.ingested === true) goesOn = true;
      if (goesOn && isMessage && record.turn > turn) {
        goesOn = false;
        break;
      }
      if (isMessage && record.turn === turn && record.body.ingested === true && record.body.content !== "") elsewhere.push(record);
      if (record.turn >= turn - contextRounds && record.turn <= turn) found.push(record);
    }
    const stands = new Set(found.flatMap((record) => (record.type === "message" && isPartOfTalk(record) ? [record.turn] : [])));
    const records = found.filter((record) => record.turn === turn || stands.has(record.turn));
    const recorded = recordedTurn(records, turn);
    return { records, recorded, elsewhere, goesOn: goesOn || isUnanswered(recorded), lastSeq };
  }

  #done(pending: PendingTurn, outcome: Outcome): DoneBody {
    const tokens = this.#parts.tokens?.takeAll(pending) ?? {};
    const spent = Object.keys(tokens).length > 0 ? { tokens } : {};
    return { ...outcome, memory_ids: [...outcome.memory_ids], attempts: pending.attempts + 1, ...spent };
  }

  async #append({ owner, sessionId, turn }: PendingTurn, body: DoneBody, options: AppendOptions): Promise<void> {
    const at = this.#parts.clock.now().toISOString();
    await this.#parts.writer.append(owner, sessionId, [{ type: "write_back_done", id: newId(), turn, at, body }], options);
  }
}

type DoneBody = Extract<NewRecord, { type: "write_back_done" }>["body"];

/** What was answered, or is somebody else's to answer. */
function isPartOfTalk({ body }: MessageRecord): boolean {
  return body.outcome === "completed" || body.ingested === true;
}

/** Ids of the turn's messages. */
function saidIn({ turn }: PendingTurn, { records, elsewhere }: TurnRead): readonly string[] {
  const said = records.flatMap((record) => (record.type === "message" && record.turn === turn ? [record.id] : []));
  return [...new Set([...said, ...elsewhere.map(({ id }) => id)])];
}

/** What a turn is written back from. */
interface TurnRead {
  /** Of the turn and of those right before it. */
  readonly records: readonly JournalRecord[];
  /** Null where it is not in the journal any more. */
  readonly recorded: RecordedTurn | null;
  /** What was said in the turn where another agent leads the conversation; else nothing. */
  readonly elsewhere: readonly MessageRecord[];
  /** Whether more may be said in it. */
  readonly goesOn: boolean;
  /** The journal's, before it was read. */
  readonly lastSeq: number;
}

interface Outcome {
  readonly status: "stored" | "skipped" | "failed";
  readonly memory_ids: readonly string[];
  readonly error_code?: string;
}
