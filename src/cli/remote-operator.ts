import { setTimeout as pause } from "node:timers/promises";
import type { RetentionReport } from "../after-turn/retention.js";
import type { PromotionReport } from "../memories/promotion.js";
import { AppError } from "../platform/errors.js";
import type { Job, JobKind, JobResult, KnownUser, Operator } from "../ports/operator.js";
import { everyItem } from "../ports/pages.js";
import type { Course, OverAllUsers } from "./maintenance.js";
import { type RemoteOptions, request } from "./remote-backend.js";

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

/** Page after page. */
export function allUsers(page: Operator["users"], tenant: string | undefined): AsyncGenerator<KnownUser> {
  return everyItem((at) => page({ limit: PAGE, ...(tenant !== undefined && { tenant }), ...at }));
}
