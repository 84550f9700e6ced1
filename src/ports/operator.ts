import { z } from "zod";
import { type ReadOnly, time } from "../domain/schema.js";
import { ERRORS, type ErrorCode } from "../platform/errors.js";
import type { OwnersQuery } from "./owner-activity.js";
import type { Page } from "./session-store.js";
import type { Studio } from "./studio.js";

/** What whoever runs a server can ask of it, over all users: no words of anybody's, and nothing that a user can. */
export interface Operator {
  /** Users who have sessions, as {@link SessionIndex.owners}. @throws INVALID_CURSOR, INVALID_REQUEST, INVALID_USER_ID */
  users(query: OwnersQuery): Promise<Page<KnownUser>>;
  readonly jobs: Jobs;
  /** What happened. */
  readonly studio: Studio;
}

export const knownUserSchema = z
  .object({
    tenant: z.string(),
    user: z.string(),
    sessions: z.number().int().meta({ description: "Of any status." }),
    last_active_at: time,
  })
  .meta({ id: "KnownUser" });
export type KnownUser = ReadOnly<z.output<typeof knownUserSchema>>;

export const JOB_KINDS = ["retention", "promote", "reindex", "reindex_memories"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["running", "stopping", "succeeded", "failed", "stopped"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Work over all users, off every reply's path. `dry_run`: of retention alone, it says what it would do; `problem`: why it failed. */
export const jobSchema = z
  .object({
    id: z.string(),
    kind: z.enum(JOB_KINDS),
    dry_run: z.boolean(),
    state: z.enum(JOB_STATES),
    started_at: time,
    ended_at: time.nullable(),
    progress: z.object({
      done: z.number().int().meta({ description: "Sessions or users." }),
      total: z.number().int().nullable().meta({ description: "Null while it is not known." }),
    }),
    result: z
      .record(z.string(), z.union([z.number(), z.boolean()]))
      .nullable()
      .meta({ description: "Counts by name, of what could not be done as well; null until it has ended, and where it failed." }),
    problem: z
      .object({ code: z.enum(Object.keys(ERRORS) as [ErrorCode]), title: z.string(), detail: z.string(), hint: z.string() })
      .nullable(),
  })
  .meta({ id: "Job" });
export type Job = ReadOnly<z.output<typeof jobSchema>>;
export type JobResult = NonNullable<Job["result"]>;

/**
 * Jobs of the installation, the same from every process on one store: the open ones and the newest 100. One of a kind runs at a time. Who
 * began it may be gone: a job whose process was killed is taken up by another, or at the next start.
 */
export interface Jobs {
  /** @throws JOB_RUNNING (with its id), INVALID_REQUEST for a dry run of what has none, SHUTTING_DOWN */
  start(kind: JobKind, options: { readonly dryRun: boolean }): Promise<Job>;
  /** Newest first. */
  list(): Promise<readonly Job[]>;
  /** @throws JOB_NOT_FOUND */
  get(id: string): Promise<Job>;
  /** Asks a job to stop, which it does where it can go on later. One that has ended stays as it is. @throws JOB_NOT_FOUND */
  stop(id: string): Promise<Job>;
}
