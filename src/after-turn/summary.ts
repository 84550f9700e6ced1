// Over 300 lines: when a summary is due, and how it is written; its rules are beside it.

import { readTurnsOffRecord } from "../domain/off-record.js";
import type { Owner } from "../domain/owner.js";
import type { NewRecord, RecordOf, Round } from "../domain/session.js";
import { isCurrent, standsInFor } from "../domain/summary.js";
import { blockOf, windowStart } from "../domain/window.js";
import { isSearchable, summaryMessage } from "../history/history.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { AlsoAsked } from "../ports/extraction.js";
import { whileOpen } from "../ports/owner-gate.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import { underSessionLock, type WindowRead } from "../ports/session-store.js";
import { sessionsSince } from "../ports/sessions-since.js";
import { extractiveSummary, roundsToldBy, type SummaryRound } from "./extractive-summary.js";
import { type EarlierSummary, linesThatFit, modelSummary, summaryAsked } from "./model-summary.js";
import { areLeft, SummariesInHistory, type SummaryOptions, type SummaryParts, withoutForgotten } from "./summary-parts.js";

export type { SummaryOptions, SummaryParts } from "./summary-parts.js";

type SummaryRecord = RecordOf<"summary">;
const ALL_ROUNDS = Number.MAX_SAFE_INTEGER;
/** Of a longer session a summary goes on from the one before, and reads what has left the window since: it costs the same at any length. */
const WHOLE_TURNS = 100;
/** Rounds that may come while a summary is being written; after more it is left to the next turn. */
const ROUNDS_MEANWHILE = 50;

/** Of a block: so long a summary may be due before a reading that could wait is made for it. */
const WAITS_FOR_A_READING = 0.3;

interface PlannedSummary {
  readonly read: WindowRead;
  readonly rounds: readonly Round[];
  readonly job: SummaryJob;
  readonly overdue: boolean;
}

interface SummaryJob {
  readonly at: Date;
  readonly tombstones: readonly Tombstone[];
  readonly final: boolean;
  readonly by: "model" | "extract";
  /** What a summary of more rounds than fit into one call goes on from. Default: the one that stands. */
  readonly earlier?: SummaryRecord | null;
  /** The one before, where only the rounds after it are given. */
  readonly onward?: SummaryRecord;
  readonly signal: AbortSignal;
}

/**
 * Keeps the rolling summary of what has left the window, off the reply path. Rounds leave in blocks, and the window keeps a block until
 * the summary has it, so that it need not be written with every turn and yet no round is out of both. Up to 100 turns it is made from the
 * rounds themselves as far as they fit, then from the one before and what came after it; what was forgotten is left out. Where the day's
 * tokens are used up an extract stands in until they are not. Nothing here throws: a summary that fails is tried again after the next turn.
 */
export class SummaryKeeper {
  readonly #parts: SummaryParts;
  readonly #options: Required<SummaryOptions>;
  readonly #inHistory: SummariesInHistory;

  constructor(parts: SummaryParts, options: SummaryOptions) {
    this.#parts = parts;
    this.#inHistory = new SummariesInHistory(parts);
    this.#options = {
      windowTokens: Number.POSITIVE_INFINITY,
      blockRounds: blockOf(options.windowRounds),
      maxInputTokens: 12_000,
      modelTimeoutMs: 60_000,
      lockWaitMs: 30_000,
      ...options,
    };
  }

  /** After a turn. True when a summary was written. */
  maintain(owner: Owner, sessionId: string): Promise<boolean> {
    return this.#safely(owner, sessionId, (signal) => this.#maintain(owner, sessionId, signal));
  }

  /**
   * At archiving: one that covers the whole session. An extract, which waits for no model, is there when this resolves; a model's takes
   * its place later. Where the process stops before, the extract stays.
   */
  async finish(owner: Owner, sessionId: string): Promise<boolean> {
    const { model } = this.#parts;
    let earlier: SummaryRecord | null = null;
    const written = await this.#safely(owner, sessionId, async (signal) => {
      const read = await this.#parts.store.journal.window(owner, sessionId, { rounds: ALL_ROUNDS, signal });
      const last = read.rounds.at(-1);
      if (!last) return false;
      earlier = read.summary;
      const at = this.#parts.clock.now();
      const tombstones = await this.#parts.ledger.tombstones(owner);
      const covered = (read.summary?.body.to_turn ?? 0) >= last.turn && isCurrent(read.summary, tombstones);
      return !covered && this.#write(owner, sessionId, read, read.rounds, { at, tombstones, final: true, by: "extract", signal });
    });
    if (written && model && !model.standIn)
      void this.#safely(owner, sessionId, (signal) => this.#finishByModel(owner, sessionId, earlier, signal));
    return written;
  }

  /** After a turn was taken off the record: writes the session's summary anew where it covers the turn. */
  offRecord(owner: Owner, sessionId: string, turn: number): Promise<boolean> {
    return this.#safely(owner, sessionId, async (signal) => {
      const read = await this.#parts.store.journal.window(owner, sessionId, { rounds: ALL_ROUNDS, signal });
      const { summary } = read;
      if (summary === null || summary.body.from_turn > turn || summary.body.to_turn < turn) return false;
      const at = this.#parts.clock.now();
      const tombstones = await this.#parts.ledger.tombstones(owner);
      const covered = read.rounds.filter((round) => round.turn <= summary.body.to_turn);
      const { final } = summary.body;
      return this.#write(owner, sessionId, read, covered, { at, tombstones, final, by: "model", earlier: null, signal });
    });
  }

  /** After something was forgotten: writes every summary of the owner anew that may still tell it. Returns how many. */
  async forgotten(owner: Owner): Promise<number> {
    let written = 0;
    await this.#safely(owner, null, async (signal) => {
      for (const { id, summary } of await sessionsSince(this.#parts.store.index, owner)) {
        const anew = () => this.#maintain(owner, id, signal).catch((error: unknown) => this.#failed(id, error));
        if (summary !== null && (await anew())) written += 1;
      }
      return written > 0;
    });
    return written;
  }

  async #finishByModel(owner: Owner, sessionId: string, earlier: SummaryRecord | null, signal: AbortSignal): Promise<boolean> {
    const read = await this.#parts.store.journal.window(owner, sessionId, { rounds: ALL_ROUNDS, signal });
    const at = this.#parts.clock.now();
    const tombstones = await this.#parts.ledger.tombstones(owner);
    return this.#write(owner, sessionId, read, read.rounds, { at, tombstones, final: true, by: "model", earlier, signal });
  }

  async #safely(owner: Owner, sessionId: string | null, work: (signal: AbortSignal) => Promise<boolean>): Promise<boolean> {
    try {
      return await whileOpen(this.#parts.gate, owner, work);
    } catch (error) {
      return this.#failed(sessionId, error);
    }
  }

  #failed(sessionId: string | null, error: unknown): false {
    const code = isAppError(error) ? error.code : "INTERNAL";
    this.#parts.logger.warn({ session_id: sessionId, code, err: error }, "the summary was not written; the next turn tries again");
    return false;
  }

  /** The call that {@link maintain} would make; null where none is due, or where it takes several. @throws what reading throws */
  async due(owner: Owner, sessionId: string, signal: AbortSignal): Promise<(AlsoAsked & { readonly overdue: boolean }) | null> {
    const { model, counter } = this.#parts;
    const { maxTokens, maxInputTokens } = this.#options;
    const planned = model && !model.standIn ? await this.#planned(owner, sessionId, signal) : null;
    if (planned === null) return null;
    const { rounds, read, job, overdue } = planned;
    const { visible, earlier } = await this.#told(owner, sessionId, rounds, read, job);
    const asked = visible.length === 0 ? null : summaryAsked(visible, earlier, { maxTokens, maxInputTokens, counter });
    return asked && { ...asked, overdue };
  }

  async #maintain(owner: Owner, sessionId: string, signal: AbortSignal): Promise<boolean> {
    const planned = await this.#planned(owner, sessionId, signal);
    return planned !== null && this.#write(owner, sessionId, planned.read, planned.rounds, planned.job);
  }

  /** What is to be written now; null where the summary that stands covers what has left the window. */
  async #planned(owner: Owner, sessionId: string, signal: AbortSignal): Promise<PlannedSummary | null> {
    const { journal } = this.#parts.store;
    const { windowRounds, blockRounds } = this.#options;
    const near = await journal.window(owner, sessionId, { rounds: windowRounds + 2 * blockRounds, signal });
    // Taken before the tombstones are read: one that comes later is later than the summary too.
    const at = this.#parts.clock.now();
    const tombstones = await this.#parts.ledger.tombstones(owner);
    const { left, toCover, isLate } = this.#outside(near.rounds);
    const newestOutside = near.rounds[left - 1];
    const current = isCurrent(near.summary, tombstones);
    const covers = current && !near.summary?.body.interim && (near.summary?.body.to_turn ?? 0) >= (newestOutside?.turn ?? 0);
    if (near.summary === null ? !newestOutside : covers) return null;
    // What was forgotten goes out of it at once.
    const overdue = isLate || (near.summary !== null && !current);
    const onward = current ? onwardFrom(near) : null;
    if (onward !== null) {
      const since = near.rounds.slice(0, toCover).filter(({ turn }) => turn > onward.body.to_turn);
      return { read: near, rounds: since, job: { at, tombstones, final: false, by: "model", onward, signal }, overdue };
    }
    const read = await journal.window(owner, sessionId, { rounds: ALL_ROUNDS, signal });
    const final = read.summary?.body.final === true && !current;
    const covered = final ? read.rounds.length : this.#outside(read.rounds).toCover;
    return { read, rounds: read.rounds.slice(0, covered), job: { at, tombstones, final, by: "model", signal }, overdue };
  }

  /**
   * How many of the oldest rounds may have left the window, by number or by size, and how many a summary is to cover. Where the size
   * decides, a turn may leave out up to half of those that fit, and the summary is written ahead of it. `isLate`: a summary of them is
   * not to wait for a reading that it could be written along with.
   */
  #outside(rounds: readonly Round[]): { readonly left: number; readonly toCover: number; readonly isLate: boolean } {
    const { windowRounds, windowTokens, blockRounds } = this.#options;
    const turns = rounds.map(({ turn }) => turn);
    const start = windowStart(turns, windowRounds, blockRounds);
    const left = turns.filter((turn) => turn < start).length;
    const isLate = turns.length - left - windowRounds >= Math.floor(blockRounds * WAITS_FOR_A_READING);
    // One that waited for a reading takes in what came meanwhile: the window then begins behind it.
    const toCover = left === 0 ? 0 : Math.max(left, turns.length - windowRounds);
    if (windowTokens === Number.POSITIVE_INFINITY) return { left, toCover, isLate };
    let tokens = 0;
    let fitting = 0;
    for (const round of rounds.slice(left).reverse()) {
      tokens += this.#tokensOf(round);
      if (tokens > windowTokens) break;
      fitting += 1;
    }
    if (left + fitting === rounds.length) return { left, toCover, isLate };
    return { left: rounds.length - Math.floor(fitting / 2), toCover: rounds.length - Math.floor(fitting / 4), isLate: true };
  }

  #tokensOf({ user, steps, assistant }: Round): number {
    return this.#parts.counter.count(`${user.body.content}\n${JSON.stringify(steps)}\n${assistant.body.content}`);
  }

  async #write(owner: Owner, sessionId: string, read: WindowRead, rounds: readonly Round[], job: SummaryJob): Promise<boolean> {
    const first = rounds[0];
    const last = rounds.at(-1);
    if (!first || !last) return false;
    const { tombstones, final, signal, onward } = job;
    const { visible, earlier } = await this.#told(owner, sessionId, rounds, read, job);
    const { tokens } = this.#parts;
    const make = () => this.#summarise({ owner, sessionId }, visible, earlier, onward?.body.text ?? null, signal);
    const { text, by, interim } =
      job.by === "extract"
        ? { text: await this.#extract(visible, null, signal), by: "extract" }
        : await (tokens?.during({ owner, sessionId }, make) ?? make());
    if (interim && standsInFor(read.summary, last.turn) && isCurrent(read.summary, tombstones)) return false;
    const spent = tokens?.takeAll({ owner, sessionId }) ?? {};
    // A model that failed has nothing to put in its place.
    if (read.summary?.body.final && final && text === read.summary.body.text && isCurrent(read.summary, tombstones)) return false;
    const inHistory = (round: Round) => isSearchable(round.user) && isSearchable(round.assistant);
    const before = onward?.body.searchable;
    const remembered =
      before === undefined && rounds.every(inHistory)
        ? text
        : await this.#extract(
            visible.filter(({ turn }) => rounds.some((round) => round.turn === turn && inHistory(round))),
            typeof before === "string" ? before : (onward?.body.text ?? null),
            signal,
          );
    const body = {
      text,
      from_turn: onward?.body.from_turn ?? first.turn,
      to_turn: last.turn,
      by,
      final,
      ...(interim && { interim }),
      ...(Object.keys(spent).length > 0 && { tokens: spent }),
      // Journalled, so that history can be rebuilt without what was kept out of it.
      ...(remembered === text ? {} : { searchable: remembered }),
    };
    const record: NewRecord = { type: "summary", id: newId(), turn: 0, at: job.at.toISOString(), body };

    const { store, writer } = this.#parts;
    const written = await underSessionLock(store.locks, owner, sessionId, { waitMs: this.#options.lockWaitMs, signal }, async (lease) => {
      const near = this.#options.windowRounds + this.#options.blockRounds + ROUNDS_MEANWHILE;
      const now = await store.journal.window(owner, sessionId, { rounds: near, signal });
      if (now.summary?.id !== read.summary?.id || !(await areLeft(store.journal, owner, sessionId, rounds, now))) return false;
      await this.#inHistory.remove(owner, read.summary, isCurrent(read.summary, tombstones));
      const [journalled] = await writer.append(owner, sessionId, [record], { fence: lease.fence });
      // Writing unpacked it.
      if ((await store.index.get(owner, sessionId))?.status === "archived") await store.journal.compress(owner, sessionId);
      return journalled;
    });
    if (written === false) return false;
    if (written?.type === "summary" && remembered !== "") await this.#inHistory.add(owner, summaryMessage(sessionId, written), signal);
    // Whoever wrote the one before may have added it only now.
    await this.#inHistory.remove(owner, read.summary, true);
    return true;
  }

  /** What a model is told of them: nothing that was forgotten or is off the record. */
  async #told(owner: Owner, sessionId: string, rounds: readonly Round[], read: WindowRead, job: SummaryJob) {
    const { tombstones, signal, onward, earlier = read.summary } = job;
    const fromSeq = onward === undefined ? 1 : (rounds[0]?.user.seq ?? 1);
    const offRecord = await readTurnsOffRecord(this.#parts.store.journal.read(owner, sessionId, { fromSeq, signal }));
    const visible = withoutForgotten(rounds, tombstones).filter((round) => !offRecord.has(round.turn));
    const so = isCurrent(earlier, tombstones) ? earlier : null;
    return { visible, earlier: so && { text: so.body.text, toTurn: so.body.to_turn } };
  }

  async #summarise(
    { owner, sessionId }: { readonly owner: Owner; readonly sessionId: string },
    rounds: readonly SummaryRound[],
    earlier: EarlierSummary | null,
    before: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly by: string; readonly interim?: true }> {
    const { model, counter, along, logger } = this.#parts;
    const { maxTokens, maxInputTokens, modelTimeoutMs } = this.#options;
    if (model && !model.standIn && rounds.length > 0) {
      const asked = along === undefined ? null : summaryAsked(rounds, earlier, { maxTokens, maxInputTokens, counter });
      const made = linesThatFit((asked && along?.take(owner, sessionId, asked)) ?? "", maxTokens, counter).trim();
      if (made !== "") return { text: made, by: model.name };
      try {
        const bounded = AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs)]);
        return {
          text: await modelSummary(model, rounds, earlier, { maxTokens, maxInputTokens, counter, signal: bounded }),
          by: model.name,
        };
      } catch (error) {
        signal.throwIfAborted();
        if (isAppError(error, "COST_LIMIT_REACHED"))
          return { text: await this.#extract(rounds, before, signal), by: "extract", interim: true };
        logger.warn({ err: error }, "the model wrote no summary; an extract takes its place");
      }
    }
    return { text: await this.#extract(rounds, before, signal), by: "extract" };
  }

  /** `before`: the summary of what came before the rounds, where they aren't all. */
  #extract(rounds: readonly SummaryRound[], before: string | null, signal: AbortSignal): Promise<string> {
    const told = before === null ? [] : roundsToldBy(before);
    return extractiveSummary([...told, ...rounds], { maxTokens: this.#options.maxTokens, counter: this.#parts.counter, signal });
  }
}

/** What a summary of a long session can go on from: null where it has to be made from all rounds. */
function onwardFrom({ summary, rounds, lastTurn }: WindowRead): SummaryRecord | null {
  if (summary === null || summary.body.interim || summary.body.final || lastTurn <= WHOLE_TURNS) return null;
  return rounds.some(({ turn }) => turn <= summary.body.to_turn) ? summary : null;
}
