import { parseOwner } from "../domain/owner.js";
import { InstallationJobs, type JobWork } from "../operations/jobs.js";
import { type ReindexBesideTurnsParts, reindexBesideTurns } from "../operations/reindex.js";
import type { JobKind, Operator } from "../ports/operator.js";
import type { Studio } from "../ports/studio.js";
import { EngineJobs } from "../state/jobs/installation-jobs.js";
import { catchUpSession } from "../state/jsonl/index-catch-up.js";
import type { AfterTurn } from "./after-turn.js";
import type { ComposedEvents } from "./events.js";
import type { LongTerm } from "./long-term.js";
import type { Stores } from "./stores.js";
import type { UseCases } from "./use-cases.js";
import type { Wiring } from "./wiring.js";

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
