import { RETENTION_LOCK } from "../after-turn/retention.js";
import { parseOwner } from "../domain/owner.js";
import { type JobWork, RunningJobs } from "../operations/jobs.js";
import type { JobKind, Operator } from "../ports/operator.js";
import { catchUpIndex } from "../stores/sqlite-index/index-catch-up.js";
import type { AfterTurn } from "./after-turn.js";
import type { LongTerm } from "./long-term.js";
import type { Stores } from "./stores.js";
import type { UseCases } from "./use-cases.js";
import type { Wiring } from "./wiring.js";

/** What whoever runs the server can ask of it while it runs. `close` stops what it has begun. */
export function composeOperator(
  { clock, logger }: Wiring,
  { store }: Stores,
  { longTerm, keepsHistory }: LongTerm,
  { reindex }: AfterTurn,
  { retention, promotion }: Pick<UseCases, "retention" | "promotion">,
): Operator & { close(): Promise<void> } {
  const works: Readonly<Record<JobKind, JobWork>> = {
    retention: {
      lock: RETENTION_LOCK,
      dryRun: true,
      run: async ({ onProgress, ...options }) => {
        return { ...(await retention({ ...options, onProgress: ({ deleted, purged }) => onProgress(deleted + purged, 0) })) };
      },
    },
    promote: {
      lock: "job promote",
      dryRun: false,
      run: async ({ signal, onProgress }) => {
        let looked = 0;
        return { ...(await promotion.run({ signal, onProgress: () => onProgress(++looked, 0) })) };
      },
    },
    reindex: {
      lock: "job reindex",
      dryRun: false,
      // Nothing is emptied, as it is without a server: who lists sessions meanwhile sees all of them.
      run: async ({ signal, onProgress }) => {
        let total = 0;
        for await (const _ of store.journal.list()) total += 1;
        const listed = await catchUpIndex(store, { signal, onProgress: (done) => onProgress(done, total * 2) });
        const history = { sessions: 0, added: 0, failed: 0 };
        if (keepsHistory)
          Object.assign(
            history,
            await reindex({ which: "all", signal, onProgress: ({ sessions }) => onProgress(total + sessions, total * 2) }),
          );
        const { sessions: searched, added, failed } = history;
        return { sessions: listed.sessions, sessions_searched: searched, messages_added_to_history: added, sessions_failed: failed };
      },
    },
    reindex_memories: {
      lock: "job reindex_memories",
      dryRun: false,
      run: async ({ signal, onProgress }) => {
        const { owners, memories, failed } = await longTerm.rebuild({ signal, onProgress: (done) => onProgress(done.owners, 0) });
        return { users: owners, memories, users_failed: failed };
      },
    },
  };
  const jobs = new RunningJobs({ works, locks: store.locks, clock, logger });
  return {
    users: async (query) => {
      const { data, nextCursor } = await store.index.owners(query);
      const users = data.map(({ owner, sessions, lastActiveAt }) => ({ ...parseOwner(owner), sessions, last_active_at: lastActiveAt }));
      return { data: users, nextCursor };
    },
    jobs,
    close: () => jobs.close(),
  };
}
