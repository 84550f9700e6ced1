import type { Owner } from "../domain/owner.js";
import { SESSION_STATUSES, type Session } from "../domain/session.js";
import type { SessionIndex } from "./session-store.js";

/** How far the clocks of two servers may lie apart, in milliseconds. */
const CLOCKS_APART_MS = 60 * 60 * 1000;

/**
 * An owner's sessions of every status in which something happened since, in no order: those that can hold what came to be since, at the
 * cost of those alone. Default: all. Read whole: what is done with them takes them off the list.
 */
export async function sessionsSince(index: Pick<SessionIndex, "list">, owner: Owner, sinceMs = 0): Promise<readonly Session[]> {
  const sessions = new Map<string, Session>();
  for (const status of SESSION_STATUSES) {
    for (let cursor: string | undefined; ; ) {
      const page = await index.list(owner, { status, limit: 200, ...(cursor !== undefined && { cursor }) });
      const recent = page.data.filter(({ updated_at }) => Date.parse(updated_at) >= sinceMs - CLOCKS_APART_MS);
      for (const session of recent) sessions.set(session.id, session);
      if (page.nextCursor === null || recent.length < page.data.length) break;
      cursor = page.nextCursor;
    }
  }
  return [...sessions.values()];
}
