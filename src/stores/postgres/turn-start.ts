import { ownerHash } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import { type SessionStore, sessionLockKey, type TurnStart } from "../../ports/session-store.js";
import { type Kept, keptFor } from "../journal/kept-content.js";
import type { LeasedLock } from "../journal/leased-lock.js";
import { EMPTY_LEDGER, foldLedger, openedEntry } from "../journal/ledger-entries.js";
import { checkSessionId } from "../journal/new-records.js";
import type { SessionHeads } from "../journal/session-heads.js";
import { stateOf } from "../sqlite-index/sqlite-index-rows.js";
import type { PostgresDatabase, Row } from "./database.js";
import type { OwnerRows } from "./owner-rows.js";
import { windowOfRows } from "./postgres-journal.js";
import type { PostgresHead } from "./session-write.js";

export interface TurnStartParts {
  readonly database: PostgresDatabase;
  readonly locks: LeasedLock;
  readonly owners: OwnerRows;
  readonly heads: SessionHeads<PostgresHead>;
  readonly codec: ContentCodec | null;
}

/** A turn's lock and all that it goes out from, by one statement. */
export function turnStartOf({ database, locks, owners, heads, codec }: TurnStartParts): NonNullable<SessionStore["startTurn"]> {
  return async (owner, sessionId, { rounds, ...wait }) => {
    checkSessionId(sessionId);
    const { lease, read } = await locks.acquireReading(sessionLockKey(owner, sessionId), { ...wait, owner }, async ({ key, leaseMs }) => {
      const [row] = await database.query("SELECT * FROM {start_turn}($1, $2, $3, $4, $5, $6)", [
        key,
        leaseMs,
        owner,
        ownerHash(owner),
        sessionId,
        rounds,
      ]);
      if (row === undefined) return null;
      if (row.fence === null) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
      return { fence: Number(row.fence), read: row };
    });
    try {
      owners.found(owner);
      const kept = await keptFor(codec, owner);
      const start = startOf(read, rounds, kept);
      if (read.incarnation !== null) heads.keep(sessionId, { owner, ...headOf(read, kept) });
      return { lease, ...start };
    } catch (error) {
      await lease.release();
      throw error;
    }
  };
}

function startOf(row: Row, rounds: number, kept: Kept): Omit<TurnStart, "lease"> {
  const entries = texts(row.entries).map((entry) => openedEntry(entry, kept));
  const { user, tombstones } = entries.reduce(foldLedger, EMPTY_LEDGER);
  return {
    epoch: Number(row.epoch),
    session: row.state === null ? null : stateOf(String(row.state), kept).session,
    window: row.incarnation === null ? null : windowOfRows(row, texts(row.records), rounds, kept),
    user,
    tombstones,
    memorySeq: Number(row.memory_seq),
  };
}

function headOf(row: Row, kept: Kept): Omit<PostgresHead, "owner"> {
  return {
    incarnation: String(row.incarnation),
    lastSeq: Number(row.last_seq),
    lastTurn: Number(row.last_turn),
    fence: Math.max(Number(row.last_fence), Number(row.fence)),
    state: row.state === null ? null : stateOf(String(row.state), kept),
  };
}

function texts(column: unknown): readonly string[] {
  return (column ?? []) as readonly string[];
}
