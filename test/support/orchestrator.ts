import type { Memory } from "../../src/domain/memory.js";
import type { RecalledMemory, Step } from "../../src/domain/session.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { estimatedTokens } from "../../src/platform/tokens.js";
import type { Agent, AgentInput, AgentRun } from "../../src/ports/agent.js";
import type { RememberedTurn } from "../../src/ports/memories.js";
import type { StateEngine } from "../../src/state/engine.js";
import { IndexedSessionWriter, LaggingSessions } from "../../src/state/jsonl/session-writer.js";
import { ConversationOrchestrator } from "../../src/turn/orchestrator.js";
import type { RecallPorts } from "../../src/turn/recall.js";
import { TurnRegistry } from "../../src/turn/turn-registry.js";
import { InMemoryOwnerLedger, memorySessionStore } from "./memory-stores.js";

export type AgentScript = (input: AgentInput, context: AgentRun["context"], emit: (delta: string) => Promise<void>) => Promise<string>;

/** Answers in order; a call beyond the last is an error of the test. */
export function answering(...answers: readonly string[]): AgentScript {
  const left = [...answers];
  return async (_input, _context, emit) => {
    const answer = left.shift();
    if (answer === undefined) throw new Error("the agent was called more often than the test expects");
    await emit(answer);
    return answer;
  };
}

export interface OrchestratorOverrides {
  /** What the agent did in the turn. */
  readonly steps?: (context: AgentRun["context"]) => readonly Step[];
  /** Whether the agent's model takes images. Default: it doesn't say. */
  readonly takesImages?: boolean;
  readonly lockWaitMs?: number;
  readonly turnTimeoutMs?: number;
  /** Where sessions are kept. Default: one of its own in memory. */
  readonly engine?: StateEngine;
}

/** An orchestrator over an in-memory session store, a scripted agent, and a long-term memory that recalls what a test puts in. */
export async function makeOrchestrator(script: AgentScript, overrides: OrchestratorOverrides = {}) {
  const seen: AgentInput[] = [];
  let called: () => void = () => {};
  const agentCalled = new Promise<void>((resolve) => {
    called = resolve;
  });
  const agent: Agent = {
    modelName: "scripted",
    standIn: true,
    ...(overrides.takesImages !== undefined && { takesImages: () => overrides.takesImages === true }),
    async run(input, run) {
      seen.push(input);
      called();
      const content = await script(input, run.context, async (delta) => run.onEvent?.({ type: "token", delta }));
      return {
        content,
        steps: overrides.steps?.(run.context) ?? [],
        elements: [],
        sources: [],
        usage: { input_tokens: 1, output_tokens: 1 },
        model: "scripted",
        modelMs: 0,
      };
    },
  };
  const longTerm = {
    recalled: [] as RecalledMemory[],
    toConfirm: [] as Memory[],
    toSettle: [] as Memory[],
    recalls: 0,
    before: null as RememberedTurn | null,
  };
  const recall: RecallPorts = {
    enabled: true,
    longTerm: {
      recall: async () => {
        longTerm.recalls += 1;
        const status = longTerm.recalled.length > 0 ? "ok" : "empty";
        return { status, memories: longTerm.recalled, to_confirm: longTerm.toConfirm, to_settle: longTerm.toSettle };
      },
    },
    turns: { remembered: async () => longTerm.before },
    history: {
      search: () => {
        throw new Error("history is not searched in this test");
      },
    },
    looksBack: () => false,
    deadlineMs: 150,
    historyLimit: 5,
  };
  const store = memorySessionStore({ clock: systemClock, logger: silentLogger, ...(overrides.engine && { engine: overrides.engine }) });
  const ledger = new InMemoryOwnerLedger(store.engine);
  const made = {
    store,
    ledger,
    seen,
    longTerm,
    agentCalled,
    lags: 0,
    asked: [] as string[][],
    registry: new TurnRegistry(),
    chat: undefined as unknown as ConversationOrchestrator,
  };
  const writer = new IndexedSessionWriter(store, {
    onLag: () => {
      made.lags += 1;
    },
    logger: silentLogger,
  });
  made.chat = new ConversationOrchestrator(
    {
      store,
      writer,
      lagging: new LaggingSessions(store, silentLogger),
      agent,
      domain: { name: "test", prompt: "You are a test." },
      recall,
      ledger,
      registry: made.registry,
      onAsked: (_owner, ids) => void made.asked.push([...ids]),
      afterTurn: () => {},
      clock: systemClock,
      logger: silentLogger,
      counter: estimatedTokens,
    },
    { rounds: 10, maxTokens: 16_000, lockWaitMs: overrides.lockWaitMs ?? 5_000, turnTimeoutMs: overrides.turnTimeoutMs ?? 120_000 },
  );
  return made;
}
