import { setImmediate as nextTick } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type Owner, parseOwner } from "../domain/owner.js";
import type { AfterTurnHook, Chat } from "../ports/application.js";
import type { TurnMemories } from "../ports/memories.js";
import type { OwnAgent } from "../ports/own-agent.js";
import { whileOpen } from "../ports/owner-gate.js";
import { byAnyId, type FormerSessionIds } from "../ports/session-names.js";
import { tracedChat, tracedRecall } from "../telemetry/traces.js";
import { Ingestion } from "../turn/ingestion.js";
import { ConversationOrchestrator, type OrchestratorParts } from "../turn/orchestrator.js";
import { PromptContext } from "../turn/prompt-context.js";
import type { TurnRegistry } from "../turn/turn-registry.js";
import type { AfterTurn } from "./after-turn.js";
import type { Costs } from "./costs.js";
import type { LongTerm } from "./long-term.js";
import { standIn } from "./own-packages.js";
import type { Recording } from "./recording.js";
import { type Stores, upkeepGate, type Wiring } from "./wiring.js";

const HISTORY_IN_TURN = 5;
/** As long as recall itself waits before it tries again what failed. */
const FAILING_MS = 5_000;
const FAILING_OWNERS = 10_000;

/** Off the reply path. An erasure waits for it, and then keeps it out. A count that fails lets the guest be asked once more. */
async function countAsked(
  turns: TurnMemories,
  registry: TurnRegistry,
  { owner, ids, clock, logger }: Pick<Wiring, "clock" | "logger"> & { readonly owner: Owner; readonly ids: readonly string[] },
): Promise<void> {
  try {
    await whileOpen(upkeepGate(registry), owner, () => turns.asked(owner, ids, { now: clock.now() }));
  } catch (error) {
    logger.warn({ err: error }, "that a guest was asked could not be counted");
  }
}

/** Tells a hook, behind the answer, which is on its way by then. What still runs at the end is waited for. */
function telling(
  hook: AfterTurnHook,
  { logger, closing }: Pick<Wiring, "logger" | "closing">,
): NonNullable<OrchestratorParts["onAnswered"]> {
  const running = closing(new Set<Promise<void>>(), (left) => Promise.all(left));
  return (owner, turn) => {
    const told = nextTick()
      .then(() => hook({ owner, ...parseOwner(owner), ...turn }))
      .catch((error: unknown) => logger.error({ err: error, session_id: turn.answer.session_id }, "the hook afterTurn failed"))
      .finally(() => running.delete(told));
    running.add(told);
  };
}

/** By its mark, in any script. */
const isQuestion = (text: string) => /[?？؟;՞]/u.test(text);

/** Turns that Maitred answers, and those that another agent does. */
export interface Turns {
  readonly chat: Chat;
  readonly ownAgent: OwnAgent;
  readonly afterTurn: OrchestratorParts["afterTurn"];
}

export async function composeTurns(
  { config, overrides, logger, clock, closing, metrics }: Wiring,
  { store, ledger, writer, lagging }: Stores,
  { longTerm, history }: LongTerm,
  { worker, leftTurns, upkeep }: AfterTurn,
  { tokens, limits }: Costs,
  registry: TurnRegistry,
  former: FormerSessionIds,
  recording: Pick<Recording, "turns">,
): Promise<Turns> {
  const tend = (owner: Owner, id: string) => tokens.during({ owner, sessionId: id }, () => upkeep.of(owner).sessions.afterTurn(owner, id));
  const recall = {
    enabled: config.MEM0_ENABLED,
    longTerm: tracedRecall(longTerm),
    turns: config.MEM0_ENABLED ? longTerm : null,
    history,
    unread: (owner: Owner, exceptSession: string, signal: AbortSignal) => leftTurns.said(owner, exceptSession, signal),
    failing: new LRUCache<Owner, true>({ max: FAILING_OWNERS, ttl: FAILING_MS }),
    deadlineMs: config.RECALL_DEADLINE_MS,
    historyLimit: HISTORY_IN_TURN,
  };
  const common: Omit<OrchestratorParts, "agent" | "recap" | "domain" | "recall" | "counter"> = {
    store,
    writer,
    lagging,
    ledger,
    registry,
    onAsked: (owner, ids) => void countAsked(longTerm, registry, { owner, ids, clock, logger }),
    tokens,
    mayAnswer: async (owner) => limits?.requireAnswer(owner),
    onNewSession: (owner) => {
      worker.hurry(owner);
      void leftTurns.readNow(owner);
    },
    onContext: (owner, sessionId) => void leftTurns.readNow(owner, sessionId === undefined ? {} : { exceptSession: sessionId }),
    // A turn that is kept out of memory, or whose reading waits for the next day, has no write-back that its upkeep could follow.
    afterTurn: (owner, id, remember) => {
      if (remember) void leftTurns.readNow(owner, { sessionId: id });
      if (!remember) void tend(owner, id);
      else if (limits !== null) void limits.requireBackground(owner).catch(() => tend(owner, id));
    },
    ...(overrides.afterTurn && { onAnswered: telling(overrides.afterTurn, { logger, closing }) }),
    metrics,
    recorder: recording.turns,
    clock,
    logger,
  };
  const rounds = config.SHORT_TERM_ROUNDS;
  const lockWaitMs = config.SESSION_LOCK_WAIT_MS;
  const turns = await upkeep.map(async ({ answering: { domain, agent, recap, provider }, counter, prompt, maxTokens }) => {
    const parts: OrchestratorParts = {
      ...common,
      agent,
      recap,
      domain: { name: domain.name, prompt, tools: new Set(domain.tools.map(({ name }) => name)) },
      // By words beside the stand-in; a model has a tool to search with, and a question is worth a look.
      recall: { ...recall, looksBack: agent.standIn ? (await standIn()).looksBack : isQuestion },
      counter,
    };
    const chat = new ConversationOrchestrator(parts, { rounds, maxTokens, lockWaitMs, turnTimeoutMs: config.TURN_TIMEOUT_MS });
    return {
      chat: tracedChat(chat, { agent: domain.name, model: agent.modelName, provider }),
      ingestion: new Ingestion({ ...parts, remembers: config.MEM0_ENABLED }, { lockWaitMs }),
      context: new PromptContext(parts, { rounds }),
    };
  });
  return {
    afterTurn: common.afterTurn,
    chat: {
      chat: async (request, options) => turns.of(request.owner).chat.chat(request, options),
      resume: async (request, options) => turns.of(request.owner).chat.resume(request, options),
    },
    ownAgent: {
      addMessages: async (request, options) => {
        const { ingestion } = turns.of(request.owner);
        return byAnyId(former, request.owner, request.sessionId, (sessionId = request.sessionId) =>
          ingestion.add({ ...request, sessionId }, options),
        );
      },
      context: async (request, options) => {
        const { context } = turns.of(request.owner);
        return byAnyId(former, request.owner, request.sessionId, (sessionId) =>
          context.of({ ...request, ...(sessionId !== undefined && { sessionId }) }, options),
        );
      },
    },
  };
}
