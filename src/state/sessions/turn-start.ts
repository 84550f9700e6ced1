import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { type SessionStore, sessionLockKey, type TurnStart } from "../../ports/session-store.js";
import { committed } from "../durable-commit.js";
import { type PartitionRead, prefixRange, type StateEngine } from "../engine.js";
import { checkSessionId } from "../journal/new-records.js";
import { ERASURE_KEY, TOMBSTONES, tombstonesOf, USER_KEY, userOf } from "../ledger/ledger-values.js";
import { MEMORY_LOG_HEAD } from "../memory-log/memory-log.js";
import { ownerPartition } from "../partition.js";
import { JournalRows, windowOf, windowRows } from "./journal-rows.js";
import { journalsOf, lockKey, sessionKey, sessionRange } from "./keys.js";
import type { LeasedLock, LeaseName } from "./leased-lock.js";
import type { EngineLeases } from "./leases.js";
import { headOf, type StoredHead } from "./session-row.js";
import type { SessionHeads } from "./session-rows.js";

const MAX_TRIES = 5;

export interface TurnStartParts {
  readonly engine: StateEngine;
  readonly locks: LeasedLock;
  readonly leases: EngineLeases;
  readonly heads: SessionHeads;
}

interface Taken {
  readonly read: PartitionRead;
  readonly head: StoredHead | null;
}

/**
 * A turn's lock and all that it goes out from: one look, and one commit that takes the lock if the session is still as it was seen; or the
 * look alone, where the lock begins with the turn's first write.
 */
export function turnStartOf(parts: TurnStartParts): NonNullable<SessionStore["startTurn"]> {
  const { engine, locks, heads } = parts;
  return async (owner, sessionId, { rounds, begins, ...wait }) => {
    checkSessionId(sessionId);
    const hasBegun = begins !== "with the first write";
    const { lease, read: taken } = await locks.acquireReading(
      sessionLockKey(owner, sessionId),
      { ...wait, owner },
      (name) => take(parts, owner, sessionId, name, { rounds, hasBegun }),
      { hasBegun },
    );
    try {
      const { read, head } = taken;
      if (head !== null && head.incarnation !== "") heads.keep(sessionId, head);
      return { lease, ...(await startOf(engine, sessionId, owner, taken, rounds)), epoch: read.epoch };
    } catch (error) {
      await lease.release();
      throw error;
    }
  };
}

async function take(
  { engine, leases }: TurnStartParts,
  owner: Owner,
  sessionId: string,
  lease: LeaseName,
  { rounds, hasBegun }: { readonly rounds: number; readonly hasBegun: boolean },
): Promise<{ readonly fence: number; readonly read: Taken } | null> {
  const newest = { ...prefixRange(journalsOf(sessionId)), limit: windowRows(rounds), reverse: true };
  const query = {
    keys: [lockKey(lease.key), ERASURE_KEY, USER_KEY, MEMORY_LOG_HEAD],
    ranges: [sessionRange(sessionId), newest, prefixRange(TOMBSTONES)],
  };
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const read = await engine.read(ownerPartition(owner), query);
    const taking = leases.taking(lease, read);
    if (taking === null) return null;
    const head = headOf(owner, read.ranges[0] ?? []);
    if (!hasBegun) return { fence: leases.offer(lease, taking, read), read: { read, head } };
    const checks = [...(taking.commit.checks ?? []), { key: sessionKey(sessionId), version: head?.version ?? null }];
    const taken = committed(engine, ownerPartition(owner), { ...taking.commit, checks });
    const result = await leases.letGoUnless(lease, taking.fence, taken);
    if (result.ok) return { fence: leases.taken(lease, taking.fence, read, result.version), read: { read, head } };
    if (result.refused === "checks" && result.keys.includes(ERASURE_KEY)) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
  }
  return null;
}

async function startOf(
  engine: StateEngine,
  sessionId: string,
  owner: Owner,
  { read, head }: Taken,
  rounds: number,
): Promise<Omit<TurnStart, "lease" | "epoch">> {
  const [, newest = [], tombstones = []] = read.ranges;
  const user = read.entries.get(USER_KEY);
  const log = read.entries.get(MEMORY_LOG_HEAD);
  const journal = head === null || head.incarnation === "" ? null : head;
  return {
    session: head?.state?.session ?? null,
    window: journal === null ? null : await windowOf(new JournalRows(engine, owner, sessionId), sessionId, journal, newest, rounds),
    user: user === undefined ? null : userOf(user.value),
    tombstones: tombstonesOf(tombstones.map(({ value }) => value)),
    memorySeq: log === undefined ? 0 : (JSON.parse(log.value) as readonly [Owner, number])[1],
  };
}
