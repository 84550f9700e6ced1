import type { Clock } from "../../platform/clock.js";
import type { Logger } from "../../platform/logger.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { SessionStore } from "../../ports/session-store.js";
import type { TransferableState } from "../../ports/transfer.js";
import { AtomicSessionWrite } from "../journal/atomic-session-write.js";
import { LeasedLock } from "../journal/leased-lock.js";
import { SessionHeads } from "../journal/session-heads.js";
import type { RedisDatabase } from "./database.js";
import { DueTurns } from "./due-turns.js";
import { ExpiringSessions } from "./expiring-sessions.js";
import { Hints } from "./hints.js";
import { RedisLeases } from "./leases.js";
import { OwnerRegistry } from "./owner-registry.js";
import type { WriteTeller } from "./redis-event-log.js";
import { RedisImages } from "./redis-images.js";
import { RedisJournal } from "./redis-journal.js";
import { RedisSessionIndex } from "./redis-session-index.js";
import { readHead } from "./session-heads.js";
import { SessionOwners } from "./session-owners.js";
import { RedisSessionEngine } from "./session-write.js";

export interface RedisSessionStoreOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Of locks, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /**
   * A session's keys expire so long after its last write, in milliseconds: for what retention, which deletes earlier, doesn't reach any
   * more. What the index has of an owner expires so long after the owner's last write; whose a session's id is stays. Default 0: nothing
   * expires.
   */
  readonly ttlMs?: number;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
  /** Where what is written is told. Default: nobody is told. */
  readonly events?: WriteTeller | null;
}

/** Sessions in Redis, for as many processes as like. The database stays the caller's to close. */
export function redisSessionStore(
  database: RedisDatabase,
  options: RedisSessionStoreOptions,
): SessionStore & Pick<TransferableState, "journal" | "index"> {
  const { codec = null, events = null } = options;
  const hints = new Hints(database);
  const heads = new SessionHeads((owner, sessionId) => readHead(database, owner, sessionId, codec));
  const owners = new SessionOwners(database);
  const registry = new OwnerRegistry(database, hints);
  const engine = new RedisSessionEngine({ database, hints, owners, ttlMs: options.ttlMs ?? 0, codec, events });
  const write = new AtomicSessionWrite(engine, heads);
  const journal = new RedisJournal({ database, write, heads, owners, registry, codec });
  const due = new DueTurns(database, hints);
  const expiring = new ExpiringSessions(database, hints, owners);
  const now = () => options.clock.now().getTime();
  const index = new RedisSessionIndex({ database, write, heads, journal, owners, registry, due, expiring, codec, now });
  return {
    journal,
    index,
    images: new RedisImages(database, codec),
    locks: new LeasedLock(new RedisLeases(database), options),
    close: async () => {},
  };
}
