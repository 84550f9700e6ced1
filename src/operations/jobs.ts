import type { Clock } from "../platform/clock.js";
import { AppError, ERRORS, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { Job, JobKind, JobResult, Jobs } from "../ports/operator.js";
import type { Lease, TurnLock } from "../ports/session-store.js";

/** Jobs that have ended and are still told of. */
const KEPT = 100;

export interface JobWork {
  /** The lock that says that it runs, over all processes. */
  readonly lock: string;
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
  readonly locks: Pick<TurnLock, "acquire">;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Known {
  job: Job;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Runs jobs beside everything else, one of a kind. */
export class RunningJobs implements Jobs {
  readonly #parts: JobsParts;
  readonly #known = new Map<string, Known>();
  #closed = false;

  constructor(parts: JobsParts) {
    this.#parts = parts;
  }

  async start(kind: JobKind, { dryRun }: { readonly dryRun: boolean }): Promise<Job> {
    const work = this.#parts.works[kind];
    if (dryRun && !work.dryRun)
      throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/dry_run", detail: `There is no dry run of ${kind}.` }] });
    const lease = await this.#alone(kind, work.lock);
    if (this.#closed) {
      await lease.release();
      throw new AppError("SHUTTING_DOWN");
    }
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
    const stop = new AbortController();
    this.#forget();
    // Told of before it runs.
    const ended = Promise.resolve().then(() => this.#run(job.id, work, lease, stop.signal));
    this.#known.set(job.id, { job, stop, ended });
    return job;
  }

  list(): readonly Job[] {
    return [...this.#known.values()].map(({ job }) => job).reverse();
  }

  get(id: string): Job {
    return this.#find(id).job;
  }

  stop(id: string): Job {
    const known = this.#find(id);
    if (known.job.state === "running") {
      known.job = { ...known.job, state: "stopping" };
      known.stop.abort(new AppError("ABORTED"));
    }
    return known.job;
  }

  /** Stops all, and resolves when they have ended. No other begins. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { job } of this.#known.values()) this.stop(job.id);
    await Promise.all([...this.#known.values()].map(({ ended }) => ended));
  }

  async #alone(kind: JobKind, lock: string): Promise<Lease> {
    if (this.#closed) throw new AppError("SHUTTING_DOWN");
    try {
      return await this.#parts.locks.acquire(lock, { waitMs: 0 });
    } catch (cause) {
      if (!isAppError(cause, "SESSION_BUSY")) throw cause;
      const own = this.list().find((job) => job.kind === kind && job.ended_at === null);
      const detail = own === undefined ? `${kind} runs already, not as a job of this process.` : `The job ${own.id} is running.`;
      throw new AppError("JOB_RUNNING", { detail, retryAfterSeconds: 5, cause });
    }
  }

  async #run(id: string, work: JobWork, lease: Lease, stop: AbortSignal): Promise<void> {
    const known = this.#find(id);
    const { logger } = this.#parts;
    const { kind, dry_run: dryRun } = known.job;
    const change = (changed: Partial<Job>) => {
      known.job = { ...known.job, ...changed };
    };
    const onProgress = (done: number, total: number) => change({ progress: { done, total: total === 0 ? null : total } });
    logger.info({ job: id, kind }, "a job begins");
    let outcome: Partial<Job>;
    try {
      const result = await work.run({ dryRun, signal: AbortSignal.any([stop, lease.signal]), onProgress });
      lease.signal.throwIfAborted();
      outcome = { state: stop.aborted ? "stopped" : "succeeded", result };
    } catch (error) {
      outcome = stop.aborted ? { state: "stopped" } : { state: "failed", problem: problemOf(error) };
      if (!stop.aborted) logger.error({ job: id, kind, err: error }, "a job failed");
    }
    // Whoever sees that it has ended may begin another.
    await lease.release();
    change({ ...outcome, ended_at: this.#now() });
    logger.info({ job: id, kind, state: known.job.state }, "a job has ended");
  }

  #find(id: string): Known {
    const known = this.#known.get(id);
    if (known === undefined) throw new AppError("JOB_NOT_FOUND");
    return known;
  }

  #forget(): void {
    const ended = [...this.#known.values()].filter(({ job }) => job.ended_at !== null);
    for (const { job } of ended.slice(0, Math.max(0, ended.length + 1 - KEPT))) this.#known.delete(job.id);
  }

  #now(): string {
    return this.#parts.clock.now().toISOString();
  }
}

/** What is thrown by something else may quote somebody. */
function problemOf(error: unknown): NonNullable<Job["problem"]> {
  if (!isAppError(error))
    return { code: "INTERNAL", title: ERRORS.INTERNAL.title, detail: ERRORS.INTERNAL.title, hint: "See the server's log." };
  const { code, title, message: detail, hint } = error;
  return { code, title, detail, hint };
}
