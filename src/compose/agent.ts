import type { JudgeOfWaiting } from "../after-turn/deferred-turns.js";
import { CONTEXT_ROUNDS, contextBefore } from "../after-turn/turn-to-remember.js";
import { KnownCapabilities } from "../agent/models/known-capabilities.js";
import { ReactAgent } from "../agent/react-agent.js";
import { recapOf } from "../agent/recap.js";
import { toolSpecs } from "../agent/tool-box.js";
import { historyTool } from "../agent/tools/history-tool.js";
import { memoryTools } from "../agent/tools/memory-tools.js";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import { gatedTools } from "../gate/binding-tool.js";
import { ConstraintGate } from "../gate/constraint-gate.js";
import type { ReceiptLog } from "../gate/receipt-log.js";
import { ShownCalls } from "../gate/shown-calls.js";
import { softLimits } from "../gate/stated.js";
import { inOwnWords } from "../memories/checks/brought-along.js";
import { knownNeed } from "../memories/checks/category-and-need.js";
import { isSaidIn } from "../memories/checks/locate-quote.js";
import { Coverage } from "../memories/coverage.js";
import { checkWithWitness } from "../memories/likeness.js";
import { WaitingMessages } from "../memories/may-wait.js";
import type { ReadMessage } from "../memories/memories.js";
import { asksNotToKeep } from "../memories/off-record.js";
import { type ReadTogether, readMessage, readTogether } from "../memories/read-message.js";
import type { CheckProposed } from "../memories/tool-proposals.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Agent, ChatModel, Domain, ToolContext, ToolSpec } from "../ports/agent.js";
import type { MessageReader } from "../ports/extraction.js";
import type { GiveWay } from "../ports/give-way.js";
import { EngineMeasuredModels } from "../state/endpoints/measured-models.js";
import type { StateEngine } from "../state/engine.js";
import { openReader, plainReader } from "./backends.js";
import type { MakeAgent } from "./composed.js";
import { type Costs, metered } from "./costs.js";
import type { LongTerm } from "./long-term.js";
import { type Models, openModels, sameFor } from "./models.js";
import { NO_PRODUCT } from "./own-packages.js";
import { tracedModels, tracedProvider, tracedTools } from "./telemetry.js";
import type { ByTenant } from "./tenants.js";
import type { Stores, Wiring } from "./wiring.js";

/** Who answers a tenant's users, and who reads what their messages say. */
export interface Answering {
  /** The product: the same for every tenant. */
  readonly domain: Domain;
  /** The domain's system prompt, or the tenant's own. */
  readonly prompt: string;
  readonly models: Models;
  /** Whose models they are, as traces name it. */
  readonly provider: string;
  readonly agent: Agent;
  /** What the model is told of the agent's tools. */
  readonly toolSpecs: readonly ToolSpec[];
  /** What later turns are told of the outputs of its tools. */
  readonly recap: ReturnType<typeof recapOf>;
  /** What is wrong with its models and with who reads messages, for a person. */
  readonly problems: () => readonly string[];
  readonly readMessage: ReadMessage;
  /** By rules alone, beside a model. Null where the stand-in reads. */
  readonly readPlainly: ReadMessage | null;
  readonly readTogether: ReadTogether | null;
  /** Which messages can wait to be read. */
  readonly judgeOfWaiting: JudgeOfWaiting;
  /** Whether a message asks in plain words not to be kept. */
  readonly asksNotToKeep: (text: string) => boolean;
  readonly checkProposed: CheckProposed;
}

export async function openAgent(
  wiring: Wiring,
  stores: Pick<Stores, "engine" | "store">,
  remembered: LongTerm,
  costs: Costs,
  {
    writtenBack,
    giveWay,
    receipts,
  }: {
    readonly receipts: ReceiptLog;
    readonly writtenBack: (owner: Owner, signal: AbortSignal) => Promise<boolean>;
    readonly giveWay: GiveWay;
  },
): Promise<ByTenant<Answering>> {
  const { config, overrides, product, logger, clock, dir, closing, tenants } = wiring;
  const { longTerm, history, keepsHistory, categories: common, embedder } = remembered;
  const { engine } = stores;
  const readNow = readNowOf(wiring, stores, remembered);
  const named = await product();
  const { needs = [], limits = [] } = named;
  const needMeant = (said: string | null) => knownNeed(said, needs);
  const coverage = new Coverage(needs, named.needTalk);
  const tellsNeed = (text: string) => coverage.tellsIn(text);
  const isSoftLimit = softLimits(limits, { needs, needMeant });
  const gate = new ConstraintGate({ needs: longTerm, writtenBack, readNow, tellsNeed, isSoftLimit, receipts, logger });
  const domain = "open" in named ? closing(await named.open({ engine, gate }), (it) => it.close?.()) : named;
  const tools = tracedTools([
    ...gatedTools(domain.tools, { gate, shown: new ShownCalls(engine), needs, needMeant, logger }),
    ...(config.MEM0_ENABLED
      ? memoryTools({ memories: longTerm, turns: longTerm, needs, needMeant, inOwnWords, isSaidIn, writtenBack })
      : []),
    ...(config.MEM0_ENABLED && keepsHistory ? [historyTool(history)] : []),
  ]);
  const { offRecord = [] } = domain;
  const waiting = new WaitingMessages(needs, named.needTalk, offRecord);
  const told = { toolSpecs: toolSpecs(tools), recap: recapOf(tools) };
  const modelsOf = await openTenantModels(wiring, domain, costs, engine);
  if (named === NO_PRODUCT)
    logger.info({}, "No domain is named, and @maitred/concierge is not installed: an assistant without tools answers");
  return tenants.map(async ({ prompt = domain.prompt, categories = common, model }) => {
    const { models, provider } = await modelsOf(model);
    const reader =
      overrides.reader ?? (await openReader(config, models.extraction, domain, { dir, categories, embedder, giveWay, logger }));
    const reading = { categories, needs, embedder, offRecord, logger };
    const turns = { ...reading, coverage };
    const agent = agentOf(overrides.agent, { model: models.chat, tools }, () => {
      return new ReactAgent({
        model: models.chat,
        tools,
        clock,
        logger,
        modelTimeoutMs: config.MODEL_TIMEOUT_MS,
        ...present({ arrange: domain.arrange, beforeTool: overrides.beforeTool }),
      });
    });
    const checkProposed: CheckProposed = (message, operations) =>
      checkWithWitness(message, { operations: [...operations], off_record: null, unreadable: 0 }, { reader: "tool", ...reading });
    return {
      domain,
      prompt,
      models,
      provider,
      agent,
      ...told,
      problems: () => problemsOf(models, reader),
      readMessage: readMessage(reader, turns),
      readPlainly:
        overrides.reader === undefined && models.extraction.standIn
          ? null
          : readMessage(plainReader(domain, { categories, giveWay }), reading),
      readTogether: readTogether(reader, turns),
      judgeOfWaiting: (text, answer) => waiting.mayWait(text, answer),
      asksNotToKeep: (text) => asksNotToKeep(text, offRecord),
      checkProposed,
    };
  });
}

/**
 * Has the message of the turn itself read and remembered before a booking, with those that were left to be read; its write-back then
 * finds it read. A turn of which nothing may be kept is not read.
 * @throws SESSION_BUSY for an edit, whose earlier words only its write-back takes back
 */
function readNowOf({ config }: Wiring, { store }: Pick<Stores, "store">, { longTerm }: LongTerm): (turn: ToolContext) => Promise<void> {
  return async ({ owner, sessionId, turn, userMessage, memory = "full", now, timeZone, signal }) => {
    if (!config.MEM0_ENABLED || memory !== "full") return;
    const newest: JournalRecord[] = [];
    for await (const record of store.journal.newestFirst(owner, sessionId, { signal })) {
      if (record.turn < turn - CONTEXT_ROUNDS) break;
      newest.push(record);
    }
    const said = newest.find((record) => record.type === "message" && record.id === userMessage.id);
    const message = said?.type === "message" ? said : null;
    if (message?.body.edit_of !== undefined) throw new AppError("SESSION_BUSY");
    await longTerm.remember(
      owner,
      {
        session_id: sessionId,
        turn,
        message_id: userMessage.id,
        text: userMessage.content,
        stated_at: message === null ? now : new Date(message.at),
        time_zone: message?.body.time_zone ?? timeZone,
        channel: message?.body.channel ?? "",
        context: contextBefore(newest.toReversed(), turn, CONTEXT_ROUNDS),
      },
      { now, signal },
    );
    // What was too much for one call, or was refused there.
    await longTerm.readLeft(owner, { now, signal });
  };
}

function agentOf(given: Agent | MakeAgent | undefined, parts: Parameters<MakeAgent>[0], own: () => Agent): Agent {
  if (given === undefined) return own();
  return typeof given === "function" ? given(parts) : given;
}

function problemsOf(models: Models, reader: MessageReader): readonly string[] {
  const ofModels = Object.values(models).map((model) => {
    const problem = model.problem?.() ?? null;
    return problem === null ? null : `${model.name}: ${problem}`;
  });
  return [...ofModels, reader.problem?.() ?? null].filter((problem) => problem !== null);
}

const HOUR_MS = 60 * 60_000;

interface OpenedModels {
  readonly models: Models;
  /** Whose they are, as traces name it. */
  readonly provider: string;
}

/**
 * Opens the models of a tenant, by what its settings say of them: none, a name, or a model of its own. The same name is opened once; what
 * is learnt of an endpoint's model is known to all that call it. The opener throws INVALID_CONFIG for a name without a provider.
 */
async function openTenantModels(
  { config, overrides, logger, clock, closing }: Wiring,
  domain: Domain,
  costs: Costs,
  engine: StateEngine,
): Promise<(model: string | ChatModel | undefined) => Promise<OpenedModels>> {
  const hours = config.MODEL_MEASURE_HOURS;
  const kept = hours === 0 ? {} : { store: new EngineMeasuredModels(engine), maxAgeMs: hours * HOUR_MS };
  const known = closing(await KnownCapabilities.open({ ...kept, clock, logger }), (it) => it.flush());
  const opened = new Map<string, Promise<OpenedModels>>();
  const used = (models: Models, own: boolean): OpenedModels => {
    const provider = tracedProvider(config, own);
    return { models: metered(tracedModels(models, provider), costs), provider };
  };
  const named = async (name: string) => {
    if (config.LLM_PROVIDER === "offline") {
      const detail = `A tenant's model "${name.slice(0, 64)}" needs a provider of models: set OPENAI_API_KEY or LLM_PROVIDER.`;
      throw new AppError("INVALID_CONFIG", { detail });
    }
    return used(await openModels({ ...config, LLM_MODEL: name }, domain, logger, known), false);
  };
  const { model: own } = overrides;
  const common = used(own === undefined ? await openModels(config, domain, logger, known) : sameFor(own), own !== undefined);
  return async (model) => {
    if (model === undefined) return common;
    if (typeof model !== "string") return used(sameFor(model), true);
    const open = opened.get(model) ?? named(model);
    opened.set(model, open);
    return open;
  };
}
