import type { TokenMeter } from "../agent/token-meter.js";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import type { TokenCounter } from "../platform/tokens.js";
import type { ChatModel } from "../ports/agent.js";
import type { ConversationHistory } from "../ports/history.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import type { AlongWithReading } from "./along-with-reading.js";

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
  /** What the model's calls cost, told in the summary's record. Default: nothing is counted. */
  readonly tokens?: Pick<TokenMeter, "during" | "takeAll">;
  /** Lets an erasure end the work and wait for it. */
  readonly gate: { begin(owner: Owner): { readonly signal: AbortSignal; end(): void } };
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
