import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import type { Clock } from "../../platform/clock.js";
import type { Logger } from "../../platform/logger.js";
import type { ImageStore } from "../../ports/image-store.js";
import { type SessionStore, sessionLockKey } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import type { PublishesEvents } from "../events/outbox.js";
import { checkSessionId } from "../journal/journal-codec.js";
import { TOMBSTONES, tombstonesOf, USER_KEY, userOf } from "../ledger/ledger-values.js";
import { MEMORY_LOG_HEAD } from "../memory-log/memory-log.js";
import { jsonOf } from "../stored-rows.js";
import { standingRequest } from "./index-write.js";
import { EngineJournal } from "./journal.js";
import { JournalRows, windowOf, windowRows } from "./journal-rows.js";
import { journalsOf, requestKey, sessionKey, sessionRange } from "./keys.js";
import { LeasedLock } from "./leased-lock.js";
import { EngineLeases } from "./leases.js";
import { EngineSessionIndex, type ReadJournal } from "./session-index.js";
import { headOf, SessionHeads } from "./session-row.js";
import { EngineSessionWriter } from "./session-writer.js";
import { TurnJobs } from "./turn-jobs.js";

export interface EngineSessionStoreOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Of locks, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  readonly images: ImageStore;
  /** Publishes what writes of sessions put in their owner's outbox. Default: nobody is told. */
  readonly events?: PublishesEvents | null;
}

/** A session store over an engine of state, for as many processes as the engine takes. The engine stays the caller's to close. */
export function engineSessionStore(
  engine: StateEngine,
  { images, events = null, ...options }: EngineSessionStoreOptions,
): SessionStore & { readonly journal: EngineJournal; readonly index: EngineSessionIndex } {
  const leases = new EngineLeases(engine);
  const locks = new LeasedLock(leases, options);
  const heads = new SessionHeads();
  const writer = new EngineSessionWriter({ engine, leases, events });
  const journal = new EngineJournal({ engine, heads, writer });
  const readJournal: ReadJournal = (owner, sessionId, fromSeq) => journal.read(owner, sessionId, { fromSeq, includeRewound: true });
  const index = new EngineSessionIndex({ engine, writer, heads, hasJournals: true, readJournal });
  const turns = new TurnJobs(engine);
  return { journal, index, turns, locks, images, startTurn: turnStartOf({ engine, locks, heads }), close: async () => {} };
}

interface EngineSessionIndexOptions {
  /** Where records come from that were missed. Default: those that are given are folded in as they come. */
  readonly readJournal?: ReadJournal;
  /** Publishes what is folded in. Default: nobody is told. */
  readonly events?: EngineSessionStoreOptions["events"];
  /** Whether a record that is folded in is told. Default: it is. */
  readonly tells?: (record: JournalRecord) => boolean;
}

/** The index alone, of journals that are kept elsewhere. The engine stays the caller's to close. */
export function engineSessionIndex(engine: StateEngine, options: EngineSessionIndexOptions = {}): EngineSessionIndex {
  const { readJournal, events = null, tells = () => true } = options;
  const writer = new EngineSessionWriter({ engine, leases: null, events, tellsFolds: tells });
  return new EngineSessionIndex({ engine, writer, heads: new SessionHeads(), hasJournals: false, readJournal });
}

interface TurnStartParts {
  readonly engine: StateEngine;
  readonly locks: LeasedLock;
  readonly heads: SessionHeads;
}

/**
 * A turn's lock and all that it goes out from: one look, and one commit that takes the lock if the session is still as it was seen; or the
 * look alone, where the lock begins with the turn's first write.
 */
function turnStartOf({ engine, locks, heads }: TurnStartParts): NonNullable<SessionStore["startTurn"]> {
  return async (owner, sessionId, { rounds, begins, request, ...wait }) => {
    checkSessionId(sessionId);
    const requests = request === undefined ? [] : [requestKey(request.key)];
    const newest = { ...prefixRange(journalsOf(sessionId)), limit: windowRows(rounds), reverse: true };
    const { lease, read } = await locks.acquireReading(
      sessionLockKey(owner, sessionId),
      { ...wait, owner },
      {
        query: { keys: [USER_KEY, MEMORY_LOG_HEAD, ...requests], ranges: [sessionRange(sessionId), newest, prefixRange(TOMBSTONES)] },
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
        request: request === undefined ? null : standingRequest(read.entries.get(requestKey(request.key)), request.now),
      };
    } catch (error) {
      await lease.release();
      throw error;
    }
  };
}
