import type { Agent, AgentInput, AgentRun } from "../../src/agent.js";
import type { Keeping } from "../../src/commands.js";
import { LaggingSessions } from "../../src/lagging-sessions.js";
import type { RecallPorts } from "../../src/orchestrator/recall.js";
import { estimatedTokens } from "../../src/orchestrator/tokens.js";
import { TurnRegistry } from "../../src/orchestrator/turn-registry.js";
import { ConversationOrchestrator } from "../../src/orchestrator.js";
import { InMemoryOwnerLedger } from "../../src/owner-ledger/in-memory-owner-ledger.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { RecalledMemory } from "../../src/session.js";
import { SessionWriter } from "../../src/session-writer.js";
import { openMemorySessionStore } from "../../src/short-term/in-memory.js";

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
  readonly keepingOf?: (message: string) => Keeping;
  readonly lockWaitMs?: number;
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
    async run(input, run) {
      seen.push(input);
      called();
      const content = await script(input, run.context, async (delta) => run.onEvent?.({ type: "token", delta }));
      return { content, steps: [], elements: [], sources: [], usage: { input_tokens: 1, output_tokens: 1 }, model: "scripted", modelMs: 0 };
    },
  };
  const longTerm = { recalled: [] as RecalledMemory[], recalls: 0 };
  const recall: RecallPorts = {
    enabled: true,
    longTerm: {
      recall: async () => {
        longTerm.recalls += 1;
        return { status: longTerm.recalled.length > 0 ? "ok" : "empty", memories: longTerm.recalled, profile: "" };
      },
    },
    history: {
      search: () => {
        throw new Error("history is not searched in this test");
      },
    },
    looksBack: () => false,
    deadlineMs: 150,
    historyLimit: 5,
  };
  const store = await openMemorySessionStore({ clock: systemClock, logger: silentLogger });
  const made = {
    store,
    seen,
    longTerm,
    agentCalled,
    lags: 0,
    registry: new TurnRegistry(),
    chat: undefined as unknown as ConversationOrchestrator,
  };
  const writer = new SessionWriter(store, {
    onLag: () => {
      made.lags += 1;
    },
    logger: silentLogger,
  });
  made.chat = new ConversationOrchestrator(
    {
      store,
      writer,
      lagging: new LaggingSessions(store, { onLevel: () => {}, logger: silentLogger }),
      agent,
      domain: { name: "test", prompt: "You are a test." },
      recall,
      ledger: new InMemoryOwnerLedger(),
      registry: made.registry,
      keepingOf: overrides.keepingOf ?? (() => ({ remember: true, searchable: true })),
      afterTurn: () => {},
      clock: systemClock,
      logger: silentLogger,
      counter: estimatedTokens,
    },
    { rounds: 10, maxTokens: 16_000, lockWaitMs: overrides.lockWaitMs ?? 5_000 },
  );
  return made;
}
