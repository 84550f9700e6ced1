import type { Owner } from "../../domain/owner.js";
import type { HistorySearch } from "../../ports/history.js";
import type { Condition, Filter, RangeCondition } from "../../ports/vectors.js";
import { UNEMBEDDED } from "./collection.js";
import { pointIdOf, secondsOf } from "./payload.js";

/** Everything of one owner, or of one of their sessions. */
export function ownFilter(owner: Owner, sessionId?: string): Filter {
  const must: Condition[] = [{ key: "user_id", match: { value: owner } }];
  if (sessionId !== undefined) must.push({ key: "session_id", match: { value: sessionId } });
  return { must };
}

/** Everything of these sessions, each of which is one owner's. */
export function sessionsFilter(sessions: readonly { readonly owner: Owner; readonly sessionId: string }[]): Filter {
  const owners = [...new Set(sessions.map(({ owner }) => owner))];
  return {
    must: [
      { key: "user_id", match: { any: owners } },
      { key: "session_id", match: { any: sessions.map(({ sessionId }) => sessionId) } },
    ],
  };
}

/** What a search may find. Times are compared in whole seconds: `from` rounds down, `to` rounds up. */
export function searchFilter(owner: Owner, search: HistorySearch): Filter {
  const must: Condition[] = [...(ownFilter(owner, search.session_id).must ?? [])];
  if (search.role !== undefined) must.push({ key: "role", match: { value: search.role } });
  const range: RangeCondition = {};
  if (search.from !== undefined) range.gte = secondsOf(search.from);
  if (search.to !== undefined) range.lt = Math.ceil(Date.parse(search.to) / 1000);
  if (search.from !== undefined || search.to !== undefined) must.push({ key: "created_at_ts", range });
  const excluded = [...(search.excludeMessageIds ?? [])].map((id) => pointIdOf(owner, id));
  return excluded.length === 0 ? { must } : { must, must_not: [{ has_id: excluded }] };
}

/** What waits for its vector. */
export function unembeddedFilter(owner: Owner): Filter {
  return unembeddedAmong(ownFilter(owner));
}

/** Those of a search's messages that wait for their vector. */
export function unembeddedAmong(filter: Filter): Filter {
  return { ...filter, must: [...(filter.must ?? []), { key: UNEMBEDDED, match: { value: true } }] };
}

/** Messages of a session with `from <= position <= to`. */
export function positionsFilter(owner: Owner, sessionId: string, from: number, to: number): Filter {
  return { must: [...(ownFilter(owner, sessionId).must ?? []), { key: "position", range: { gte: from, lte: to } }] };
}
