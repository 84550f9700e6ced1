import { type Owner, parseOwner } from "../domain/owner.js";
import { firstTokenAt } from "../domain/plots.js";
import type { PromptBlock, ProposalRecord, TimingRecord, TurnRecord } from "../domain/turn-record.js";
import { AsyncValue } from "../platform/async-value.js";
import { eachInParallel } from "../platform/bounded-parallel.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { ConversationList } from "../ports/conversation-list.js";
import type { Plots } from "../ports/counters.js";
import type { PendingTurn } from "../ports/session-store.js";
import type { EndedTurn, OnMessageRead, RecordedParts, TurnRecorder, TurnRecords } from "../ports/turn-records.js";

/** How long what was told may be known to this process alone: a turn's answer and its write-back are then one write as a rule. */
const TOGETHER_MS = 5_000;
/** At once: an engine that writes what comes together in one go writes once. */
const AT_ONCE = 50;
/** Sessions whose turns are written before that time: what waits is kept small. */
const TOGETHER = 500;
/** Turns that wait or are being written; past it one is left out, and that is logged: they must not pile up behind a store that is slow. */
const MOST_WAITING = 2_000;

export interface TurnRecordingParts {
  readonly records: Pick<TurnRecords, "put">;
  readonly conversations: Pick<ConversationList, "touched">;
  readonly plots: Pick<Plots, "add">;
  /** An erasure waits for it, and then keeps it out. @throws OWNER_ERASED */
  readonly begin: (owner: Owner) => { end(): void };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Of one session, by the number of the turn; made when they are written. */
interface WaitingRecords {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly turns: Map<number, (() => Partial<RecordedParts>)[]>;
}

interface WritingBack {
  readonly turn: PendingTurn;
  proposals: readonly ProposalRecord[] | null;
}

/** Keeps how turns went, off every reply's path: what can't be kept costs the record, and nothing else. */
export class TurnRecording implements TurnRecorder {
  readonly #parts: TurnRecordingParts;
  readonly #writingBack = new AsyncValue<WritingBack>();
  readonly #waiting = new Map<string, WaitingRecords>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #unwritten = 0;

  constructor(parts: TurnRecordingParts) {
    this.#parts = parts;
  }

  turnEnded(owner: Owner, turn: EndedTurn): void {
    const at = this.#parts.clock.now().toISOString();
    this.#keep(owner, turn.session_id, turn.turn, () => ({ turn: recordOf(turn, at) }));
    const failed = turn.outcome === "failed";
    this.#parts.conversations.touched(owner, turn.session_id, { turn: turn.turn, ended: { memoryStatus: turn.memoryStatus, failed } });
    if (turn.outcome === "suspended") return;
    this.#parts.plots.add(parseOwner(owner).tenant, {
      turns: 1,
      failed: failed ? 1 : 0,
      firstToken: turn.firstTokenMs === null ? [] : firstTokenAt(turn.firstTokenMs),
      recall: { [turn.memoryStatus]: 1 },
      given: turn.recalled.length,
      heldBack: Object.values(turn.heldBack ?? {}).reduce((sum, count) => sum + count, 0),
    });
  }

  readonly messageRead: OnMessageRead = (owner, { session_id, turn }, proposals) => {
    const writing = this.#writingBack.get();
    const isIts = writing?.turn.owner === owner && writing.turn.sessionId === session_id && writing.turn.turn === turn;
    if (writing !== undefined && isIts) writing.proposals = proposals;
    else this.#keep(owner, session_id, turn, () => ({ reading: { v: 1, proposals: [...proposals] } }));
    const count = (...outcomes: readonly ProposalRecord["outcome"][]) =>
      proposals.filter(({ outcome }) => outcomes.includes(outcome)).length;
    const sums = { kept: count("kept", "confirmed"), asked: count("asked"), refused: count("refused") };
    this.#parts.plots.add(parseOwner(owner).tenant, { proposals: sums });
  };

  /** A try to write a turn back. */
  async writeBack<T extends "done" | "left">(turn: PendingTurn, run: () => Promise<T>): Promise<T> {
    const started_at = this.#parts.clock.now().toISOString();
    const started = performance.now();
    const writing: WritingBack = { turn, proposals: null };
    const keep = (error_code: string | null) =>
      this.#keep(turn.owner, turn.sessionId, turn.turn, () => ({
        writeBack: {
          v: 1,
          started_at,
          duration_ms: performance.now() - started,
          attempts: turn.attempts + 1,
          error_code,
          proposals: writing.proposals && [...writing.proposals],
        },
      }));
    try {
      const end = await this.#writingBack.run(writing, run);
      if (end === "done") keep(null);
      return end;
    } catch (error) {
      keep(isAppError(error) ? error.code : "INTERNAL");
      throw error;
    }
  }

  /** Resolves when all that was told is kept, or can't be. */
  async settled(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#writing = this.#writing.then(() => eachInParallel(waiting, (each) => this.#write(each), AT_ONCE));
    await this.#writing;
  }

  /** What is told of a session within a moment is one write: a turn's answer as a rule with its write-back. */
  #keep(owner: Owner, sessionId: string, turn: number, part: () => Partial<RecordedParts>): void {
    const key = `${owner} ${sessionId}`;
    const { turns } = this.#waiting.get(key) ?? { turns: new Map<number, (() => Partial<RecordedParts>)[]>() };
    const parts = turns.get(turn);
    if (parts !== undefined) return void parts.push(part);
    if (this.#unwritten >= MOST_WAITING) {
      this.#parts.logger.warn({ session_id: sessionId, turn }, "the store is slow: how a turn went is not kept");
      return;
    }
    this.#unwritten += 1;
    this.#waiting.set(key, { owner, sessionId, turns: turns.set(turn, [part]) });
    if (this.#waiting.size >= TOGETHER) void this.settled();
    else this.#timer ??= setTimeout(() => void this.settled(), TOGETHER_MS).unref();
  }

  async #write({ owner, sessionId, turns }: WaitingRecords): Promise<void> {
    const { records, begin, logger } = this.#parts;
    try {
      const running = begin(owner);
      try {
        const made = [...turns].map(([turn, parts]) => [turn, Object.assign({}, ...parts.map((part) => part()))] as const);
        await records.put(owner, sessionId, new Map(made));
      } finally {
        running.end();
      }
    } catch (error) {
      if (!isAppError(error, "OWNER_ERASED")) logger.warn({ session_id: sessionId, err: error }, "how turns went could not be kept");
    } finally {
      this.#unwritten -= turns.size;
    }
  }
}

function recordOf(turn: EndedTurn, at: string): TurnRecord {
  return {
    v: 1,
    at,
    outcome: turn.outcome,
    error_code: turn.errorCode,
    model: turn.model,
    incognito: turn.incognito,
    memory_status: turn.memoryStatus,
    first_token_ms: rounded(turn.firstTokenMs),
    total_ms: rounded(turn.totalMs) ?? 0,
    prompt_blocks: blocksOf(turn),
    recalled: turn.recalled.map(({ id, why = null, score }) => ({ id, why, score })),
    held_back: turn.heldBack,
    timings: turn.timings.map(roundedTiming),
  };
}

/** A provider caches from the beginning: what lies within as many tokens was cached. */
function blocksOf({ blocks, cachedTokens }: EndedTurn): PromptBlock[] {
  let until = 0;
  return blocks().map((block) => {
    until += block.tokens;
    return { ...block, cached: cachedTokens === null ? null : until <= cachedTokens };
  });
}

function roundedTiming({ started_ms, duration_ms, ...named }: TimingRecord): TimingRecord {
  return { ...named, started_ms: rounded(started_ms) ?? 0, duration_ms: rounded(duration_ms) ?? 0 };
}

function rounded<T extends number | null>(milliseconds: T): T {
  return (milliseconds === null ? null : Math.round(milliseconds * 100) / 100) as T;
}
