import { parseOwner } from "../domain/owner.js";
import { InstallationJobs, type JobWork } from "../operations/jobs.js";
import { type ReindexBesideTurnsParts, reindexBesideTurns } from "../operations/reindex.js";
import { studioOver } from "../operations/studio/studio.js";
import { AppError } from "../platform/errors.js";
import { silentLogger } from "../platform/logger.js";
import { present } from "../platform/present.js";
import { VERSION } from "../platform/version.js";
import type { JobKind, Operator } from "../ports/operator.js";
import type { Readiness } from "../ports/resources.js";
import type { Studio } from "../ports/studio.js";
import { EngineOperatorLooks } from "../state/counters/operator-looks.js";
import { EngineHealthHistory } from "../state/health/health-history.js";
import { EngineJobs } from "../state/jobs/installation-jobs.js";
import { catchUpSession } from "../state/jsonl/index-catch-up.js";
import { rebuiltBlocks } from "../turn/context-blocks.js";
import type { AfterTurn } from "./after-turn.js";
import type { Composed, Overrides } from "./composed.js";
import type { Config } from "./config.js";
import type { Costs } from "./costs.js";
import type { ComposedEvents } from "./events.js";
import type { LongTerm } from "./long-term.js";
import type { Recording } from "./recording.js";
import { trialSettings } from "./trial-settings.js";
import type { UseCases } from "./use-cases.js";
import type { Stores, Wiring } from "./wiring.js";

/** What whoever runs the server can ask of it while it runs. */
export function composeOperator(
  { clock, logger }: Wiring,
  { engine, store }: Stores,
  { longTerm, keepsHistory }: LongTerm,
  { reindex, catchUps }: AfterTurn,
  { retention, promotion }: Pick<UseCases, "retention" | "promotion">,
  { prune }: Pick<ComposedEvents, "prune">,
  studio: Studio,
): Omit<Operator, "jobs"> & { readonly jobs: InstallationJobs } {
  const besideTurns: ReindexBesideTurnsParts = {
    store,
    catchUp: (owner, sessionId, options) => catchUpSession(store, owner, sessionId, options),
    during: (owner, signal, work) => catchUps.run(owner, signal, work),
    history: keepsHistory ? reindex : null,
    logger,
  };
  const works: Readonly<Record<JobKind, JobWork>> = {
    retention: {
      dryRun: true,
      run: async ({ onProgress, ...options }) => {
        const report = await retention({ ...options, onProgress: ({ deleted, purged }) => onProgress(deleted + purged, 0) });
        if (!options.dryRun) await prune();
        return { ...report };
      },
    },
    promote: {
      dryRun: false,
      run: async ({ signal, onProgress }) => {
        let looked = 0;
        return { ...(await promotion.run({ signal, onProgress: () => onProgress(++looked, 0) })) };
      },
    },
    reindex: {
      dryRun: false,
      run: ({ signal, onProgress }) => reindexBesideTurns(besideTurns, { signal, onProgress }),
    },
    reindex_memories: {
      dryRun: false,
      run: async ({ signal, onProgress }) => {
        const { owners, memories, failed } = await longTerm.rebuild({ signal, onProgress: (done) => onProgress(done.owners, 0) });
        return { users: owners, memories, users_failed: failed };
      },
    },
  };
  const jobs = new InstallationJobs({ works, rows: new EngineJobs(engine), isShared: engine.manifest.shared, clock, logger });
  return {
    users: async (query) => {
      const { data, nextCursor } = await store.index.owners(query);
      const users = data.map(({ owner, sessions, lastActiveAt }) => ({ ...parseOwner(owner), sessions, last_active_at: lastActiveAt }));
      return { data: users, nextCursor };
    },
    jobs,
    studio,
  };
}

/** How often it is looked whether a part does otherwise than before, in milliseconds. */
const LOOK_MS = 60_000;

export function composeStudio(
  wiring: Wiring,
  { engine, store, ledger, memoryLog }: Stores,
  { longTerm, changes, embedder }: LongTerm,
  { upkeep }: AfterTurn,
  {
    recording: { records, turns, conversations: list, plots },
    costs: { prices },
    useCases: { sessions, privacy },
    events: { deliveries },
    readiness,
    model,
    stopping,
    compose,
  }: {
    readonly recording: Recording;
    readonly costs: Costs;
    readonly useCases: Pick<UseCases, "sessions" | "privacy">;
    readonly events: Pick<ComposedEvents, "deliveries">;
    readonly readiness: () => Promise<Readiness>;
    readonly model: string;
    /** Aborts when the process stops. */
    readonly stopping: AbortSignal;
    /** Opens the product another time. */
    readonly compose: (config: Config, overrides: Overrides) => Promise<Composed>;
  },
): Studio {
  const { config, clock, logger, closing, overrides, tenants } = wiring;
  const healthHistory = new EngineHealthHistory(engine);
  const look = async () => healthHistory.noted(await readiness(), clock.now());
  const looking = setInterval(() => {
    look().catch((error: unknown) => logger.debug({ err: error }, "how the parts do could not be kept"));
  }, LOOK_MS).unref();
  closing(looking, clearInterval);
  return studioOver({
    ledger,
    looks: new EngineOperatorLooks(engine, clock),
    clock,
    logger,
    list,
    store,
    records: {
      get: async (...name) => {
        await turns.settled();
        return records.get(...name);
      },
    },
    memories: longTerm,
    blocksFrom: ({ owner, ...sources }) => rebuiltBlocks({ ...sources, prompt: upkeep.of(owner).prompt }),
    exported: (owner) => privacy.document(owner),
    // As it answers here: by the same product, models and embedder, with what the tenant has of its own.
    openTrial: async (owner, { model: named, memory = true }, at) => {
      if (named !== undefined) requireProvider(wiring);
      const trial = trialSettings(config, { memory, embeds: true, at }, clock);
      const { domain, model, reader, agent, categories, beforeTool } = overrides;
      const { retentionDays: _, ...settings } = tenants.of(owner);
      const own = named === undefined ? settings : { ...settings, model: undefined };
      return compose(
        { ...trial.config, ...(named !== undefined && { LLM_MODEL: named }) },
        {
          ...present({ domain, model, reader, agent, categories, beforeTool }),
          ...trial.overrides,
          embedder,
          tenants: { [parseOwner(owner).tenant]: own },
          logger: silentLogger,
        },
      );
    },
    stopping,
    known: changes && (async (owner) => (await changes.known(owner)).records),
    log: memoryLog,
    bookings: (owner) => privacy.records(owner),
    bookingReceipts: (owner) => privacy.receipts(owner),
    sessions,
    deliveries,
    plots,
    readiness,
    healthHistory,
    info: { content: config.STUDIO_CONTENT, currency: prices?.currency ?? null, version: VERSION, model },
  });
}

/** @throws INVALID_REQUEST where no name chooses the model that answers */
function requireProvider({ config, overrides }: Wiring): void {
  const { model, agent } = overrides;
  const isOwn = model !== undefined || (agent !== undefined && typeof agent !== "function");
  if (config.LLM_PROVIDER !== "offline" && !isOwn) return;
  const detail = isOwn ? "The model is given in code: a name chooses none." : "No provider of models is connected: a name chooses none.";
  throw new AppError("INVALID_REQUEST", {
    detail,
    errors: [{ pointer: "/model", detail }],
    hint: "Replay the turn without a model's name.",
  });
}
