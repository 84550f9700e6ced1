import { Cron } from "croner";
import { JobWorker } from "../jobs/job-worker.js";
import type { Clock } from "../platform/clock.js";
import { AppError, ERRORS, isAppError } from "../platform/errors.js";
import { LEASE_MS } from "../platform/held-lease.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { Job, JobKind, JobResult, Jobs } from "../ports/operator.js";
import type { EngineJobs, Refused, StoredJob } from "../state/jobs/installation-jobs.js";

/** How often a job is taken up whose process was killed; then it is given up. */
const MAX_ATTEMPTS = 3;

export interface JobWork {
  /** Whether it can say what it would do. */
  readonly dryRun: boolean;
  /** Safe to break off and to repeat. `total`: 0 while it is not known. */
  readonly run: (options: {
    readonly dryRun: boolean;
    readonly signal: AbortSignal;
    readonly onProgress: (done: number, total: number) => void;
  }) => Promise<JobResult>;
}

export interface JobsParts {
  readonly works: Readonly<Record<JobKind, JobWork>>;
  readonly rows: EngineJobs;
  /** Whether other processes may begin jobs, or leave theirs behind while this one runs. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Here {
  readonly stop: AbortController;
  progress: Job["progress"];
}

/** Runs the installation's jobs beside everything else, one of a kind over all processes: those begun here, and those left by others. */
export class InstallationJobs implements Jobs {
  readonly #parts: JobsParts;
  readonly #process = newId();
  readonly #here = new Map<string, Here>();
  readonly #worker: JobWorker<StoredJob>;
  #closed = false;

  constructor(parts: JobsParts) {
    this.#parts = parts;
    const { rows, logger, isShared } = parts;
    this.#worker = new JobWorker<StoredJob>(
      {
        name: "installation",
        ownerOf: () => null,
        keyOf: ({ job }) => job.id,
        placeOf: ({ job }) => ({ job: job.id, kind: job.kind }),
        claim: (limit) => rows.claim(limit, LEASE_MS),
        renew: (row) => this.#renew(row),
        letGo: (row) => rows.letGo(row),
        run: (row, signal) => this.#run(row, signal),
        failed: async (row, error) => {
          logger.warn({ job: row.job.id, kind: row.job.kind, err: error }, "how a job ended could not be kept; it is taken up again");
          return false;
        },
        nextLookMs: async () => {
          const dueMs = await rows.nextDueMs();
          return dueMs === null && !isShared ? null : Math.min(LEASE_MS, dueMs ?? LEASE_MS);
        },
      },
      logger,
      { concurrency: Object.keys(parts.works).length },
    );
  }

  /** Looks for jobs that others left, now and from time to time. */
  open(): void {
    this.#worker.start();
  }

  async start(kind: JobKind, { dryRun }: { readonly dryRun: boolean }): Promise<Job> {
    if (dryRun && !this.#parts.works[kind].dryRun)
      throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/dry_run", detail: `There is no dry run of ${kind}.` }] });
    const begun = await this.#begin(kind, { dryRun });
    if ("open" in begun) throw new AppError("JOB_RUNNING", { detail: `The job ${begun.open} is running.`, retryAfterSeconds: 5 });
    return begun;
  }

  /** Null where one runs, or where any process began one by schedule within this time. */
  async startScheduled(kind: JobKind, notWithinMs: number): Promise<Job | null> {
    const begun = await this.#begin(kind, { dryRun: false, notWithinMs });
    return "open" in begun ? null : begun;
  }

  async list(): Promise<readonly Job[]> {
    return (await this.#parts.rows.list()).map((row) => this.#told(row));
  }

  async get(id: string): Promise<Job> {
    const row = await this.#parts.rows.find(id);
    if (row === null) throw new AppError("JOB_NOT_FOUND");
    return this.#told(row);
  }

  async stop(id: string): Promise<Job> {
    await this.#parts.rows.askToStop(id);
    this.#here.get(id)?.stop.abort(new AppError("ABORTED"));
    return this.get(id);
  }

  /** Stops what was begun here, leaves to others what they or a schedule began, and resolves when nothing runs. No other begins. */
  async close(): Promise<void> {
    this.#closed = true;
    const own = (await this.#worker.running()).filter(({ begunBy, scheduled }) => begunBy === this.#process && !scheduled);
    for (const { job } of own) this.#here.get(job.id)?.stop.abort(new AppError("ABORTED"));
    const isOver = async () => own.every(({ job }) => !this.#here.has(job.id));
    if (own.length > 0) await this.#worker.until(isOver, new AbortController().signal);
    await this.#worker.stop();
  }

  async #begin(kind: JobKind, { dryRun, ...when }: { readonly dryRun: boolean; readonly notWithinMs?: number }): Promise<Job | Refused> {
    if (this.#closed) throw new AppError("SHUTTING_DOWN");
    const job: Job = {
      id: newId(),
      kind,
      dry_run: dryRun,
      state: "running",
      started_at: this.#now(),
      ended_at: null,
      progress: { done: 0, total: null },
      result: null,
      problem: null,
    };
    const { rows } = this.#parts;
    const begun = { job, begunBy: this.#process, ...when };
    const refused = await rows.begin(begun).catch((error: unknown) => {
      if (!isAppError(error, "STORAGE_UNAVAILABLE")) throw error;
      // Whoever asked would begin another, where this one was begun and has ended by then.
      return rows.begin(begun);
    });
    if (refused !== null) return refused;
    this.#worker.kick();
    return job;
  }

  /** How far a job is that runs here is known better than its row says. */
  #told({ job }: StoredJob): Job {
    const here = this.#here.get(job.id);
    return here === undefined || job.ended_at !== null ? job : { ...job, progress: here.progress };
  }

  async #renew(row: StoredJob): Promise<StoredJob | null> {
    const here = this.#here.get(row.job.id);
    const renewed = await this.#parts.rows.renew(row, here?.progress ?? row.job.progress, LEASE_MS);
    if (renewed?.job.state === "stopping") here?.stop.abort(new AppError("ABORTED"));
    return renewed;
  }

  async #run(row: StoredJob, signal: AbortSignal): Promise<void> {
    const { rows, logger } = this.#parts;
    const { id, kind } = row.job;
    const here: Here = { stop: new AbortController(), progress: row.job.progress };
    this.#here.set(id, here);
    try {
      logger.info({ job: id, kind, attempt: row.attempts }, "a job begins");
      const outcome = await this.#outcome(row, here, signal);
      await rows.end(row, { ...outcome, progress: here.progress, ended_at: this.#now() });
      logger.info({ job: id, kind, state: outcome.state }, "a job has ended");
    } finally {
      this.#here.delete(id);
    }
  }

  /** @throws the signal's reason where it is somebody else's now, or left to others */
  async #outcome({ job, attempts }: StoredJob, here: Here, signal: AbortSignal): Promise<Pick<Job, "state"> & Partial<Job>> {
    if (job.state === "stopping") return { state: "stopped" };
    if (attempts > MAX_ATTEMPTS) return { state: "failed", problem: { ...UNKNOWN, detail: `Its process was gone ${MAX_ATTEMPTS} times.` } };
    const { kind, dry_run: dryRun } = job;
    const onProgress = (done: number, total: number) => {
      here.progress = { done, total: total === 0 ? null : total };
    };
    const stop = here.stop.signal;
    try {
      const result = await this.#parts.works[kind].run({ dryRun, signal: AbortSignal.any([stop, signal]), onProgress });
      signal.throwIfAborted();
      return { state: stop.aborted ? "stopped" : "succeeded", result };
    } catch (error) {
      signal.throwIfAborted();
      if (stop.aborted) return { state: "stopped" };
      this.#parts.logger.error({ job: job.id, kind, err: error }, "a job failed");
      return { state: "failed", problem: problemOf(error) };
    }
  }

  #now(): string {
    return this.#parts.clock.now().toISOString();
  }
}

const UNKNOWN = { code: "INTERNAL", title: ERRORS.INTERNAL.title, detail: ERRORS.INTERNAL.title, hint: "See the server's log." } as const;

/** What is thrown by something else may quote somebody. */
function problemOf(error: unknown): NonNullable<Job["problem"]> {
  if (!isAppError(error)) return UNKNOWN;
  const { code, title, message: detail, hint } = error;
  return { code, title, detail, hint };
}

const HOUR_MS = 3_600_000;

export interface JobSchedule {
  readonly kind: JobKind;
  readonly everyHours: number;
  readonly jobs: Pick<InstallationJobs, "startScheduled">;
  readonly logger: Logger;
}

/**
 * Begins a job at every full hour that is at least `everyHours` after the one before, whichever process began that, a stop and a start
 * between them included. Never throws.
 */
export function scheduleJob({ kind, everyHours, jobs, logger }: JobSchedule): {
  stop(): void;
  /** Begins one now, if it is its time. */
  trigger(): Promise<void>;
} {
  // Clocks of several processes, and timers, don't meet the hour exactly.
  const notWithinMs = (everyHours - 0.5) * HOUR_MS;
  const trigger = async () => {
    await jobs.startScheduled(kind, notWithinMs).catch((error: unknown) => {
      logger.error({ kind, err: error }, "a scheduled job could not begin; the next full hour tries again");
    });
  };
  const cron = new Cron("0 0 * * * *", { unref: true, protect: true }, trigger);
  return { stop: () => cron.stop(), trigger };
}
