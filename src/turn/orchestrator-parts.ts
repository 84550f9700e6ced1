import type { TokenMeter } from "../agent/token-meter.js";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import type { TokenCounter } from "../platform/tokens.js";
import type { Agent } from "../ports/agent.js";
import type { AnsweredTurn } from "../ports/application.js";
import type { Metrics } from "../ports/metrics.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionsBehind, SessionWriter } from "../ports/session-writer.js";
import type { TurnRecorder } from "../ports/turn-records.js";
import type { Recap } from "./context.js";
import type { RecallPorts } from "./recall.js";
import type { TurnRegistry } from "./turn-registry.js";

/** What a turn is made with. */
export interface OrchestratorParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly lagging: Pick<SessionsBehind, "level" | "requireLevel" | "findIdempotent">;
  readonly agent: Agent;
  /** What later turns are told of the outputs of the agent's tools. Default: all of them. */
  readonly recap?: Recap;
  /** The domain's name (`agent_type` of its sessions), its system prompt, and the names of its tools. Default: it has none. */
  readonly domain: { readonly name: string; readonly prompt: string; readonly tools?: ReadonlySet<string> };
  readonly recall: RecallPorts;
  readonly ledger: Pick<OwnerLedger, "user" | "tombstones" | "epoch">;
  readonly registry: TurnRegistry;
  /** Called after each answer whose model was shown what waits for the user's word, with the ids: counts it. Must not throw. */
  readonly onAsked: (owner: Owner, memoryIds: readonly string[]) => void;
  /** Counts what the turn costs. Default: the usage of the answer's model calls is all that is told. */
  readonly tokens?: Pick<TokenMeter, "during" | "take">;
  /** Asked before a turn is begun, not before a replay. @throws COST_LIMIT_REACHED. Default: it may. */
  readonly mayAnswer?: (owner: Owner) => Promise<void>;
  /** Called when a turn begins a session. Must not throw. Default: nobody is told. */
  readonly onNewSession?: (owner: Owner) => void;
  /** Told when somebody asks what is known of a user, beside this session of theirs. Returns at once. */
  readonly onContext?: (owner: Owner, sessionId: string | undefined) => void;
  /** Called after each answered turn; `remember`: it is to be written back to memory or history. Must not throw. */
  readonly afterTurn: (owner: Owner, sessionId: string, remember: boolean) => void;
  /** Called once for each turn that is answered, not for a replay, with what was said. Must not throw. Default: nobody is told. */
  readonly onAnswered?: (owner: Owner, turn: Pick<AnsweredTurn, "message" | "answer">) => void;
  /** Told how each turn ended that had begun. Default: nobody is told. */
  readonly metrics?: Pick<Metrics, "turnEnded">;
  /** Told how each turn went, behind its answer. Default: nothing is kept of it. */
  readonly recorder?: TurnRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counter: TokenCounter;
}

export interface OrchestratorOptions {
  /** Completed rounds of the conversation; the prompt, whose rounds leave in blocks, has at least so many. 0: none in either. */
  readonly rounds: number;
  readonly maxTokens: number;
  readonly lockWaitMs: number;
  /** Bound of a turn from when it has its session: recall, model and tools. Default 120,000. */
  readonly turnTimeoutMs?: number;
}

/** In milliseconds. */
export function turnTimeoutMs(options: OrchestratorOptions): number {
  return options.turnTimeoutMs ?? 120_000;
}
