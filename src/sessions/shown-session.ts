import { lapsesAt, type RetentionPolicy } from "../domain/lifecycle.js";
import type { Session } from "../domain/session.js";
import type { Tombstone } from "../ports/owner-ledger.js";

/**
 * A session as its user sees it. `expires_at` is when retention takes it on if nothing happens to it before. A summary that is older than
 * what was forgotten last may still tell it: it is not shown until it has been written anew.
 */
export function shownSession(session: Session, tombstones: readonly Tombstone[], policy: RetentionPolicy): Session {
  const { summary_updated_at: at } = session;
  const stale = at !== null && tombstones.some((tombstone) => tombstone.at >= at);
  const expires_at = lapsesAt({ ...session, statusSince: session.status_since }, policy);
  return { ...session, expires_at, ...(stale && { summary: null, summary_updated_at: null }) };
}
