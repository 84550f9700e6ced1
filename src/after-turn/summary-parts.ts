import type { TokenMeter } from "../agent/token-meter.js";
import type { Owner } from "../domain/owner.js";
import type { RecordOf, Round } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { TokenCounter } from "../platform/tokens.js";
import type { ChatModel } from "../ports/agent.js";
import type { ConversationHistory } from "../ports/history.js";
import type { OwnerGate } from "../ports/owner-gate.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";
import type { HistoryMessage } from "../ports/resources.js";
import type { SessionStore, WindowRead } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import type { AlongWithReading } from "./along-with-reading.js";
import type { SummaryRound } from "./extractive-summary.js";

export interface SummaryParts {
  readonly store: Pick<SessionStore, "journal" | "index" | "locks">;
  readonly writer: SessionWriter;
  readonly ledger: OwnerLedger;
  readonly history: ConversationHistory;
  /** Null, or a stand-in: summaries are extracts. */
  readonly model: ChatModel | null;
  /** Summaries that readings gave. Default: none do. */
  readonly along?: Pick<AlongWithReading, "take">;
  readonly counter: TokenCounter;
  /** What the model's calls cost, told in the session's records. Default: nothing is counted. */
  readonly tokens?: Pick<TokenMeter, "during" | "takeAll">;
  /** Lets an erasure end the work and wait for it. */
  readonly gate: OwnerGate;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SummaryOptions {
  /** Completed rounds in the window at least (SHORT_TERM_ROUNDS). */
  readonly windowRounds: number;
  /** Tokens of rounds that the context surely has room for: rounds beyond them count as out of the window. Default: no bound. */
  readonly windowTokens?: number;
  /** Rounds that leave the window at once: the summary is written anew as often. Default: as the window of a turn slides. */
  readonly blockRounds?: number;
  /** SUMMARY_MAX_TOKENS. */
  readonly maxTokens: number;
  /** Transcript tokens that one model call is given. Default 12,000. */
  readonly maxInputTokens?: number;
  /** Bound of all model calls for one summary, in milliseconds. Default 60,000. */
  readonly modelTimeoutMs?: number;
  /** How long writing the summary waits for a turn that runs. Default 30,000. */
  readonly lockWaitMs?: number;
}

/**
 * A round whose sentence was forgotten goes whole: its answer may repeat it. So does any answer that was given with the forgotten
 * memory.
 */
export function withoutForgotten(rounds: readonly Round[], tombstones: readonly Tombstone[]): SummaryRound[] {
  const hidden = new Set(tombstones.flatMap((tombstone) => tombstone.messageIds));
  const memories = new Set(tombstones.map((tombstone) => tombstone.memoryId));
  const gone = (message: Round["user"]) => hidden.has(message.id) || hidden.has(message.body.origin_id ?? "");
  return rounds.map(({ turn, user, steps, assistant }) => {
    if (gone(user)) return { turn, user: null, assistant: null, acted: false };
    const repeats = gone(assistant) || (assistant.body.memory?.recalled.some((memory) => memories.has(memory.id)) ?? false);
    return { turn, user: user.body.content, assistant: repeats ? null : assistant.body.content, acted: steps.length > 0 };
  });
}

/**
 * Whether rounds that were read before are there still. A conversation changes at its end alone (a message said again differently), as a
 * whole (an emptied session), or from its beginning (a merge that was undone): so they are while the first and the last is. `now`: its end.
 */
export async function areLeft(
  journal: Pick<SessionStore["journal"], "read">,
  owner: Owner,
  sessionId: string,
  rounds: readonly Round[],
  now: Pick<WindowRead, "rounds">,
): Promise<boolean> {
  const [first, last] = [rounds[0], rounds.at(-1)];
  if (first === undefined || !now.rounds.some((round) => round.assistant.id === last?.assistant.id)) return false;
  for await (const { id } of journal.read(owner, sessionId, { fromSeq: first.user.seq })) return id === first.user.id;
  return false;
}

/** Summaries as a search finds them: one of a session. */
export class SummariesInHistory {
  readonly #parts: Pick<SummaryParts, "history" | "store" | "logger">;

  constructor(parts: Pick<SummaryParts, "history" | "store" | "logger">) {
    this.#parts = parts;
  }

  /** One that tells what was forgotten must go before another is written. */
  async remove(owner: Owner, before: RecordOf<"summary"> | null, stands: boolean): Promise<void> {
    if (!before) return;
    try {
      await this.#parts.history.removeMessages(owner, [before.id]);
    } catch (error) {
      if (!stands && !isAppError(error, "HISTORY_DISABLED")) throw error;
    }
  }

  /** The summary is in the journal already: a history that is out of reach gets the next one. */
  async add(owner: Owner, message: HistoryMessage, signal: AbortSignal): Promise<void> {
    try {
      const { history, store } = this.#parts;
      await history.addEvents(owner, [message], { signal });
      // Another may have been written meanwhile.
      const { summary } = await store.journal.window(owner, message.session_id, { rounds: 0, signal });
      if (summary?.id !== message.message_id) await history.removeMessages(owner, [message.message_id]);
    } catch (error) {
      if (isAppError(error, "HISTORY_DISABLED")) return;
      this.#parts.logger.warn({ session_id: message.session_id, err: error }, "a summary could not be made searchable");
    }
  }
}
