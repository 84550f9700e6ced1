import { CONTEXT_ROUNDS, saidBefore } from "../after-turn/turn-to-remember.js";
import { type Owner, ownerOf } from "../domain/owner.js";
import { ReceiptLog } from "../gate/receipt-log.js";
import { resolvedTurns } from "../identities/identities.js";
import { formerSessionIds, MergeRecords } from "../identities/merge-record.js";
import { heldMemories } from "../memories/held-memories.js";
import type { LoggedMemories } from "../memories/memory-changes.js";
import { scheduleJob } from "../operations/jobs.js";
import { backlogOf, readinessOf } from "../operations/readiness.js";
import type { Clock } from "../platform/clock.js";
import { loadWaiting } from "../platform/loaded-later.js";
import { VERSION } from "../platform/version.js";
import type { ChatModel } from "../ports/agent.js";
import type { ApplicationInfo } from "../ports/application.js";
import { withIdOfToday } from "../ports/session-names.js";
import { EngineMergeRegistry } from "../state/merges/merge-registry.js";
import { givingWayTo } from "../turn/giving-way.js";
import { TurnRegistry } from "../turn/turn-registry.js";
import { composeAfterTurn, composeBehaviour } from "./after-turn.js";
import { type Answering, openAgent } from "./agent.js";
import type { Composed, MaitredParts, MakeAgent, Overrides, Parts } from "./composed.js";
import type { Config } from "./config.js";
import { openCosts, warnOfUnpriced } from "./costs.js";
import { loadDomain } from "./domain-file.js";
import { embedderInfo } from "./embedders.js";
import { composeEvents } from "./events.js";
import { type LongTerm, openLongTerm } from "./long-term.js";
import { openStores, takeUp } from "./open-stores.js";
import { composeOperator, composeStudio } from "./operator.js";
import { composeRecording, toldTo } from "./recording.js";
import { type ByTenant, readTenants, tenantSettings } from "./tenants.js";
import { composeTurns } from "./turn.js";
import { composeUseCases } from "./use-cases.js";
import { closers, upkeepGate, type Wiring, wiringOf } from "./wiring.js";

export type { Composed, MaitredParts, MakeAgent, Overrides, Parts };

/** How often, where there are other processes, an erasure or a merge is looked for that none is at, in ms: each look reads every merge. */
const RESUMED_MS = 300_000;

/**
 * Puts the parts together: this folder is the only place that names adapters. Opens every store, finishes what a crash left
 * behind, and starts the write-back.
 * @throws STORAGE_IN_USE, STORAGE_UNAVAILABLE, REINDEX_REQUIRED, QDRANT_TOO_OLD, EMBEDDING_UNAVAILABLE, INVALID_CONFIG for a domain's file
 */
export async function compose(config: Config, given: Overrides = {}): Promise<Composed> {
  const { DOMAIN_FILE: file } = config;
  const overrides = file === undefined || given.domain !== undefined ? given : { ...given, domain: await loadDomain(file) };
  const { closing, closeAll } = closers();
  const tenants = tenantSettings(overrides.tenants ?? {}, await readTenants(config.TENANTS_FILE));
  const wiring = wiringOf(config, overrides, closing, tenants);
  try {
    return await assemble(wiring, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function assemble(wiring: Wiring, closeAll: () => Promise<void>): Promise<Composed> {
  const { config, logger } = wiring;
  const stopping = new AbortController();
  const registry = new TurnRegistry();

  const opened = await openStores(wiring);
  const recording = composeRecording(wiring, opened, registry);
  const stores = { ...opened, writer: toldTo(recording.conversations, opened.writer) };
  const costs = await openCosts(wiring, stores, recording.plots);
  const { store, ledger, lagging, indexCatchUp, rebuildIndex } = stores;
  const remembered = await openLongTerm(wiring, stores, costs, {
    onForgotten: (owner) => {
      const { summaries, sessions } = afterTurn.upkeep.of(owner);
      void summaries.forgotten(owner);
      void sessions.forgotten(owner);
      void behaviour?.forgotten(owner, stopping.signal);
      void emptyReceipts(owner);
    },
    readMessage: (message, signal) => answering.of(message.owner).readMessage(message, signal),
    readPlainly: (owner) => answering.of(owner).readPlainly,
    left: {
      together: (owner) => answering.of(owner).readTogether,
      said: (owner, turn, signal) => saidBefore(store.journal, owner, turn, { contextRounds: CONTEXT_ROUNDS, signal }),
      takeOffRecord: (...args) => afterTurn.takeAlongOffRecord(...args),
      locks: store.locks,
    },
    checkProposed: (message, operations) => answering.of(message.owner).checkProposed(message, operations),
    asksNotToKeep: (owner, text) => answering.of(owner).asksNotToKeep(text),
    onRead: recording.turns.messageRead,
    slotOf: (owner, need) => answering.of(owner).domain.needs?.find(({ name }) => name === need)?.slot,
  });
  const { changes } = remembered;
  const receipts = new ReceiptLog(stores.engine, changes && (async (owner) => withWords(await changes.known(owner))));
  const emptyReceipts = async (owner: Owner) => {
    await receipts
      .forgotten(owner)
      .catch((error: unknown) => logger.warn({ err: error }, "receipts of what was forgotten are emptied later"));
  };
  const answering: ByTenant<Answering> = await openAgent(wiring, stores, remembered, costs, {
    writtenBack: async (owner, signal) => !(await lagging.lags(owner)) && afterTurn.worker.written(owner, signal),
    giveWay: givingWayTo(registry),
    receipts,
  });
  const named = answering.all.flatMap(({ models }) => Object.values<ChatModel>({ ...models })).filter(({ standIn }) => !standIn);
  const embeds = config.EMBEDDING_PROVIDER === "openai" && wiring.overrides.embedder === undefined ? [config.MEMORY_EMBEDDING_MODEL] : [];
  warnOfUnpriced(costs, [...named.map(({ name }) => name), ...embeds], logger);
  const behaviour = await composeBehaviour(wiring, stores, answering, remembered, costs);
  const afterTurn = await composeAfterTurn(wiring, stores, remembered, answering, costs, {
    registry,
    stopping: stopping.signal,
    behaviour,
    recording: recording.turns,
    emptyReceipts,
  });
  const { worker, historyCatchUp, reindex } = afterTurn;
  const merges = new MergeRecords(ledger, new EngineMergeRegistry(stores.engine));
  const former = formerSessionIds(merges, store.index);
  const {
    chat,
    ownAgent,
    afterTurn: written,
  } = await composeTurns(wiring, stores, remembered, afterTurn, costs, registry, former, recording);
  const useCases = composeUseCases(wiring, stores, remembered, answering, afterTurn, {
    registry,
    receipts,
    afterTurn: written,
    merges,
    former,
    recording,
    archived: async (owner) => behaviour?.archived(owner, stopping.signal),
  });
  const { sessions, privacy, promotion, imports, retention, log, identities, visits } = useCases;
  const events = composeEvents(wiring, stores, { memories: remembered.longTerm, sessions });
  const { longTerm, history } = remembered;
  const { models, domain } = answering.rest;
  const readiness = () =>
    readinessOf({
      storage: stores.storage,
      longTerm,
      history,
      turns: store.turns,
      lagging,
      indexCatchUp,
      historyCatchUp,
      model: models.chat,
      modelProblems: () => [...new Set(answering.all.flatMap((each) => each.problems()))],
      embedder: embedderInfo(remembered),
      costs: costs.limits,
      deliveries: events.deliveries,
    });
  const studio = composeStudio(wiring, stores, remembered, afterTurn, {
    ...{ recording, costs, useCases, events, readiness, compose },
    ...{ model: models.chat.name, stopping: stopping.signal },
  });
  const operator = composeOperator(wiring, stores, remembered, afterTurn, { retention, promotion }, events, studio);

  wiring.metrics.backlogFrom(() => backlogOf({ turns: store.turns, deliveries: events.deliveries, clock: wiring.clock }));
  await privacy.resume();
  await identities.open();
  const resume = async () => {
    await privacy.resume();
    await identities.resume();
  };
  takeUp("privacy", RESUMED_MS, resume, stores.engine, wiring);
  const { jobs } = operator;
  const schedule = scheduleJob({ kind: "retention", everyHours: config.RETENTION_INTERVAL_HOURS, jobs, logger });
  jobs.open();
  worker.start();
  events.start();
  void historyCatchUp.run();

  let closed: Promise<void> | null = null;
  let warming: Promise<void> | null = null;
  const close = async (drainMs: number) => {
    stopping.abort();
    events.feed.endFollowers();
    await Promise.all([registry.close(), warming]);
    schedule.stop();
    await jobs.close();
    const until = performance.now() + drainMs;
    await worker.drain(drainMs, { left: "stays" });
    await Promise.all([recording.turns.settled(), recording.conversations.settled()]);
    await Promise.all([worker.stop(), registry.breakOff(Math.max(0, until - performance.now()))]);
    await Promise.all([historyCatchUp.stop(), indexCatchUp.stop(), privacy.stop()]);
    await closeAll();
  };
  return {
    chat: resolvedTurns(chat, identities, former),
    ownAgent,
    sessions,
    memories: heldMemories(longTerm, upkeepGate(registry), former),
    history: {
      search: async (owner, query) => history.search(owner, await withIdOfToday(former, owner, query, "session_id")),
      count: (owner, sessionId) => history.count(owner, sessionId),
      addSession: (...session) => history.addSession(...session),
      addEvents: (...events) => history.addEvents(...events),
      residue: (owner) => history.residue(owner),
    },
    imports,
    privacy,
    seen: (owner, seen) => visits.seen(owner, seen),
    user: (owner) => visits.user(owner),
    events: events.feed,
    identities,
    readiness,
    warm: async (owner) => {
      if (closed !== null) return;
      warming = warm(remembered, wiring.clock, owner);
      await warming;
    },
    info: infoOf(wiring, remembered, models.chat),
    modelOf: (owner) => modelInfo(answering.of(owner).models.chat),
    close: ({ drainMs = 5_000 } = {}) => {
      closed ??= close(drainMs);
      return closed;
    },
    parts: {
      config,
      store,
      ledger,
      encryptedUnder: stores.encryptedUnder,
      isMerge: (owner) => merges.isMerge(owner),
      resolve: (owner) => identities.resolve(owner),
      worker,
      domain,
      models,
      retention,
      rebuildIndex,
      promotion,
      reindex,
      longTerm,
      log,
      limiter: stores.limiter ?? null,
      operator,
    },
  };
}

/** Whose memories are recalled only to have recalled. */
const NOBODY = ownerOf("default", "nobody");
/** Bound of that, in milliseconds. */
const WARM_MS = 5_000;

/** Not for money: what a service embeds is paid for. */
async function warm({ embedder, longTerm }: LongTerm, clock: Clock, owner = NOBODY): Promise<void> {
  loadWaiting();
  if (embedder.remote !== true) await longTerm.recall(owner, { text: "hello", now: clock.now(), deadlineMs: WARM_MS });
}

function modelInfo({ name, standIn }: ChatModel): ApplicationInfo["model"] {
  return { name, standIn };
}

/** Variables of which the page tells whether they are set. */
const KEYS = ["OPENAI_API_KEY", "LLM_API_KEY", "EMBEDDING_API_KEY", "QDRANT_API_KEY"] as const;

function infoOf({ config, dir }: Wiring, remembered: LongTerm, model: ChatModel): ApplicationInfo {
  return {
    version: VERSION,
    model: modelInfo(model),
    longTerm: { enabled: config.MEM0_ENABLED, location: remembered.vectors.memory.location },
    embedder: embedderInfo(remembered),
    history: { backend: config.HISTORY_BACKEND },
    storageDir: dir,
    shortTerm: config.SHORT_TERM_BACKEND,
    keys: Object.fromEntries(KEYS.map((name) => [name, config[name] !== undefined])),
  };
}

/** Memories of every state whose words are still known: what was taken off the record waits with the name of its need alone. */
function withWords({ records }: LoggedMemories): { has(id: string): boolean } {
  return { has: (id) => records.has(id) && records.get(id)?.reason !== "off_record" };
}
