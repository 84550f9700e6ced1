import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { RetentionReport } from "../after-turn/retention.js";
import type { Parts } from "../compose/composed.js";
import type { Config } from "../compose/config.js";
import { parseOwner } from "../domain/owner.js";
import type { Promotion, PromotionReport } from "../memories/promotion.js";
import { AppError } from "../platform/errors.js";
import type { LongTermMemory } from "../ports/memories.js";
import type { Job, JobKind, JobResult, KnownUser, Operator } from "../ports/operator.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import { everyItem } from "../ports/pages.js";
import type { SessionStore } from "../ports/session-store.js";
import type { Course, DatabaseCheck, GivenUpTurns, Maintenance, OverAllUsers } from "./maintenance.js";
import { type RemoteOptions, request } from "./remote-backend.js";

/** What a composed application has for work on its stores as a whole. */
interface MaintenanceParts extends Pick<Parts, "encryptedUnder" | "isMerge" | "resolve" | "rebuildIndex" | "reindex" | "retention"> {
  readonly config: Pick<Config, "MEMORY_STORAGE_DIR" | "SHORT_TERM_BACKEND">;
  readonly store: Pick<SessionStore, "journal" | "index" | "turns">;
  readonly ledger: Pick<OwnerLedger, "openErasures">;
  readonly longTerm: Pick<LongTermMemory, "rebuild">;
  readonly promotion: Pick<Promotion, "run">;
  readonly operator: Pick<Operator, "users">;
}

export function maintenanceOf(parts: MaintenanceParts): Maintenance {
  const { config, store, ledger, encryptedUnder, isMerge, resolve, longTerm, rebuildIndex, promotion, operator, reindex, retention } =
    parts;
  return {
    reindex: async ({ signal, onProgress }) => {
      let total = 0;
      for await (const _ of store.journal.list()) total += 1;
      // Sessions are counted twice: once for their list, once for history.
      // Broken off, the next start goes on.
      const { sessions: listed } = await rebuildIndex({ signal, onProgress: (done) => onProgress(done, total * 2) });
      const { sessions, added, failed } = await reindex({
        which: "all",
        signal,
        onProgress: (report) => onProgress(total + report.sessions, total * 2),
      });
      signal.throwIfAborted();
      return { sessions: listed, sessions_searched: sessions, messages_added_to_history: added, sessions_failed: failed };
    },
    reindexMemories: async ({ signal, onProgress }) => {
      const { owners, memories, failed } = await longTerm.rebuild({ signal, onProgress: (done) => onProgress(done.owners, 0) });
      return { users: owners, memories, users_failed: failed };
    },
    promote: async ({ onProgress, owner, ...options }) => {
      let looked = 0;
      const whose = owner === undefined ? {} : { owner: await resolve(owner) };
      return promotion.run({ ...options, ...whose, onProgress: () => onProgress(++looked, 0) });
    },
    retention: ({ onProgress, ...options }) =>
      retention({ ...options, onProgress: ({ deleted, purged }) => onProgress(deleted + purged, 0) }),
    users: (tenant) => allUsers((query) => operator.users(query), tenant),
    pendingWriteBacks: () => store.turns.counts(),
    givenUpTurns: () => givenUpTurns(store),
    openErasures: async () => {
      let open = 0;
      for (const { owner } of await ledger.openErasures()) if (!(await isMerge(owner))) open += 1;
      return open;
    },
    encryptedUnder,
    journals: () => store.journal.check(),
    databases: () => checkDatabases(config.SHORT_TERM_BACKEND === "file" ? config.MEMORY_STORAGE_DIR : null),
  };
}

const OWNERS_A_PAGE = 200;

async function* givenUpTurns({ index, turns }: MaintenanceParts["store"]): AsyncGenerator<GivenUpTurns> {
  for await (const { owner } of everyItem((at) => index.owners({ limit: OWNERS_A_PAGE, ...at }))) {
    const failed = (await turns.of(owner)).filter(({ state }) => state === "failed");
    for (const sessionId of new Set(failed.map((turn) => turn.sessionId))) {
      const ofSession = failed.filter((turn) => turn.sessionId === sessionId);
      yield { ...parseOwner(owner), sessionId, turns: ofSession.length, code: ofSession.at(-1)?.errorCode ?? null };
    }
  }
}

async function* checkDatabases(dir: string | null): AsyncGenerator<DatabaseCheck> {
  if (dir === null) return;
  // On demand: nothing else here needs SQLite, and there are commands that do without.
  const { checkDatabase, isDamage } = await import("../platform/sqlite.js");
  for (const name of (await readdir(dir)).filter((each) => each.endsWith(".db")).sort()) {
    const path = join(dir, name);
    try {
      checkDatabase(path);
      yield { path, damaged: false };
    } catch (error) {
      if (!isDamage(error)) throw error;
      yield { path, damaged: true };
    }
  }
}

/** Between two looks at a job, in milliseconds. */
const LOOK_MS = 500;

const JOBS = "/v1/operator/jobs";

/** Work over all users through a running server, as its operator. Interrupted, it stops the job that it began. */
export function remoteOperator(options: RemoteOptions, lookMs = LOOK_MS): OverAllUsers {
  const read = async <T>(path: string, call: Parameters<typeof request>[2] = {}) =>
    (await (await request(options, path, call)).json()) as T;
  const run = async <T extends object>(kind: JobKind, { signal, onProgress }: Course, dryRun = false): Promise<T> => {
    signal.throwIfAborted();
    const tell = ({ progress: { done, total } }: Job) => onProgress(done, total ?? 0);
    let job = await read<Job>(JOBS, { method: "POST", json: { kind, dry_run: dryRun } });
    const path = `${JOBS}/${encodeURIComponent(job.id)}`;
    try {
      while (job.ended_at === null) {
        tell(job);
        await pause(lookMs, undefined, { signal });
        job = await read<Job>(path, { signal });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      await request(options, path, { method: "DELETE" });
      throw new AppError("ABORTED", { cause: error });
    }
    tell(job);
    return resultOf(job) as unknown as T;
  };
  return {
    reindex: (course) => run<Record<string, number>>("reindex", course),
    reindexMemories: (course) => run<Record<string, number>>("reindex_memories", course),
    promote: async ({ owner, ...course }) => {
      if (owner !== undefined)
        throw new AppError("INVALID_REQUEST", { detail: "A server promotes for all users.", hint: "Add --all-users, or leave out --url." });
      return run<PromotionReport>("promote", course);
    },
    retention: ({ dryRun, ...course }) => run<RetentionReport>("retention", course, dryRun),
    users: (tenant) =>
      allUsers(async ({ limit, cursor }) => {
        const query = new URLSearchParams({
          limit: String(limit),
          ...(tenant !== undefined && { tenant }),
          ...(cursor !== undefined && { cursor }),
        });
        const page = await read<{ data: KnownUser[]; next_cursor: string | null }>(`/v1/operator/users?${query}`);
        return { data: page.data, nextCursor: page.next_cursor };
      }, tenant),
  };
}

/** @throws what it failed with; ABORTED where somebody stopped it */
function resultOf({ state, result, problem }: Job): JobResult {
  if (problem !== null) throw new AppError(problem.code, problem);
  if (state === "stopped") throw new AppError("ABORTED", { detail: "The job was stopped.", hint: "Begun again, it goes on where it was." });
  return result ?? {};
}

const PAGE = 200;

export function allUsers(page: Operator["users"], tenant: string | undefined): AsyncGenerator<KnownUser> {
  return everyItem((at) => page({ limit: PAGE, ...(tenant !== undefined && { tenant }), ...at }));
}
