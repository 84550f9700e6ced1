import type { Owner } from "../../domain/owner.js";
import { type SessionStore, sessionLockKey } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { checkSessionId } from "../journal/new-records.js";
import { TOMBSTONES, tombstonesOf, USER_KEY, userOf } from "../ledger/ledger-values.js";
import { MEMORY_LOG_HEAD } from "../memory-log/memory-log.js";
import { jsonOf } from "../stored-rows.js";
import { JournalRows, windowOf, windowRows } from "./journal-rows.js";
import { journalsOf, sessionKey, sessionRange } from "./keys.js";
import type { LeasedLock } from "./leased-lock.js";
import { headOf } from "./session-row.js";
import type { SessionHeads } from "./session-rows.js";

export interface TurnStartParts {
  readonly engine: StateEngine;
  readonly locks: LeasedLock;
  readonly heads: SessionHeads;
}

/**
 * A turn's lock and all that it goes out from: one look, and one commit that takes the lock if the session is still as it was seen; or the
 * look alone, where the lock begins with the turn's first write.
 */
export function turnStartOf({ engine, locks, heads }: TurnStartParts): NonNullable<SessionStore["startTurn"]> {
  return async (owner, sessionId, { rounds, begins, ...wait }) => {
    checkSessionId(sessionId);
    const newest = { ...prefixRange(journalsOf(sessionId)), limit: windowRows(rounds), reverse: true };
    const { lease, read } = await locks.acquireReading(
      sessionLockKey(owner, sessionId),
      { ...wait, owner },
      {
        query: { keys: [USER_KEY, MEMORY_LOG_HEAD], ranges: [sessionRange(sessionId), newest, prefixRange(TOMBSTONES)] },
        checks: ({ ranges }) => [{ key: sessionKey(sessionId), version: headOf(owner, ranges[0] ?? [])?.version ?? null }],
        hasBegun: begins !== "with the first write",
      },
    );
    try {
      const [own = [], rows = [], tombstones = []] = read.ranges;
      const head = headOf(owner, own);
      const journal = head === null || head.incarnation === "" ? null : head;
      if (journal !== null) heads.keep(sessionId, journal);
      const user = read.entries.get(USER_KEY);
      return {
        lease,
        epoch: read.epoch,
        session: head?.state?.session ?? null,
        window: journal && (await windowOf(new JournalRows(engine, sessionId, journal), sessionId, journal, rows, rounds)),
        user: user === undefined ? null : userOf(user.value),
        tombstones: tombstonesOf(tombstones.map(({ value }) => value)),
        memorySeq: jsonOf<readonly [Owner, number]>(read.entries.get(MEMORY_LOG_HEAD))?.[1] ?? 0,
      };
    } catch (error) {
      await lease.release();
      throw error;
    }
  };
}
