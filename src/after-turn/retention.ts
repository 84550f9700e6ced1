import { inactiveSince, type RetentionOf, type RetentionPolicy, retentionDecision } from "../domain/lifecycle.js";
import type { Owner } from "../domain/owner.js";
import { SESSION_STATUSES, type Session, type SessionStatus } from "../domain/session.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { SessionIndex } from "../ports/session-store.js";

export interface RetentionRun {
  readonly index: SessionIndex;
  /** {@link SessionService.lapse}: decides again once it holds the session. */
  readonly lapse: (owner: Owner, id: string, how: "delete" | "purge", due: (session: Session) => boolean) => Promise<boolean>;
  readonly policyOf: RetentionOf;
  /** All that there are. */
  readonly policies: readonly RetentionPolicy[];
  /** Sessions that are read at once (RETENTION_BATCH). */
  readonly batch: number;
  readonly now: Date;
  /** True: says what would be done, and does nothing. */
  readonly dryRun: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (report: RetentionReport) => void;
  readonly logger: Logger;
}

export interface RetentionReport {
  readonly dry_run: boolean;
  /** Sessions deleted (recoverable) and purged (gone for good). */
  readonly deleted: number;
  readonly purged: number;
  /** In use by a turn: the next run looks again. */
  readonly busy: number;
  readonly failed: number;
}

type Due = Awaited<ReturnType<SessionIndex["expiring"]>>[number];

/**
 * Deletes the sessions that have lapsed and purges the deleted ones whose time is up, batch by batch, oldest first. What it has done
 * shows in the sessions themselves: broken off, it goes on where it was. A session that was deleted in this run is not purged in it.
 * A session that can't be changed holds up no other.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionReport> {
  const report = { dry_run: run.dryRun, deleted: 0, purged: 0, busy: 0, failed: 0 };
  // Deleted ones first: those that are deleted below get their days of grace.
  for (const status of SESSION_STATUSES.toReversed()) {
    for await (const batch of dueBatches(run, status)) {
      for (const due of batch) {
        run.signal?.throwIfAborted();
        await handle(run, due, report);
      }
      run.onProgress?.({ ...report });
    }
  }
  run.logger.info({ ...report }, "retention");
  return report;
}

/**
 * What may be due, in batches, each session once. One that was dealt with has left the list; behind the last one that stays where it was
 * (failed, busy, or of a tenant who keeps its own for longer) the cursor leads on.
 */
async function* dueBatches(run: RetentionRun, status: SessionStatus): AsyncGenerator<readonly Due[]> {
  /** Used while the run goes on: further back in the list by now, where no cursor may follow. */
  const moved = new Set<string>();
  let after: string | undefined;
  for (;;) {
    const limit = run.batch + moved.size;
    const found = await run.index.expiring({ status, ...limits(run, status), limit, ...(after === undefined ? {} : { after }) });
    const fresh = found.filter(({ session }) => !moved.has(session.id));
    if (fresh.length === 0) return;
    yield fresh;
    for (const { owner, session } of fresh) {
      const now = await run.index.get(owner, session.id);
      if (now?.status !== session.status) continue;
      if (now.updated_at === session.updated_at && now.status_since === session.status_since) after = session.id;
      else moved.add(session.id);
    }
  }
}

/** The index looks for times before its limits; a limit that is reached exactly is due. */
function limits(
  { policies, now }: RetentionRun,
  status: SessionStatus,
): { readonly inactiveSince: string; readonly expiresBefore: string } {
  const never = new Date(0).toISOString();
  const since = inactiveSince(policies, status, now);
  return {
    inactiveSince: since === null ? never : new Date(Date.parse(since) + 1).toISOString(),
    expiresBefore: status === "deleted" ? never : new Date(now.getTime() + 1).toISOString(),
  };
}

async function handle(
  run: RetentionRun,
  { owner, session, statusSince }: Due,
  report: { deleted: number; purged: number; busy: number; failed: number },
): Promise<void> {
  const how = retentionDecision({ ...session, statusSince }, run.policyOf(owner), run.now);
  if (how === null) return;
  const done = how === "delete" ? "deleted" : "purged";
  if (run.dryRun) {
    report[done] += 1;
    return;
  }
  // Whatever has happened to it since it was looked at, it is not what was decided on.
  const unchanged = (now: Session) =>
    now.status === session.status && now.updated_at === session.updated_at && now.expires_at === session.expires_at;
  try {
    if (await run.lapse(owner, session.id, how, unchanged)) report[done] += 1;
  } catch (error) {
    if (isAppError(error, "SESSION_BUSY")) report.busy += 1;
    else {
      report.failed += 1;
      const code = isAppError(error) ? error.code : "INTERNAL";
      run.logger.warn({ session_id: session.id, code, err: error }, "retention could not change a session; the next run tries again");
    }
  }
}
