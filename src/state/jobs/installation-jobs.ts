import { newId } from "../../platform/ids.js";
import type { Job, JobKind } from "../../ports/operator.js";
import { type PartitionRead, prefixRange, type StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";

/** Jobs of the installation. Not of those who use another store: who moves state leaves it behind. */
export const JOBS_PARTITION = systemPartition("jobs");

const JOBS = "job/";
/** Under its kind the id of the one job that has not ended. */
const OPEN = "open/";
/** Under its name when the last of what is done from time to time began, by the engine's clock. */
const SCHEDULED = "scheduled/";
/** Jobs that have ended and are still told of. */
const KEPT = 100;

/** A job's row. */
export interface StoredJob {
  readonly v: 1;
  readonly job: Job;
  /** The process that began it. */
  readonly begunBy: string;
  /** Whether a schedule began it, not a person. */
  readonly scheduled: boolean;
  /** How often a worker has taken it. */
  readonly attempts: number;
  /** Of the worker that has it, until then by the engine's clock. */
  readonly claim: string | null;
  readonly leasedUntilMs: number;
}

export interface NewJob {
  readonly job: Job;
  readonly begunBy: string;
  /** Not where one by schedule began in this time, in milliseconds. Absent: a person asks for it. */
  readonly notWithinMs?: number;
}

/** Who is in the way of a job that was not begun: the open one of its kind, or null where it is not its time. */
export interface Refused {
  readonly open: string | null;
}

/** Jobs as rows of the installation, for as many processes as like: one of a kind is open. Leases are measured by the engine's clock. */
export class EngineJobs {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** Null: it is begun, and whoever claims it first runs it. Again, with the same job, after an unknown outcome: without effect. */
  begin({ job, begunBy, notWithinMs }: NewJob): Promise<Refused | null> {
    const [open, last, own] = [openKey(job.kind), `${SCHEDULED}${job.kind}`, jobKey(job.id)];
    const query = { keys: [open, last], ranges: [prefixRange(JOBS)] };
    return optimisticCommit<Refused | null>(this.#engine, JOBS_PARTITION, query, (read) => {
      if ((read.ranges[0] ?? []).some(({ key }) => key === own)) return { commit: null, result: null };
      const inTheWay = read.entries.get(open)?.value;
      if (inTheWay !== undefined) return { commit: null, result: { open: inTheWay } };
      if (notWithinMs !== undefined && !isTime(read, last, notWithinMs)) return { commit: null, result: { open: null } };
      const row: StoredJob = { v: 1, job, begunBy, scheduled: notWithinMs !== undefined, attempts: 0, claim: null, leasedUntilMs: 0 };
      const puts = [
        { key: open, value: job.id },
        { key: own, value: JSON.stringify(row) },
      ];
      if (notWithinMs !== undefined) puts.push({ key: last, value: String(read.nowMs) });
      const ended = (read.ranges[0] ?? []).filter((entry) => jsonOf<StoredJob>(entry).job.ended_at !== null);
      const deletes = ended.slice(0, Math.max(0, ended.length + 1 - KEPT)).map(({ key }) => key);
      return { commit: { checks: unchanged(read, open, last), puts, deletes }, result: null };
    });
  }

  /** For what is too small to be a job: true for the one of all processes that is to do it now, where none was within this time. */
  takeTurn(name: string, notWithinMs: number): Promise<boolean> {
    const key = `${SCHEDULED}${name}`;
    return optimisticCommit(this.#engine, JOBS_PARTITION, { keys: [key] }, (read) => {
      if (!isTime(read, key, notWithinMs)) return { commit: null, result: false };
      return { commit: { checks: unchanged(read, key), puts: [{ key, value: String(read.nowMs) }] }, result: true };
    });
  }

  /** Newest first. */
  async list(): Promise<readonly StoredJob[]> {
    return (await rowsIn(this.#engine, JOBS_PARTITION, { ...prefixRange(JOBS), reverse: true })).map((row) => jsonOf<StoredJob>(row));
  }

  async find(id: string): Promise<StoredJob | null> {
    return jsonOf<StoredJob>(await rowAt(this.#engine, JOBS_PARTITION, jobKey(id)));
  }

  /** Open jobs that nobody has, from now on this worker's for `leaseMs`. */
  async claim(limit: number, leaseMs: number): Promise<readonly StoredJob[]> {
    const claimed: StoredJob[] = [];
    for (const { job } of (await this.#open()).rows) {
      if (claimed.length >= limit) break;
      const claim = newId();
      const taken = await this.#change(job.id, (row, nowMs) =>
        row.leasedUntilMs > nowMs ? null : { ...row, attempts: row.attempts + 1, claim, leasedUntilMs: nowMs + leaseMs },
      );
      if (taken !== null) claimed.push(taken);
    }
    return claimed;
  }

  /** When the lease of an open job ends at the latest, in milliseconds from now; null where none is open. */
  async nextDueMs(): Promise<number | null> {
    const { rows, nowMs } = await this.#open();
    const waits = rows.map(({ leasedUntilMs }) => leasedUntilMs - nowMs);
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** Holds on to a claimed job for `leaseMs` from now. As it is now; null where it is not the worker's any more. */
  renew({ job: { id }, claim }: StoredJob, progress: Job["progress"], leaseMs: number): Promise<StoredJob | null> {
    return this.#change(id, (row, nowMs) =>
      row.claim !== claim ? null : { ...row, job: { ...row.job, progress }, leasedUntilMs: nowMs + leaseMs },
    );
  }

  /** Whoever claims it next goes on with it; this was no attempt. */
  async letGo({ job: { id }, claim }: StoredJob): Promise<void> {
    await this.#change(id, (row) => (row.claim !== claim ? null : { ...row, attempts: row.attempts - 1, claim: null, leasedUntilMs: 0 }));
  }

  /** Null where it is not the worker's any more. */
  end({ job: { id }, claim }: StoredJob, ended: Partial<Job> & { readonly ended_at: string }): Promise<StoredJob | null> {
    return this.#change(id, (row) =>
      row.claim !== claim ? null : { ...row, job: { ...row.job, ...ended }, claim: null, leasedUntilMs: 0 },
    );
  }

  /** Whoever has it sees it when it renews its lease. */
  async askToStop(id: string): Promise<void> {
    await this.#change(id, (row) => (row.job.state === "running" ? { ...row, job: { ...row.job, state: "stopping" } } : null));
  }

  async #open(): Promise<{ readonly rows: readonly StoredJob[]; readonly nowMs: number }> {
    const { ranges, nowMs } = await this.#engine.read(JOBS_PARTITION, { ranges: [prefixRange(OPEN)] });
    const keys = (ranges[0] ?? []).map(({ value }) => jobKey(value));
    if (keys.length === 0) return { rows: [], nowMs };
    const found = await this.#engine.read(JOBS_PARTITION, { keys });
    return { rows: [...found.entries.values()].map((row) => jsonOf<StoredJob>(row)), nowMs: found.nowMs };
  }

  /** One that has ended stays as it is. Null where `decide` leaves it so. */
  #change(id: string, decide: (row: StoredJob, nowMs: number) => StoredJob | null): Promise<StoredJob | null> {
    const key = jobKey(id);
    return optimisticCommit<StoredJob | null>(this.#engine, JOBS_PARTITION, { keys: [key] }, (read) => {
      const before = jsonOf<StoredJob>(read.entries.get(key));
      const after = before === null || before.job.ended_at !== null ? null : decide(before, read.nowMs);
      if (after === null) return { commit: null, result: null };
      const deletes = after.job.ended_at === null ? [] : [openKey(after.job.kind)];
      const puts = [{ key, value: JSON.stringify(after) }];
      return { commit: { checks: unchanged(read, key), puts, deletes }, result: after };
    });
  }
}

function isTime({ entries, nowMs }: PartitionRead, key: string, notWithinMs: number): boolean {
  const lastMs = entries.get(key)?.value;
  return lastMs === undefined || nowMs - Number(lastMs) >= notWithinMs;
}

function jobKey(id: string): string {
  return `${JOBS}${id}`;
}

function openKey(kind: JobKind): string {
  return `${OPEN}${kind}`;
}
