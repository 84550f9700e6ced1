import { resolve } from "node:path";
import { ReactAgent } from "./agent/react-agent.js";
import { historyTool } from "./agent/tools/history-tool.js";
import { memoryTools } from "./agent/tools/memory-tools.js";
import { CatchingUp } from "./catching-up.js";
import { keepingOf, rememberable } from "./commands.js";
import {
  type Closing,
  openCategories,
  openEmbedder,
  openExtractor,
  openModel,
  openRouter,
  openVectors,
  WRITE_TIMEOUT_MS,
} from "./compose/backends.js";
import type { Composed, Overrides, Parts } from "./compose/composed.js";
import { reembed } from "./compose/reembed.js";
import { openConcierge } from "./concierge/open-concierge.js";
import type { Config } from "./config.js";
import { ConversationLog } from "./conversation-log.js";
import { AppError, isAppError } from "./errors.js";
import { DisabledHistory } from "./history/disabled-history.js";
import { looksBack } from "./history/look-back.js";
import { VectorHistory } from "./history/vector-history.js";
import { withoutForgotten } from "./history/without-forgotten.js";
import { ImportService } from "./import.js";
import { catchUpIndex } from "./index-catch-up.js";
import { LaggingSessions } from "./lagging-sessions.js";
import { DisabledMemory } from "./long-term/disabled-memory.js";
import { Mem0Service } from "./long-term/mem0-service.js";
import { steeringOf } from "./long-term/promotable/instructions.js";
import { guarded, promote, toOperations } from "./long-term/promotable.js";
import type { ExtractionInput } from "./long-term.js";
import { RuleExtractor } from "./offline/rule-extractor.js";
import { contextBudget } from "./orchestrator/budget.js";
import { systemPrompt } from "./orchestrator/prompt.js";
import { SummaryKeeper } from "./orchestrator/summary.js";
import { tokenCounterFor } from "./orchestrator/tokens.js";
import { TurnRegistry } from "./orchestrator/turn-registry.js";
import { SessionUpkeep } from "./orchestrator/upkeep.js";
import { whenForgotten } from "./orchestrator/when-forgotten.js";
import { WriteBack } from "./orchestrator/write-back.js";
import { WriteBackWorker } from "./orchestrator/write-back-worker.js";
import { ConversationOrchestrator } from "./orchestrator.js";
import type { Owner } from "./owner.js";
import { FileOwnerLedger } from "./owner-ledger/file-owner-ledger.js";
import { InMemoryOwnerLedger } from "./owner-ledger/in-memory-owner-ledger.js";
import { OwnerWork } from "./owner-work.js";
import { systemClock } from "./platform/clock.js";
import { DirectoryLock } from "./platform/directory-lock.js";
import { nodeFileSystem } from "./platform/file-system.js";
import { silentLogger } from "./platform/logger.js";
import { PrivacyService } from "./privacy.js";
import { Promotion } from "./promote.js";
import { readinessOf } from "./readiness.js";
import { reindexHistory } from "./reindex.js";
import { runRetention, scheduleRetention } from "./retention.js";
import { summaryMessage } from "./searchable.js";
import { SessionWriter } from "./session-writer.js";
import { SessionService } from "./sessions.js";
import { openFileSessionStore } from "./short-term/file-session-store.js";
import { openMemorySessionStore } from "./short-term/in-memory.js";
import { documentVector, queryVector } from "./vectors/sparse.js";
import { VERSION } from "./version.js";

export type { Composed, Overrides, Parts };

const CONTEXT_ROUNDS = 3;
const RELATED_MEMORIES = 10;
const HISTORY_IN_TURN = 5;
/** Set aside for recall, page context, profile and the message when it is decided which rounds the summary has to cover. */
const VOLATILE_TOKENS = 2_000;

/**
 * Puts the parts together: the only place that names adapters. Opens every store, finishes what a crash left behind, and starts
 * the write-back. @throws STORAGE_IN_USE, STORAGE_UNAVAILABLE, REINDEX_REQUIRED, QDRANT_TOO_OLD, EMBEDDING_UNAVAILABLE
 */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Composed> {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const closing = <T>(value: T, close: (value: T) => Promise<unknown> | unknown): T => {
    closers.unshift(() => close(value));
    return value;
  };
  const closeAll = async () => {
    for (const close of closers.splice(0)) await close();
  };
  try {
    return await assemble(config, overrides, closing, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function assemble(config: Config, overrides: Overrides, closing: Closing, closeAll: () => Promise<void>): Promise<Composed> {
  const { logger = silentLogger, clock = systemClock, fileSystem = nodeFileSystem, around = {} } = overrides;
  const kept = config.SHORT_TERM_BACKEND === "file";
  const dir = resolve(config.MEMORY_STORAGE_DIR);
  if (kept) closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());

  // What was said, and what is known of owners.
  const ledger = kept
    ? closing(await FileOwnerLedger.open({ dir, fileSystem, logger }), (opened) => opened.close())
    : new InMemoryOwnerLedger();
  const files = kept ? await openFileSessionStore({ dir, logger, clock, fileSystem }) : null;
  const store = closing((around.sessions ?? same)(files ?? (await openMemorySessionStore({ logger, clock }))), (it) => it.close());
  const indexCatchUp = new CatchingUp("index", () => files?.catchUp() ?? catchUpIndex(store), logger);
  await indexCatchUp.run();

  // What is remembered.
  const categories = await openCategories(config.MEMORY_CATEGORIES_FILE);
  const embedder = overrides.embedder ?? (await openEmbedder(config));
  const vectors = await openVectors(config, kept ? dir : null, around.vectors ?? same, closing, logger);
  const router = await openRouter(config, vectors.memory, logger);
  if (overrides.reembed) await reembed(vectors, router.collections(), embedder, { signal: new AbortController().signal });
  const mem0 = await Mem0Service.open(
    { reads: vectors.recall, writes: vectors.memory, embedder, ledger, clock, logger, sparse: { documentVector, queryVector } },
    {
      dir,
      router,
      categories,
      minConfidence: config.MEMORY_MIN_CONFIDENCE,
      halfLifeDays: config.MEMORY_HALF_LIFE_DAYS,
      searchLimit: config.MEM0_SEARCH_LIMIT,
      timeoutMs: WRITE_TIMEOUT_MS,
    },
  );
  const remembering = closing((around.longTerm ?? same)(config.MEM0_ENABLED ? mem0 : new DisabledMemory(mem0)), (it) => it.close());
  const longTerm = whenForgotten(remembering, (owner) => void summaries.forgotten(owner));
  const verbatim = vectors.history
    ? await VectorHistory.open({
        store: vectors.history,
        embedder,
        sparse: { documentVector, queryVector },
        defaultLimit: config.MEMORY_SEARCH_LIMIT,
        logger,
      })
    : new DisabledHistory();
  const history = closing(withoutForgotten((around.history ?? same)(verbatim), ledger, store.index), (it) => it.close());

  // Who answers.
  const writtenBack = async (owner: Owner, signal: AbortSignal) => !(await lagging.lags(owner)) && worker.written(owner, signal);
  const domain =
    overrides.domain ?? closing(await openConcierge({ dir: kept ? dir : null, longTerm, writtenBack, logger }), (it) => it.close?.());
  const model = overrides.model ?? openModel(config, domain);
  const extractor = guarded(overrides.extractor ?? (await openExtractor(config, model, { dir, categories, logger })), {
    categories,
    onJudged: ({ messageId, verdict, reasons }) =>
      logger.info({ message_id: messageId, verdict, reasons }, "a proposed memory did not pass"),
  });
  const extraction = {
    name: extractor.name,
    operations: async (input: ExtractionInput, signal: AbortSignal) => {
      const own = ownStatements(input);
      return own.text.trim() === "" ? [] : toOperations(own, await extractor.extract(own, { signal }));
    },
  };
  // What is to be remembered is read by them whatever the model, so that what must hold does.
  const rules = new RuleExtractor();
  const agent = new ReactAgent({
    model,
    tools: [
      ...domain.tools,
      ...(config.MEM0_ENABLED
        ? memoryTools({
            longTerm,
            promote: (input, proposals) => promote(ownStatements(input), proposals, { categories }),
            read: (input) => rules.extract(input),
          })
        : []),
      ...(config.MEM0_ENABLED && vectors.history ? [historyTool(history)] : []),
    ],
    clock,
    logger,
    modelTimeoutMs: config.MODEL_TIMEOUT_MS,
    ...(domain.arrange !== undefined && { arrange: domain.arrange }),
  });

  // What happens around a turn.
  const stopping = new AbortController();
  const registry = new TurnRegistry();
  const catchUps = new OwnerWork();
  const afterTurns = { begin: (owner: Owner) => registry.begin(owner, "upkeep") };
  const lagging = closing(new LaggingSessions(store, { onLevel: () => worker.kick(), logger }), (it) => it.close());
  const writer = new SessionWriter(store, { onLag: (owner, id) => lagging.add(owner, id), logger });
  const counter = await tokenCounterFor(model.name);
  const prompt = systemPrompt(domain.prompt);
  const maxTokens = contextBudget(config.CONTEXT_MAX_TOKENS, model.contextTokens);
  const summaries = new SummaryKeeper(
    { store, writer, ledger, history, model, counter, gate: afterTurns, clock, logger },
    {
      windowRounds: config.SHORT_TERM_ROUNDS,
      windowTokens: Math.max(0, maxTokens - config.SUMMARY_MAX_TOKENS - counter.count(prompt) - VOLATILE_TOKENS),
      maxTokens: config.SUMMARY_MAX_TOKENS,
      lockWaitMs: config.SESSION_LOCK_WAIT_MS,
    },
  );
  const upkeep = new SessionUpkeep({ store, writer, summaries, ledger, model, gate: afterTurns, clock, logger });
  const writeBack = new WriteBack(
    {
      store,
      writer,
      longTerm,
      history: vectors.history ? history : null,
      extraction: config.MEM0_ENABLED ? extraction : null,
      clock,
      logger,
    },
    { contextRounds: CONTEXT_ROUNDS, relatedLimit: RELATED_MEMORIES },
  );
  const reindex: Parts["reindex"] = (options) =>
    reindexHistory({ store, history, summaryMessage, during: (owner, signal, work) => catchUps.run(owner, signal, work), logger }, options);
  const historyCatchUp = new CatchingUp(
    "history",
    async () => {
      if (!vectors.history) return;
      const { failed } = await reindex({ which: "missing", signal: stopping.signal });
      if (failed > 0) throw new AppError("HISTORY_UNAVAILABLE", { detail: `${failed} sessions are not in history.` });
    },
    logger,
  );
  const worker = new WriteBackWorker({
    writeBack,
    index: store.index,
    clock,
    logger,
    afterDone: (owner, id) => {
      // The store of vectors answers: what was out of its reach at the start can be caught up with.
      if (historyCatchUp.state === "failed") void historyCatchUp.run();
      return upkeep.afterTurn(owner, id);
    },
  });
  const orchestrator = new ConversationOrchestrator(
    {
      store,
      writer,
      lagging,
      agent,
      domain: { name: domain.name, prompt },
      recall: {
        enabled: config.MEM0_ENABLED,
        longTerm,
        history,
        looksBack,
        deadlineMs: config.RECALL_DEADLINE_MS,
        historyLimit: HISTORY_IN_TURN,
      },
      ledger,
      registry,
      keepingOf,
      // A turn that is kept out of memory has no write-back that its upkeep could follow.
      afterTurn: (owner, id, remember) => (remember ? worker.kick() : void upkeep.afterTurn(owner, id)),
      clock,
      logger,
      counter,
    },
    { rounds: config.SHORT_TERM_ROUNDS, maxTokens, lockWaitMs: config.SESSION_LOCK_WAIT_MS },
  );

  // What else can be asked for.
  const flush: WriteBackWorker["flush"] = async (owner, id, ...rest) => {
    await lagging.requireLevel(owner, id);
    return worker.flush(owner, id, ...rest);
  };
  const holdStores = async (owner: Owner) => both(await worker.hold(owner), await catchUps.hold(owner));
  const hold = async (owner: Owner) => both(await registry.hold(owner), await holdStores(owner));
  const sessions = new SessionService(
    {
      store,
      writer,
      history,
      longTerm,
      ledger,
      gate: registry,
      writeBack: { flush, kick: () => worker.kick(), hold: holdStores },
      finalSummary: async (owner, id) => void (await summaries.finish(owner, id)),
      agentType: domain.name,
      clock,
      logger,
    },
    { lockWaitMs: config.SESSION_LOCK_WAIT_MS },
  );
  const privacy = new PrivacyService({
    store,
    history,
    longTerm,
    records: domain.records ?? null,
    ledger,
    hold,
    compact: vectors.compact,
    clock,
    logger,
  });
  const promotion = new Promotion({ store, longTerm, extraction, ledger, gate: registry, clock, logger });
  const imports = new ImportService({
    store,
    writer,
    history,
    clock,
    gate: registry,
    promote: config.MEM0_ENABLED ? (owner, id, signal) => promotion.session(owner, id, signal) : null,
    restore: { longTerm, ledger, records: domain.records ?? null },
    lockWaitMs: config.SESSION_LOCK_WAIT_MS,
  });
  const retention: Parts["retention"] = (options) =>
    runRetention({
      ...options,
      index: store.index,
      lapse: (owner, id, how, due) => sessions.lapse(owner, id, how, due),
      policy: {
        activeDays: config.RETENTION_ACTIVE_DAYS,
        archivedDays: config.RETENTION_ARCHIVED_DAYS,
        deletedDays: config.RETENTION_DELETED_DAYS,
      },
      batch: config.RETENTION_BATCH,
      now: clock.now(),
      logger,
    });

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
  return {
    chat: orchestrator,
    sessions,
    memories: longTerm,
    history,
    imports,
    privacy,
    seen: (owner, seen) => {
      // An erasure waits for it, and then keeps it out: no visit of before is written after the receipt.
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
    },
    user: (owner) => ledger.user(owner),
    readiness: () => readinessOf({ longTerm, history, index: store.index, lagging, indexCatchUp, historyCatchUp, model }),
    info: {
      version: VERSION,
      model: { name: model.name, standIn: model.standIn },
      longTerm: { enabled: config.MEM0_ENABLED, location: vectors.memory.location },
      embedder: { id: embedder.id, lexical: embedder.lexical },
      history: { backend: config.HISTORY_BACKEND },
      storageDir: dir,
      shortTerm: config.SHORT_TERM_BACKEND,
    },
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
      promotion,
      reindex,
      log: new ConversationLog({ store, writer, history, clock }),
    },
  };
}

/** The input with what of its message may become a memory. A message that steers anywhere is judged as it stands. */
function ownStatements(input: ExtractionInput): ExtractionInput {
  const text = rememberable(input.text);
  return { ...input, text: text !== "" && steeringOf(input.text) === "refused" ? input.text : text };
}

function both(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

function same<T>(value: T): T {
  return value;
}
