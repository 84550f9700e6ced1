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
import { isTurn, type JobsOfAlarm, nextAlarm } from "./job-alarm.js";
import { JOBS, jobKey, jobsOf, TURN_JOBS } from "./keys.js";
import { ownerPages } from "./owners.js";
import { TurnClaims } from "./turn-claims.js";
import { alarmOf, isClaimed, pendingTurn, type StoredJob, storedJob, type TurnJob, unclaimedJob } from "./turn-job.js";

/** Partitions that are looked at together, and how often more are asked for. */
const LEAST_DUE = 16;
const MAX_LOOKS = 4;
/** Turns of one owner taken at once. */
const MOST_CLAIMED = 50;
const MAX_TRIES = 12;
/** From there on a claim is checked by its own rows alone, whatever else goes on in the partition. */
const TRIES_BY_VERSION = 3;
const TRY_AGAIN_MS = 15;
/** So long the engine's clock is reckoned on from when it was read, in milliseconds. */
const CLOCK_KNOWN_MS = 60_000;
/** In this time an attempt is written, in milliseconds: then the turn may be taken in any case. */
const WRITTEN_MS = 1_000;
const LOOK_AGAIN_MS = 100;
const TOGETHER = 16;

type TurnName = Pick<PendingTurn, "owner" | "sessionId" | "turn">;

interface TakenJob {
  readonly owner: Owner;
  readonly stored: StoredJob;
}

/** An owner's jobs as one look found them. */
interface OwnerJobs extends JobsOfAlarm {
  readonly owner: Owner;
  readonly read: PartitionRead;
}

/** Turns whose write-back is not done: jobs in their owners' partitions, which are due when the earliest of them is. */
export class TurnJobs implements PendingTurns {
  readonly #engine: StateEngine;
  /** Null where several processes use the engine: who has a turn stands in the job's row then. */
  readonly #here: TurnClaims | null;
  /** What the engine's clock said when `performance.now()` was `at`. */
  #engineClock = { nowMs: 0, at: 0 };

  constructor(engine: StateEngine) {
    this.#engine = engine;
    this.#here = engine.manifest.shared ? null : new TurnClaims();
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
    if (claim === undefined) return null;
    const renewed = newId();
    const longer = ({ job }: StoredJob, read: PartitionRead) =>
      job.claim !== claim || read.entries.has(ERASURE_KEY)
        ? null
        : { ...job, claim: renewed, claimedUntilMs: Math.ceil(read.nowMs + leaseMs) };
    if (this.#here === null) return (await this.#change(turn, longer)) ? renewed : null;
    const { stored, read } = await this.#jobOf(turn);
    const job = stored === null ? null : longer(stored, read);
    if (stored === null || job === null) return null;
    return this.#here.renew(ownerPartition(turn.owner), stored, claim, job) ? renewed : null;
  }

  async letGo({ claim, ...turn }: TurnName & { readonly claim?: string }): Promise<void> {
    if (this.#here !== null) return this.#here.letGo(ownerPartition(turn.owner), { key: jobKey(turn.sessionId, turn.turn) }, claim);
    await this.#change(turn, ({ job }) => (claim === undefined || job.claim === claim ? unclaimedJob(job) : null));
  }

  async recordAttempt(turn: TurnName, attempt: RecordedAttempt): Promise<void> {
    const { attempts, errorCode, claim } = attempt;
    const dueAtMs = Math.ceil(attempt.dueAtMs);
    const recorded = (stored: StoredJob, { nowMs }: PartitionRead) => {
      const { job } = stored;
      if (claim !== undefined && isClaimed(job, nowMs) && job.claim !== claim) return null;
      // Nobody takes the turn while this is written: whoever did would lose it by that.
      const written = { ...stored, job: { ...job, claim: newId(), claimedUntilMs: nowMs + WRITTEN_MS } };
      if (claim === null && this.#here?.take(ownerPartition(turn.owner), [written], nowMs).length === 0) return null;
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

  async unclaimed(owner: Owner, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const range = prefixRange(TURN_JOBS);
    while (!signal.aborted) {
      const { ranges, nowMs } = await this.#engine.read(ownerPartition(owner), { ranges: [range] });
      if (!(ranges[0] ?? []).some((row) => isClaimed(this.#job(ownerPartition(owner), row).job, nowMs))) return;
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
    // What is claimed here alone is found all the same.
    const due = await this.#engine.due(latest, Math.min(Math.max(limit + (this.#here?.size ?? 0), LEAST_DUE), MOST_DUE), 0);
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
      turns: rows.filter(isTurn).map((row) => this.#job(partition, row)),
      others: rows.filter((row) => !isTurn(row)),
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
      if (this.#here !== null && claimed.length > 0) return this.#claimHere(owner, this.#here, claimed, read.nowMs);
      const byKey = new Map(claimed.map((stored) => [stored.key, stored]));
      const after = (stored: StoredJob) =>
        this.#here === null ? (byKey.get(stored.key) ?? stored) : { ...stored, job: unclaimedJob(stored.job) };
      const alarm = nextAlarm({ ...jobs, turns: turns.map(after) }, nowMs);
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

  /** Whoever erases looks for claims once that is known, and whoever claims looks for an erasure behind it: one of them sees the other. */
  async #claimHere(owner: Owner, here: TurnClaims, jobs: readonly StoredJob[], nowMs: number): Promise<readonly TakenJob[]> {
    const partition = ownerPartition(owner);
    const taken = here.take(partition, jobs, nowMs);
    let stands: readonly StoredJob[] = [];
    try {
      const { entries } = await this.#engine.read(partition, { keys: [ERASURE_KEY, ...taken.map(({ key }) => key)] });
      if (!entries.has(ERASURE_KEY)) stands = taken.filter(({ key, version }) => entries.get(key)?.version === version);
    } finally {
      for (const stored of taken) if (!stands.includes(stored)) here.letGo(partition, stored, stored.job.claim);
    }
    return stands.map((stored) => ({ owner, stored }));
  }

  /** Nobody has what may have been claimed by a commit whose outcome is not known. */
  async #letGoLater(claimed: readonly TakenJob[], until: number): Promise<void> {
    for (const { owner, stored } of claimed) {
      const { sessionId, turn, job } = stored;
      await onceAnswered(until, () => this.letGo({ owner, sessionId, turn, ...(job.claim !== undefined && { claim: job.claim }) }));
    }
  }

  async #jobOf({ owner, sessionId, turn }: TurnName): Promise<{ readonly stored: StoredJob | null; readonly read: PartitionRead }> {
    const key = jobKey(sessionId, turn);
    const read = await this.#engine.read(ownerPartition(owner), { keys: [key, ERASURE_KEY] });
    const row = read.entries.get(key);
    return { stored: row === undefined ? null : this.#job(ownerPartition(owner), row), read };
  }

  /** With who has it. */
  #job(partition: string, row: StoredEntry): StoredJob {
    return this.#here === null ? storedJob(row) : this.#here.of(partition, storedJob(row));
  }

  /** Whether the turn's job was changed: it was there, and `change` gave what it is to be. */
  async #change(
    turn: TurnName,
    change: (stored: StoredJob, read: PartitionRead) => TurnJob | null,
    how: Pick<Commit, "durability"> = {},
  ): Promise<boolean> {
    for (;;) {
      const { stored, read } = await this.#jobOf(turn);
      const job = stored === null ? null : change(stored, read);
      if (stored === null || job === null) return false;
      const { key, version } = stored;
      const commit = {
        checks: [{ key, version }],
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

function inOrder(taken: readonly TakenJob[]): readonly PendingTurn[] {
  return taken
    .toSorted((a, b) => byAge(a.stored, b.stored))
    .map(({ owner, stored }) => ({ ...pendingTurn(owner, stored), ...(stored.job.claim !== undefined && { claim: stored.job.claim }) }));
}

function byAge(a: StoredJob, b: StoredJob): number {
  return a.job.atMs - b.job.atMs || (a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : 0);
}
