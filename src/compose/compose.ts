import { scheduleRetention } from "../after-turn/retention.js";
import { saidBefore } from "../after-turn/said-before.js";
import type { Owner } from "../domain/owner.js";
import { heldMemories } from "../memories/held-memories.js";
import { backlogOf } from "../operations/backlog.js";
import { readinessOf } from "../operations/readiness.js";
import { isAppError } from "../platform/errors.js";
import { VERSION } from "../platform/version.js";
import type { ApplicationInfo } from "../ports/application.js";
import { TurnRegistry } from "../turn/turn-registry.js";
import { CONTEXT_ROUNDS, composeAfterTurn } from "./after-turn.js";
import { type Answering, openAgent } from "./agent.js";
import { composeBehaviour } from "./behaviour.js";
import type { Composed, MakeAgent, Overrides, Parts } from "./composed.js";
import type { Config } from "./config.js";
import { openCosts } from "./costs.js";
import { embedderInfo } from "./embedders.js";
import { type LongTerm, openLongTerm } from "./long-term.js";
import { openStores } from "./open-stores.js";
import { readNowOf } from "./read-now.js";
import { composeTurns } from "./turn.js";
import { composeUseCases } from "./use-cases.js";
import { type Closing, type Wiring, wiringOf } from "./wiring.js";

export type { Composed, MakeAgent, Overrides, Parts };

/**
 * Puts the parts together: this folder is the only place that names adapters. Opens every store, finishes what a crash left
 * behind, and starts the write-back.
 * @throws STORAGE_IN_USE, STORAGE_UNAVAILABLE, REINDEX_REQUIRED, QDRANT_TOO_OLD, EMBEDDING_UNAVAILABLE
 */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Composed> {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const closing: Closing = (value, close) => {
    closers.unshift(() => close(value));
    return value;
  };
  const wiring = wiringOf(config, overrides, closing, overrides.metrics);
  const closeAll = async () => {
    for (const close of closers.splice(0)) await close();
  };
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

  const stores = await openStores(wiring, { onLevel: () => afterTurn.worker.kick() });
  const costs = await openCosts(wiring, stores);
  const { store, ledger, lagging, indexCatchUp, rebuildIndex } = stores;
  const remembered = await openLongTerm(wiring, stores, costs, {
    onForgotten: (owner) => {
      void afterTurn.summaries.forgotten(owner);
      void behaviour?.forgotten(owner, stopping.signal);
    },
    readMessage: (message, signal) => answering.readMessage(message, signal),
    left: {
      get together() {
        return answering.readTogether;
      },
      said: (owner, turn, signal) => saidBefore(store.journal, owner, turn, { contextRounds: CONTEXT_ROUNDS, signal }),
      takeOffRecord: (...args) => afterTurn.takeAlongOffRecord(...args),
      locks: store.locks,
    },
    checkProposed: (message, operations) => answering.checkProposed(message, operations),
  });
  const answering: Answering = await openAgent(wiring, remembered, costs, {
    writtenBack: async (owner, signal) => !(await lagging.lags(owner)) && afterTurn.worker.written(owner, signal),
    readNow: readNowOf(wiring, stores, remembered),
    bookings: stores.bookings,
  });
  const behaviour = composeBehaviour(wiring, stores, answering, remembered, costs);
  const afterTurn = await composeAfterTurn(wiring, stores, remembered, answering, costs, {
    registry,
    stopping: stopping.signal,
    behaviour,
  });
  const { worker, historyCatchUp, reindex } = afterTurn;
  const { chat, ownAgent, afterTurn: written } = composeTurns(wiring, stores, remembered, answering, afterTurn, costs, registry);
  const { sessions, privacy, promotion, imports, retention, log } = composeUseCases(wiring, stores, remembered, answering, afterTurn, {
    registry,
    afterTurn: written,
    archived: async (owner) => behaviour?.archived(owner, stopping.signal),
  });

  wiring.metrics.backlogFrom(() => backlogOf({ index: store.index, clock: wiring.clock }));
  await privacy.resume();
  const schedule = scheduleRetention({
    everyHours: config.RETENTION_INTERVAL_HOURS,
    run: (signal) => retention({ dryRun: false, signal }),
    locks: store.locks,
    logger,
  });
  worker.start();
  void historyCatchUp.run();

  let closed: Promise<void> | null = null;
  const close = async (drainMs: number) => {
    stopping.abort();
    await registry.close();
    await schedule.stop();
    const until = performance.now() + drainMs;
    await worker.drain(drainMs);
    await Promise.all([worker.stop(), registry.breakOff(Math.max(0, until - performance.now()))]);
    await Promise.all([historyCatchUp.stop(), indexCatchUp.stop()]);
    await closeAll();
  };
  const { longTerm, history } = remembered;
  const { models, domain } = answering;
  return {
    chat,
    ownAgent,
    sessions,
    memories: heldMemories(longTerm, { begin: (owner) => registry.begin(owner, "upkeep") }),
    history,
    imports,
    privacy,
    seen: (owner, seen) => noteVisit(wiring, registry, ledger, owner, seen),
    user: (owner) => ledger.user(owner),
    readiness: () =>
      readinessOf({
        storage: stores.storage,
        longTerm,
        history,
        index: store.index,
        lagging,
        indexCatchUp,
        historyCatchUp,
        model: models.chat,
        embedder: embedderInfo(remembered),
        costs: costs.limits,
      }),
    info: infoOf(wiring, remembered, answering),
    close: ({ drainMs = 5_000 } = {}) => {
      closed ??= close(drainMs);
      return closed;
    },
    parts: {
      config,
      store,
      ledger,
      worker,
      domain,
      retention,
      rebuildIndex,
      promotion,
      reindex,
      longTerm,
      log,
      limiter: stores.limiter ?? null,
    },
  };
}

/** An erasure waits for it, and then keeps it out: no visit of before is written after the receipt. */
function noteVisit(
  { clock, logger }: Wiring,
  registry: TurnRegistry,
  ledger: Parts["ledger"],
  owner: Owner,
  seen: Parameters<Composed["seen"]>[1],
): void {
  const at = clock.now().toISOString();
  const note = async () => {
    const running = registry.begin(owner, "upkeep");
    try {
      await ledger.seen(owner, { at, ...seen });
    } finally {
      running.end();
    }
  };
  note().catch((error: unknown) => {
    if (!isAppError(error, "OWNER_ERASED")) logger.warn({ err: error }, "a user's visit could not be kept");
  });
}

function infoOf({ config, dir }: Wiring, remembered: LongTerm, { models: { chat: model } }: Answering): ApplicationInfo {
  return {
    version: VERSION,
    model: { name: model.name, standIn: model.standIn },
    longTerm: { enabled: config.MEM0_ENABLED, location: remembered.vectors.memory.location },
    embedder: embedderInfo(remembered),
    history: { backend: config.HISTORY_BACKEND },
    storageDir: dir,
    shortTerm: config.SHORT_TERM_BACKEND,
  };
}
