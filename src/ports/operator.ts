import type { ErrorCode } from "../platform/errors.js";
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

export interface KnownUser {
  readonly tenant: string;
  readonly user: string;
  /** Of any status. */
  readonly sessions: number;
  /** ISO 8601 UTC. */
  readonly last_active_at: string;
}

export const JOB_KINDS = ["retention", "promote", "reindex", "reindex_memories"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["running", "stopping", "succeeded", "failed", "stopped"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Work over all users, off every reply's path. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  /** Retention alone: it says what it would do. */
  readonly dry_run: boolean;
  readonly state: JobState;
  readonly started_at: string;
  readonly ended_at: string | null;
  /** Sessions or users; `total` is null while it is not known. */
  readonly progress: { readonly done: number; readonly total: number | null };
  /** Counts by name, of what could not be done as well; null until it has ended, and where it failed. */
  readonly result: JobResult | null;
  /** Why it failed; else null. */
  readonly problem: { readonly code: ErrorCode; readonly title: string; readonly detail: string; readonly hint: string } | null;
}

export type JobResult = Readonly<Record<string, number | boolean>>;

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
