// Over 300 lines: one kind of job, and all that is done with it.

import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../../domain/owner.js";
import { newId } from "../../platform/ids.js";
import type { ClaimOptions, PendingTurn, PendingTurns, RecordedAttempt } from "../../ports/session-store.js";
import { committed, onceAnswered } from "../durable-commit.js";
import { type Commit, type KeyRange, MOST_DUE, type PartitionRead, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { ERASURE_KEY } from "../ledger/ledger-values.js";
import { OWNER_KEY, ownerPartition, systemPartition } from "../partition.js";
import { jsonOf } from "../stored-rows.js";
import { JOBS, jobKey, jobsOf, TURN_JOBS } from "./keys.js";
import { ownerPages } from "./owners.js";
import { alarmOf, isClaimed, NEVER_DUE_MS, pendingTurn, type StoredJob, storedJob, type TurnJob, unclaimedJob } from "./turn-job.js";

/** Partitions that are looked at together, and how often more are asked for. */
const LEAST_DUE = 16;
const MAX_LOOKS = 4;
/** Turns of one owner taken at once. */
const MOST_CLAIMED = 50;
const MAX_TRIES = 12;
/** From there on a claim is checked by its own rows alone, whatever else goes on in the partition. */
const TRIES_BY_VERSION = 3;
const TRY_AGAIN_MS = 15;
/** While an owner's data is erased their turns are looked at so seldom, in milliseconds. */
const ERASED_LATER_MS = 5_000;
/** So long the engine's clock is reckoned on from when it was read, in milliseconds. */
const CLOCK_KNOWN_MS = 60_000;
const LOOK_AGAIN_MS = 100;
const TOGETHER = 16;

type TurnName = Pick<PendingTurn, "owner" | "sessionId" | "turn">;

interface TakenJob {
  readonly owner: Owner;
  readonly stored: StoredJob;
}

/** An owner's jobs as one look found them. */
interface OwnerJobs {
  readonly owner: Owner;
  readonly isErasing: boolean;
  readonly turns: readonly StoredJob[];
  /** When what else is in the partition is due. */
  readonly others: readonly number[];
  readonly read: PartitionRead;
}

/** Turns whose write-back is not done: jobs in their owners' partitions, which are due when the earliest of them is. */
export class TurnJobs implements PendingTurns {
  readonly #engine: StateEngine;
  /** What the engine's clock said when `performance.now()` was `at`. */
  #engineClock = { nowMs: 0, at: 0 };

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async due(nowMs: number, limit: number, { except = [] }: { readonly except?: readonly Owner[] } = {}): Promise<readonly PendingTurn[]> {
    const found: TakenJob[] = [];
    const partitions = await this.#due(nowMs, limit + except.length, except);
    for (const jobs of await this.#jobsIn(partitions))
      found.push(...claimable(jobs, nowMs).map((stored) => ({ owner: jobs.owner, stored })));
    const oldest = found.toSorted((a, b) => byAge(a.stored, b.stored)).slice(0, limit);
    return oldest.map(({ owner, stored }) => pendingTurn(owner, stored));
  }

  async claim(nowMs: number, limit: number, { except = [], only, leaseMs }: ClaimOptions): Promise<readonly PendingTurn[]> {
    const leftOut = new Set(except);
    const taken: TakenJob[] = [];
    const looked = new Set<string>();
    // Partitions whose alarm had no reason any more may have filled the first look.
    for (let looks = 0; looks < MAX_LOOKS && taken.length < limit; looks++) {
      const partitions =
        only === undefined
          ? await this.#due(nowMs, limit + except.length, except)
          : only.filter((owner) => !leftOut.has(owner)).map(ownerPartition);
      const fresh = partitions.filter((partition) => !looked.has(partition));
      for (const partition of fresh) {
        if (taken.length >= limit) break;
        looked.add(partition);
        const most = Math.min(MOST_CLAIMED, limit - taken.length);
        try {
          taken.push(...(await this.#claimIn(partition, nowMs, most, leaseMs)));
        } catch (error) {
          // What was taken before is the caller's all the same.
          if (taken.length === 0) throw error;
          return inOrder(taken);
        }
      }
      if (only !== undefined || fresh.length < LEAST_DUE) break;
    }
    return inOrder(taken);
  }

  async renew({ claim, ...turn }: TurnName & { readonly claim?: string }, leaseMs: number): Promise<string | null> {
    const renewed = newId();
    const isRenewed = await this.#change(turn, ({ job }, read) => {
      if (claim === undefined || job.claim !== claim || read.entries.has(ERASURE_KEY)) return null;
      return { ...job, claim: renewed, claimedUntilMs: Math.ceil(read.nowMs + leaseMs) };
    });
    return isRenewed ? renewed : null;
  }

  async letGo({ claim, ...turn }: TurnName & { readonly claim?: string }): Promise<void> {
    await this.#change(turn, ({ job }) => (claim === undefined || job.claim === claim ? unclaimedJob(job) : null));
  }

  /** Lets all claims go: for the start of a process that has the engine to itself, where they are of one that is gone. */
  async releaseAll(): Promise<void> {
    for (const { owner, turns } of await this.#jobsIn(await this.#due(Number.MAX_SAFE_INTEGER, MOST_DUE, [])))
      for (const { sessionId, turn, job } of turns)
        if (job.claim !== undefined) await this.letGo({ owner, sessionId, turn, claim: job.claim });
  }

  async recordAttempt(turn: TurnName, attempt: RecordedAttempt): Promise<void> {
    const { attempts, errorCode, claim } = attempt;
    const dueAtMs = Math.ceil(attempt.dueAtMs);
    const recorded = ({ job }: StoredJob, { nowMs }: PartitionRead) => {
      if (claim !== undefined && isClaimed(job, nowMs) && job.claim !== claim) return null;
      return { ...unclaimedJob(job), attempts, errorCode, dueAtMs };
    };
    // One that is lost is made once more, or sooner.
    await this.#change(turn, recorded, { durability: "relaxed" });
  }

  async retryFailed(owner: Owner, sessionId: string, nowMs: number): Promise<number> {
    let count = 0;
    for (const { turn, job } of await this.#stored(owner, prefixRange(jobsOf(sessionId)))) {
      if (job.state !== "failed") continue;
      const again = await this.#change({ owner, sessionId, turn }, ({ job: now }) =>
        now.state === "failed" ? { ...unclaimedJob(now), state: "pending", attempts: 0, dueAtMs: nowMs, errorCode: null } : null,
      );
      if (again) count += 1;
    }
    return count;
  }

  async unclaimed(owner: Owner, { sessionId, signal }: { readonly sessionId?: string; readonly signal: AbortSignal }): Promise<void> {
    const range = prefixRange(sessionId === undefined ? TURN_JOBS : jobsOf(sessionId));
    while (!signal.aborted) {
      const { ranges, nowMs } = await this.#engine.read(ownerPartition(owner), { ranges: [range] });
      if (!(ranges[0] ?? []).map(storedJob).some(({ job }) => isClaimed(job, nowMs))) return;
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async of(owner: Owner, sessionId?: string | { readonly except: string }): Promise<readonly PendingTurn[]> {
    const found = await this.#stored(owner, ...rangesOf(sessionId));
    return found.map((stored) => pendingTurn(owner, stored));
  }

  async ofAll(): Promise<readonly PendingTurn[]> {
    return (await this.#everywhere()).flatMap(({ owner, turns }) => turns.map((stored) => pendingTurn(owner, stored)));
  }

  async counts(): Promise<{ readonly pending: number; readonly failed: number }> {
    const counts = { pending: 0, failed: 0 };
    for (const { turns } of await this.#everywhere()) for (const { job } of turns) counts[job.state] += 1;
    return counts;
  }

  async oldestAtMs(): Promise<number | null> {
    const stored = (await this.#everywhere()).flatMap(({ turns }) => turns);
    const times = stored.filter(({ job }) => job.state === "pending").map(({ job }) => job.atMs);
    return times.length === 0 ? null : times.reduce((oldest, at) => Math.min(oldest, at));
  }

  async #stored(owner: Owner, ...ranges: readonly KeyRange[]): Promise<readonly StoredJob[]> {
    const read = await this.#engine.read(ownerPartition(owner), { ranges });
    return read.ranges.flat().map(storedJob);
  }

  /** Of all owners: a partition with a job has an alarm. */
  async #everywhere(): Promise<readonly OwnerJobs[]> {
    const due = await this.#engine.due(Number.MAX_SAFE_INTEGER, MOST_DUE, 0);
    if (due.length < MOST_DUE) return this.#jobsIn(due.map(({ partition }) => partition));
    const found: OwnerJobs[] = [];
    for await (const page of ownerPages(this.#engine)) found.push(...(await this.#jobsIn(page.map(({ partition }) => partition))));
    return found;
  }

  /**
   * Partitions that may have a turn that is due. Looked at and not claimed: what counts is who gets a turn's row. A worker whose clock is
   * behind the engine's must see claims end all the same.
   */
  async #due(nowMs: number, limit: number, except: readonly Owner[]): Promise<readonly string[]> {
    const latest = Math.ceil(Math.max(nowMs, await this.#engineNowMs()));
    const due = await this.#engine.due(latest, Math.min(Math.max(limit, LEAST_DUE), MOST_DUE), 0);
    const leftOut = new Set(except.map(ownerPartition));
    return due.map(({ partition }) => partition).filter((partition) => !leftOut.has(partition));
  }

  async #engineNowMs(): Promise<number> {
    const { nowMs, at } = this.#engineClock;
    const sinceMs = performance.now() - at;
    if (nowMs > 0 && sinceMs < CLOCK_KNOWN_MS) return nowMs + sinceMs;
    const read = await this.#engine.read(systemPartition("locks"), {});
    this.#engineClock = { nowMs: read.nowMs, at: performance.now() };
    return read.nowMs;
  }

  async #jobsIn(partitions: readonly string[]): Promise<readonly OwnerJobs[]> {
    const found: OwnerJobs[] = [];
    for (let at = 0; at < partitions.length; at += TOGETHER) {
      const looks = partitions.slice(at, at + TOGETHER).map((partition) => this.#look(partition));
      found.push(...(await Promise.all(looks)).flatMap((jobs) => jobs ?? []));
    }
    return found;
  }

  /** Null for a partition that is nobody's. */
  async #look(partition: string): Promise<OwnerJobs | null> {
    const read = await this.#engine.read(partition, { keys: [OWNER_KEY, ERASURE_KEY], ranges: [prefixRange(JOBS)] });
    this.#engineClock = { nowMs: read.nowMs, at: performance.now() };
    const owner = jsonOf<Owner>(read.entries.get(OWNER_KEY));
    if (owner === null) return null;
    const rows = read.ranges[0] ?? [];
    return {
      owner,
      isErasing: read.entries.has(ERASURE_KEY),
      turns: rows.filter(({ key }) => key.startsWith(TURN_JOBS)).map(storedJob),
      others: rows.filter(({ key }) => !key.startsWith(TURN_JOBS)).flatMap(alarmsOf),
      read,
    };
  }

  async #claimIn(partition: string, nowMs: number, limit: number, leaseMs: number) {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const jobs = await this.#look(partition);
      if (jobs === null) return [];
      const { owner, turns, read } = jobs;
      const claimed = claimable(jobs, nowMs)
        .slice(0, limit)
        .map((stored) => ({ ...stored, job: { ...stored.job, claim: newId(), claimedUntilMs: Math.ceil(read.nowMs + leaseMs) } }));
      const byKey = new Map(claimed.map((stored) => [stored.key, stored]));
      const alarm = nextAlarm(
        jobs,
        turns.map((stored) => byKey.get(stored.key) ?? stored),
        nowMs,
      );
      if (claimed.length === 0 && alarm === read.dueAtMs) return [];
      const puts = claimed.map(({ key, job }) => ({ key, value: JSON.stringify(job) }));
      const checks = claimed.map(({ key, version }) => ({ key, version }));
      const exact = { version: read.version, dueAtMs: alarm };
      // The alarm may be earlier than need be then, and never later.
      const careless = { checks: [...checks, { key: ERASURE_KEY, version: null }], ...(alarm !== null && { dueByMs: alarm }) };
      const commit = tries > TRIES_BY_VERSION ? careless : exact;
      const taken = claimed.map((stored) => ({ owner, stored }));
      try {
        // Nobody has a claim that is lost: whoever takes the turn then goes on by its log.
        const done = await committed(this.#engine, partition, { puts, durability: "relaxed", ...commit });
        if (done.ok || claimed.length === 0) return taken;
      } catch (error) {
        void this.#letGoLater(taken, performance.now() + leaseMs);
        throw error;
      }
      await pause(Math.random() * TRY_AGAIN_MS * tries);
    }
    return [];
  }

  /** Nobody has what may have been claimed by a commit whose outcome is not known. */
  async #letGoLater(claimed: readonly TakenJob[], until: number): Promise<void> {
    for (const { owner, stored } of claimed) {
      const { sessionId, turn, job } = stored;
      await onceAnswered(until, () => this.letGo({ owner, sessionId, turn, ...(job.claim !== undefined && { claim: job.claim }) }));
    }
  }

  /** Whether the turn's job was changed: it was there, and `change` gave what it is to be. */
  async #change(
    turn: TurnName,
    change: (stored: StoredJob, read: PartitionRead) => TurnJob | null,
    how: Pick<Commit, "durability"> = {},
  ): Promise<boolean> {
    const key = jobKey(turn.sessionId, turn.turn);
    for (;;) {
      const read = await this.#engine.read(ownerPartition(turn.owner), { keys: [key, ERASURE_KEY] });
      const entry = read.entries.get(key);
      const stored = entry === undefined ? null : storedJob(entry);
      const job = stored === null ? null : change(stored, read);
      if (stored === null || job === null) return false;
      const commit = {
        checks: [{ key, version: stored.version }],
        puts: [{ key, value: JSON.stringify(job) }],
        dueByMs: alarmOf(job, read.nowMs),
        ...how,
      };
      if ((await committed(this.#engine, ownerPartition(turn.owner), commit)).ok) return true;
      await pause(Math.random() * TRY_AGAIN_MS);
    }
  }
}

function rangesOf(sessionId?: string | { readonly except: string }): readonly KeyRange[] {
  const all = prefixRange(TURN_JOBS);
  if (sessionId === undefined) return [all];
  if (typeof sessionId === "string") return [prefixRange(jobsOf(sessionId))];
  const left = prefixRange(jobsOf(sessionId.except));
  return [
    { from: all.from, to: left.from },
    { from: left.to, to: all.to },
  ];
}

/** Of each session the oldest turn that was not given up, where it is due and nobody has it; oldest first. */
function claimable({ isErasing, turns, read }: OwnerJobs, nowMs: number): readonly StoredJob[] {
  if (isErasing) return [];
  const oldest = new Map<string, StoredJob>();
  for (const stored of turns) if (stored.job.state === "pending" && !oldest.has(stored.sessionId)) oldest.set(stored.sessionId, stored);
  return [...oldest.values()].filter(({ job }) => job.dueAtMs <= nowMs && !isClaimed(job, read.nowMs)).toSorted(byAge);
}

/**
 * When the partition is to be looked at next. Behind a session's oldest turn its others wait; null: there is nothing to do.
 */
function nextAlarm({ isErasing, others, read }: OwnerJobs, turns: readonly StoredJob[], nowMs: number): number | null {
  const sessions = new Set<string>();
  const alarms = [...others];
  for (const { sessionId, job } of turns) {
    if (job.state === "pending" && sessions.has(sessionId)) continue;
    if (job.state === "pending") sessions.add(sessionId);
    const alarm = alarmOf(job, read.nowMs);
    alarms.push(isErasing ? Math.max(alarm, Math.max(nowMs, read.nowMs) + ERASED_LATER_MS) : alarm);
  }
  return alarms.length === 0 ? null : alarms.reduce((earliest, at) => Math.min(earliest, at), NEVER_DUE_MS);
}

function inOrder(taken: readonly TakenJob[]): readonly PendingTurn[] {
  return taken
    .toSorted((a, b) => byAge(a.stored, b.stored))
    .map(({ owner, stored }) => ({ ...pendingTurn(owner, stored), ...(stored.job.claim !== undefined && { claim: stored.job.claim }) }));
}

function byAge(a: StoredJob, b: StoredJob): number {
  return a.job.atMs - b.job.atMs || (a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : 0);
}

/** When another kind of job is due, as all jobs say it. */
function alarmsOf(row: StoredEntry): readonly number[] {
  const { dueAtMs, claimedUntilMs } = jsonOf<{ readonly dueAtMs?: unknown; readonly claimedUntilMs?: unknown }>(row);
  const times = [dueAtMs, claimedUntilMs].filter((time) => typeof time === "number");
  return times.length === 0 ? [] : [Math.min(...times)];
}
