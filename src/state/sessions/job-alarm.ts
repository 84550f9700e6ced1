import { type PartitionRead, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { ERASURE_KEY } from "../ledger/ledger-values.js";
import { jsonOf } from "../stored-rows.js";
import { JOBS, TURN_JOBS } from "./keys.js";
import { alarmOf, NEVER_DUE_MS, type StoredJob, storedJob } from "./turn-job.js";

/** While an owner's data is erased their turns are looked at so seldom, in milliseconds. */
const ERASED_LATER_MS = 5_000;

export interface JobsOfAlarm {
  readonly isErasing: boolean;
  /** Turns of a session in their order. */
  readonly turns: readonly StoredJob[];
  /** Rows of other kinds of jobs. */
  readonly others: readonly StoredEntry[];
  readonly read: Pick<PartitionRead, "nowMs">;
}

/** When an owner's jobs are to be looked at next. Behind a session's oldest turn its others wait; null: there is nothing to do. */
export function nextAlarm({ isErasing, turns, others, read }: JobsOfAlarm, nowMs: number): number | null {
  const sessions = new Set<string>();
  const alarms = others.flatMap(alarmsOf);
  for (const { sessionId, job } of turns) {
    if (job.state === "pending" && sessions.has(sessionId)) continue;
    if (job.state === "pending") sessions.add(sessionId);
    const alarm = alarmOf(job, read.nowMs);
    alarms.push(isErasing ? Math.max(alarm, Math.max(nowMs, read.nowMs) + ERASED_LATER_MS) : alarm);
  }
  return alarms.length === 0 ? null : alarms.reduce((earliest, at) => Math.min(earliest, at), NEVER_DUE_MS);
}

/**
 * The alarm of a partition from which these jobs go, for the commit that takes them out: nobody has to look for what is not there. Holds
 * as long as nothing in the partition has changed; null where an erasure runs, which has an alarm of its own.
 */
export async function alarmWithout(
  engine: StateEngine,
  partition: string,
  gone: ReadonlySet<string>,
): Promise<{ readonly version: number; readonly dueAtMs: number | null } | null> {
  const read = await engine.read(partition, { keys: [ERASURE_KEY], ranges: [prefixRange(JOBS)] });
  if (read.entries.has(ERASURE_KEY)) return null;
  const rows = (read.ranges[0] ?? []).filter(({ key }) => !gone.has(key));
  const [turns, others] = [rows.filter(isTurn).map(storedJob), rows.filter((row) => !isTurn(row))];
  return { version: read.version, dueAtMs: nextAlarm({ isErasing: false, turns, others, read }, read.nowMs) };
}

export function isTurn({ key }: StoredEntry): boolean {
  return key.startsWith(TURN_JOBS);
}

/** When another kind of job is due, as all jobs say it. */
function alarmsOf(row: StoredEntry): readonly number[] {
  const { dueAtMs, claimedUntilMs } = jsonOf<{ readonly dueAtMs?: unknown; readonly claimedUntilMs?: unknown }>(row);
  const times = [dueAtMs, claimedUntilMs].filter((time) => typeof time === "number");
  return times.length === 0 ? [] : [Math.min(...times)];
}
