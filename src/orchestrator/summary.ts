import type { ChatModel } from "../agent.js";
import { isAppError } from "../errors.js";
import type { ConversationHistory, HistoryMessage } from "../history.js";
import type { Owner } from "../owner.js";
import type { OwnerLedger, Tombstone } from "../owner-ledger.js";
import type { Clock } from "../platform/clock.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import { isSearchable, summaryMessage } from "../searchable.js";
import type { JournalRecord, NewRecord, RecordOf, Round } from "../session.js";
import { type SessionStore, sessionLockKey, type WindowRead } from "../session-store.js";
import type { SessionWriter } from "../session-writer.js";
import { extractiveSummary, type SummaryRound } from "./extractive-summary.js";
import { modelSummary } from "./model-summary.js";
import type { TokenCounter } from "./tokens.js";

export interface SummaryParts {
  readonly store: Pick<SessionStore, "journal" | "index" | "locks">;
  readonly writer: SessionWriter;
  readonly ledger: OwnerLedger;
  readonly history: ConversationHistory;
  /** Null, or a stand-in: summaries are extracts. */
  readonly model: ChatModel | null;
  readonly counter: TokenCounter;
  /** Lets an erasure end the work and wait for it. */
  readonly gate: { begin(owner: Owner): { readonly signal: AbortSignal; end(): void } };
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SummaryOptions {
  /** Completed rounds in the window (SHORT_TERM_ROUNDS). */
  readonly windowRounds: number;
  /** Tokens of rounds that the context surely has room for: rounds beyond them count as out of the window. Default: no bound. */
  readonly windowTokens?: number;
  /** A summary is written anew every so many rounds. Default 5. */
  readonly refreshRounds?: number;
  /** SUMMARY_MAX_TOKENS. */
  readonly maxTokens: number;
  /** Transcript tokens that one model call is given. Default 12,000. */
  readonly maxInputTokens?: number;
  /** Bound of all model calls for one summary, in milliseconds. Default 60,000. */
  readonly modelTimeoutMs?: number;
  /** How long writing the summary waits for a turn that runs. Default 30,000. */
  readonly lockWaitMs?: number;
}

type SummaryRecord = RecordOf<"summary">;
const ALL_ROUNDS = Number.MAX_SAFE_INTEGER;
/** Rounds that may come while a summary is being written; after more it is left to the next turn. */
const ROUNDS_MEANWHILE = 50;

interface SummaryJob {
  readonly at: Date;
  readonly tombstones: readonly Tombstone[];
  readonly final: boolean;
  readonly by: "model" | "extract";
  /** What a summary of more rounds than fit into one call goes on from. Default: the one that stands. */
  readonly earlier?: SummaryRecord | null;
  readonly signal: AbortSignal;
}

/**
 * Keeps the rolling summary of what has left the window, off the reply path. It is written ahead of the window by a few rounds, so
 * that it need not be written with every turn and yet no round is ever out of both; it is always made from the rounds themselves
 * as far as they fit, and leaves out what was forgotten. Nothing here throws: a summary that fails is tried again after the next turn.
 */
export class SummaryKeeper {
  readonly #parts: SummaryParts;
  readonly #options: Required<SummaryOptions>;

  constructor(parts: SummaryParts, options: SummaryOptions) {
    this.#parts = parts;
    this.#options = {
      windowTokens: Number.POSITIVE_INFINITY,
      refreshRounds: 5,
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

  /** After something was forgotten: writes every summary of the owner anew that may still tell it. Returns how many. */
  async forgotten(owner: Owner): Promise<number> {
    let written = 0;
    await this.#safely(owner, null, async (signal) => {
      for (const status of ["active", "archived", "deleted"] as const) {
        let cursor: string | undefined;
        do {
          const page = await this.#parts.store.index.list(owner, { status, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
          for (const { id, summary } of page.data) {
            const anew = () => this.#maintain(owner, id, signal).catch((error: unknown) => this.#failed(id, error));
            if (summary !== null && (await anew())) written += 1;
          }
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
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
    let running: { readonly signal: AbortSignal; end(): void } | null = null;
    try {
      running = this.#parts.gate.begin(owner);
      return await work(running.signal);
    } catch (error) {
      return this.#failed(sessionId, error);
    } finally {
      running?.end();
    }
  }

  #failed(sessionId: string | null, error: unknown): false {
    const code = isAppError(error) ? error.code : "INTERNAL";
    this.#parts.logger.warn({ session_id: sessionId, code, err: error }, "the summary was not written; the next turn tries again");
    return false;
  }

  async #maintain(owner: Owner, sessionId: string, signal: AbortSignal): Promise<boolean> {
    const { journal } = this.#parts.store;
    const { windowRounds, refreshRounds } = this.#options;
    const near = await journal.window(owner, sessionId, { rounds: windowRounds + 1, signal });
    // Taken before the tombstones are read: one that comes later is later than the summary too.
    const at = this.#parts.clock.now();
    const tombstones = await this.#parts.ledger.tombstones(owner);
    const outside = near.rounds.length - this.#roundsInWindow(near.rounds);
    const newestOutside = near.rounds[outside - 1];
    const current = isCurrent(near.summary, tombstones);
    if (near.summary === null ? !newestOutside : current && near.summary.body.to_turn >= (newestOutside?.turn ?? 0)) return false;
    const read = await journal.window(owner, sessionId, { rounds: ALL_ROUNDS, signal });
    const fallen = read.rounds.length - this.#roundsInWindow(read.rounds);
    const final = read.summary?.body.final === true && !current;
    const ahead = final ? read.rounds.length : Math.min(read.rounds.length, fallen + refreshRounds - 1);
    return this.#write(owner, sessionId, read, read.rounds.slice(0, ahead), { at, tombstones, final, by: "model", signal });
  }

  /** How many of the newest rounds are in the window, by number and by size. */
  #roundsInWindow(rounds: readonly Round[]): number {
    const { windowRounds, windowTokens } = this.#options;
    let tokens = 0;
    let count = 0;
    for (const round of rounds.toReversed()) {
      if (windowTokens !== Number.POSITIVE_INFINITY) tokens += this.#tokensOf(round);
      if (count === windowRounds || tokens > windowTokens) break;
      count += 1;
    }
    return count;
  }

  #tokensOf({ user, steps, assistant }: Round): number {
    return this.#parts.counter.count(`${user.body.content}\n${JSON.stringify(steps)}\n${assistant.body.content}`);
  }

  async #write(owner: Owner, sessionId: string, read: WindowRead, rounds: readonly Round[], job: SummaryJob): Promise<boolean> {
    const first = rounds[0];
    const last = rounds.at(-1);
    if (!first || !last) return false;
    const { tombstones, final, signal, earlier = read.summary } = job;
    const visible = withoutForgotten(rounds, tombstones);
    const { text, by } =
      job.by === "extract"
        ? { text: await this.#extract(visible, signal), by: "extract" }
        : await this.#summarise(visible, isCurrent(earlier, tombstones) ? earlier : null, signal);
    // A model that failed has nothing to put in its place.
    if (read.summary?.body.final && final && text === read.summary.body.text && isCurrent(read.summary, tombstones)) return false;
    const remembered = rounds.every((round) => isSearchable(round.user))
      ? text
      : await this.#extract(
          visible.filter((_, position) => {
            const user = rounds[position]?.user;
            return user !== undefined && isSearchable(user);
          }),
          signal,
        );
    const body = {
      text,
      from_turn: first.turn,
      to_turn: last.turn,
      by,
      final,
      // Journalled, so that history can be rebuilt without what was kept out of it.
      ...(remembered === text ? {} : { searchable: remembered }),
    };
    const record: NewRecord = { type: "summary", id: newId(), turn: 0, at: job.at.toISOString(), body };

    const { store, writer } = this.#parts;
    const lease = await store.locks.acquire(sessionLockKey(owner, sessionId), { waitMs: this.#options.lockWaitMs, signal });
    let written: JournalRecord | undefined;
    try {
      if (!(await this.#stands(owner, sessionId, last, read.summary, signal))) return false;
      await this.#takeFromHistory(owner, read.summary, isCurrent(read.summary, tombstones));
      [written] = await writer.append(owner, sessionId, [record], { fence: lease.fence });
      // Writing unpacked it.
      if ((await store.index.get(owner, sessionId))?.status === "archived") await store.journal.compress(owner, sessionId);
    } finally {
      await lease.release();
    }
    if (written?.type === "summary" && remembered !== "") await this.#addToHistory(owner, summaryMessage(sessionId, written), signal);
    return true;
  }

  async #summarise(
    rounds: readonly SummaryRound[],
    earlier: SummaryRecord | null,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly by: string }> {
    const { model, counter, logger } = this.#parts;
    const { maxTokens, maxInputTokens, modelTimeoutMs } = this.#options;
    if (model && !model.standIn && rounds.length > 0) {
      try {
        const bounded = AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs)]);
        const so = earlier && { text: earlier.body.text, toTurn: earlier.body.to_turn };
        return { text: await modelSummary(model, rounds, so, { maxTokens, maxInputTokens, counter, signal: bounded }), by: model.name };
      } catch (error) {
        signal.throwIfAborted();
        logger.warn({ err: error }, "the model wrote no summary; an extract takes its place");
      }
    }
    return { text: await this.#extract(rounds, signal), by: "extract" };
  }

  #extract(rounds: readonly SummaryRound[], signal: AbortSignal): Promise<string> {
    return extractiveSummary(rounds, { maxTokens: this.#options.maxTokens, counter: this.#parts.counter, signal });
  }

  /**
   * False when what the summary was made from has changed meanwhile. A conversation changes at its end alone (a message said again
   * differently) or as a whole (an emptied session): so it stands while its last round does.
   */
  async #stands(owner: Owner, sessionId: string, last: Round, before: SummaryRecord | null, signal: AbortSignal): Promise<boolean> {
    const rounds = this.#options.windowRounds + this.#options.refreshRounds + ROUNDS_MEANWHILE;
    const now = await this.#parts.store.journal.window(owner, sessionId, { rounds, signal });
    return now.summary?.id === before?.id && now.rounds.some((round) => round.assistant.id === last.assistant.id);
  }

  /** So that a search finds one summary of a session. One that tells what was forgotten must go before another is written. */
  async #takeFromHistory(owner: Owner, before: SummaryRecord | null, stands: boolean): Promise<void> {
    if (!before) return;
    try {
      await this.#parts.history.removeMessages(owner, [before.id]);
    } catch (error) {
      if (!stands && !isAppError(error, "HISTORY_DISABLED")) throw error;
    }
  }

  /** The summary is in the journal already: a history that is out of reach gets the next one. */
  async #addToHistory(owner: Owner, message: HistoryMessage, signal: AbortSignal): Promise<void> {
    try {
      await this.#parts.history.addEvents(owner, [message], { signal });
    } catch (error) {
      if (isAppError(error, "HISTORY_DISABLED")) return;
      this.#parts.logger.warn({ session_id: message.session_id, err: error }, "a summary could not be made searchable");
    }
  }
}

/**
 * False when something was forgotten after the summary was written: it may still tell it, and is not to be shown to a model until
 * it has been written anew.
 */
export function isCurrent(summary: Pick<SummaryRecord, "at"> | null, tombstones: readonly Tombstone[]): boolean {
  return summary !== null && !tombstones.some((tombstone) => tombstone.at >= summary.at);
}

/** A round whose sentence was forgotten goes whole: its answer may repeat it. So does any answer that was given with the forgotten memory. */
function withoutForgotten(rounds: readonly Round[], tombstones: readonly Tombstone[]): SummaryRound[] {
  const hidden = new Set(tombstones.flatMap((tombstone) => tombstone.messageIds));
  const memories = new Set(tombstones.map((tombstone) => tombstone.memoryId));
  const gone = (message: Round["user"]) => hidden.has(message.id) || hidden.has(message.body.origin_id ?? "");
  return rounds.map(({ turn, user, steps, assistant }) => {
    if (gone(user)) return { turn, user: null, assistant: null, acted: false };
    const repeats = gone(assistant) || (assistant.body.memory?.recalled.some((memory) => memories.has(memory.id)) ?? false);
    return { turn, user: user.body.content, assistant: repeats ? null : assistant.body.content, acted: steps.length > 0 };
  });
}
