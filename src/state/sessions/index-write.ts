import { AppError } from "../../platform/errors.js";
import type { IdempotencyEntry } from "../../ports/session-store.js";
import type { Commit, StoredEntry } from "../engine.js";
import type { SessionChanges } from "../journal/session-changes.js";
import type { SessionState, Standing } from "../journal/session-fold.js";
import { numberKey } from "../partition.js";
import { jsonOf, partsOf } from "../stored-rows.js";
import { activityKey, externalKey, jobKey, requestKey, standingsOf, summariesOf } from "./keys.js";
import { NEVER_DUE_MS, type StoredJob, type TurnJob, unclaimedJob } from "./turn-job.js";

/** How long an idempotency key is kept, in milliseconds. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

/** Rows that a write depends on and that its head doesn't tell. Absent: not looked at, and taken for not there. */
export interface SeenRows {
  readonly jobs: ReadonlyMap<number, StoredJob>;
  /** By key; those that are there. */
  readonly requests: ReadonlyMap<string, StoredEntry>;
}

export type RequestKeys = SessionChanges["keys"];

export interface IndexWriteInput {
  readonly sessionId: string;
  readonly before: SessionState | null;
  readonly changes: SessionChanges;
  /** Names the session's rows beside its own. */
  readonly fold: string;
  readonly seen: SeenRows | null;
  /** Records that were written before: they take no key from a newer message, and are refused none. */
  readonly isFold: boolean;
  readonly maxValueBytes: number;
}

/** What a commit puts, takes out and depends on. */
export interface Changes {
  readonly checks: { key: string; version: number | null }[];
  readonly puts: { key: string; value: string }[];
  readonly deletes: string[];
  dueByMs?: number;
  /** Keys to be deleted behind the commit, which has no room for them: of jobs whose turns are no part of the conversation any more. */
  later?: readonly string[];
}

/** Jobs that one commit deletes at most. */
const MOST_OVER = 60;

/** Whether a write can't be made without a look at the rows that it changes. */
export function needsLook({ failed, takenBackTo, keys }: SessionChanges, isFold: boolean): boolean {
  return failed.length > 0 || takenBackTo !== null || (isFold && keys.length > 0);
}

/**
 * What records change in the index, beside the session's own row.
 * @throws IDEMPOTENCY_IN_PROGRESS for a key that another request has
 */
export function indexWrite(input: IndexWriteInput): Changes {
  const write: Changes = { checks: [], puts: [], deletes: [] };
  addActivity(write, input.before, input.changes.state);
  addStandings(write, input);
  addRequests(write, input.changes.keys, input);
  addJobs(write, input);
  return write;
}

/** The requests' keys alone. @throws as {@link indexWrite} */
export function requestsWrite(keys: RequestKeys, seen: SeenRows | null): Changes {
  const write: Changes = { checks: [], puts: [], deletes: [] };
  addRequests(write, keys, { seen, isFold: false });
  return write;
}

/** When a session's time comes follows from these. */
export interface ActivityRow {
  readonly sinceMs: number;
  readonly expiresMs: number | null;
}

function activityRow({ session, statusSince }: SessionState): string {
  const row: ActivityRow = {
    sinceMs: Date.parse(session.status === "active" ? session.updated_at : statusSince),
    expiresMs: session.expires_at === null ? null : Date.parse(session.expires_at),
  };
  return JSON.stringify(row);
}

function addActivity({ puts, deletes }: Changes, before: SessionState | null, after: SessionState): void {
  const old = before === null ? null : { key: activityKey(before.session), value: activityRow(before) };
  const put = { key: activityKey(after.session), value: activityRow(after) };
  if (old?.key !== put.key || old.value !== put.value) puts.push(put);
  if (old !== null && old.key !== put.key) deletes.push(old.key);
  const { external_id: externalId, id } = after.session;
  if (before === null && externalId !== null) puts.push({ key: externalKey(externalId), value: JSON.stringify(id) });
}

/** The conversation after each record of one write. `of`: seq, messages, seq of what opened it, place of the summary's key in `keys`. */
export interface StandingRow {
  readonly keys: readonly string[];
  readonly of: readonly (readonly [seq: number, messages: number, openedBy: number | null, summary: number | null])[];
}

function addStandings({ puts }: Changes, { sessionId, before, changes, fold, maxValueBytes }: IndexWriteInput): void {
  const last = changes.standings.at(-1);
  if (last === undefined) return;
  const keys = [...changes.summaries.keys()];
  const of = changes.standings.map(({ seq, standing: { messageCount, openedBy }, summaryKey }) => {
    return [seq, messageCount, openedBy, summaryKey === null ? null : keys.indexOf(summaryKey)] as const;
  });
  const row: StandingRow = { keys, of };
  puts.push(...partsOf(standingsOf(sessionId, fold) + numberKey(last.seq), JSON.stringify(row), maxValueBytes));
  for (const [key, summary] of changes.summaries)
    if (!isSummaryOf(before, summary)) puts.push(...partsOf(summariesOf(sessionId, fold) + key, JSON.stringify(summary), maxValueBytes));
}

function isSummaryOf(state: SessionState | null, { text, at }: NonNullable<Standing["summary"]>): boolean {
  return state?.session.summary === text && state.session.summary_updated_at === at;
}

/** What a request's row says at that time, within 24 h of its message; null: nothing. */
export function standingRequest(row: Pick<StoredEntry, "value"> | undefined, now: Date): IdempotencyEntry | null {
  const entry = jsonOf<IdempotencyEntry>(row);
  return entry !== null && Date.parse(entry.at) > now.getTime() - IDEMPOTENCY_MS ? entry : null;
}

function addRequests({ checks, puts }: Changes, keys: RequestKeys, { seen, isFold }: Pick<IndexWriteInput, "seen" | "isFold">): void {
  for (const { key, entry } of keys) {
    const rowKey = requestKey(key);
    const row = seen?.requests.get(rowKey);
    const held = jsonOf<IdempotencyEntry>(row);
    if (held !== null && isFold && Date.parse(held.at) > Date.parse(entry.at)) continue;
    if (held !== null && !isFold && !isSame(held, entry) && Date.parse(held.at) > Date.parse(entry.at) - IDEMPOTENCY_MS)
      throw new AppError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
    checks.push({ key: rowKey, version: row?.version ?? null });
    puts.push({ key: rowKey, value: JSON.stringify(entry) });
  }
}

/** A message that is said again by the same request, in the same turn, is no other request. */
function isSame(one: IdempotencyEntry, other: IdempotencyEntry): boolean {
  return one.sessionId === other.sessionId && one.turn === other.turn && one.messageId === other.messageId;
}

function addJobs(write: Changes, { sessionId, changes, seen }: IndexWriteInput): void {
  const { pending, done, failed, takenBackTo } = changes;
  const jobs = new Map(seen?.jobs);
  const takenBack = [...jobs.values()].filter(({ job }) => takenBackTo !== null && job.answeredSeq > takenBackTo).map(({ turn }) => turn);
  const gone = new Set([...done, ...takenBack]);
  for (const turn of gone) jobs.delete(turn);
  const changed = new Map<number, TurnJob>();
  for (const { turn, attempts, errorCode } of failed) {
    const job = changed.get(turn) ?? jobs.get(turn)?.job;
    if (job !== undefined) changed.set(turn, { ...unclaimedJob(job), state: "failed", attempts, errorCode });
  }
  for (const [turn, job] of changed) {
    write.checks.push({ key: jobKey(sessionId, turn), version: jobs.get(turn)?.version ?? null });
    write.puts.push({ key: jobKey(sessionId, turn), value: JSON.stringify(job) });
  }
  for (const { turn, ...each } of pending) {
    const key = jobKey(sessionId, turn);
    // One that waits already goes on with its attempts.
    if (jobs.has(turn)) continue;
    if (!gone.delete(turn)) write.checks.push({ key, version: null });
    const job: TurnJob = { v: 1, ...each, dueAtMs: each.atMs };
    write.puts.push({ key, value: JSON.stringify(job) });
    write.dueByMs = Math.min(write.dueByMs ?? NEVER_DUE_MS, job.state === "failed" ? NEVER_DUE_MS : job.dueAtMs);
  }
  const over = [...gone].map((turn) => jobKey(sessionId, turn));
  write.deletes.push(...over.slice(0, MOST_OVER));
  write.later = over.slice(MOST_OVER);
  // Turns that waited behind one that is over are to be found.
  if (done.length + failed.length + takenBack.length > 0)
    write.dueByMs = Math.min(write.dueByMs ?? NEVER_DUE_MS, Date.parse(changes.state.session.updated_at));
}

/** Several changes as one. */
export function together(...all: readonly Pick<Commit, "checks" | "puts" | "deletes" | "dueByMs">[]): Omit<Changes, "later"> {
  const due = all.flatMap(({ dueByMs }) => dueByMs ?? []);
  return {
    checks: all.flatMap(({ checks = [] }) => checks),
    puts: all.flatMap(({ puts = [] }) => puts),
    deletes: all.flatMap(({ deletes = [] }) => deletes),
    ...(due.length > 0 && { dueByMs: Math.min(...due) }),
  };
}
