import type { Clock } from "../../platform/clock.js";
import type { Logger } from "../../platform/logger.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { SessionStore } from "../../ports/session-store.js";
import type { TransferableState } from "../../ports/transfer.js";
import { AtomicSessionWrite } from "../journal/atomic-session-write.js";
import { LeasedLock } from "../journal/leased-lock.js";
import { SessionHeads } from "../journal/session-heads.js";
import type { PostgresDatabase } from "./database.js";
import { PostgresLeases } from "./leases.js";
import type { OwnerRows } from "./owner-rows.js";
import type { PostgresEventLog } from "./postgres-event-log.js";
import { PostgresImages } from "./postgres-images.js";
import { PostgresJournal } from "./postgres-journal.js";
import { PostgresSessionIndex } from "./postgres-session-index.js";
import { PostgresSessionEngine, readHead } from "./session-write.js";
import { turnStartOf } from "./turn-start.js";

export interface PostgresSessionStoreOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Of locks, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
  /** What is written is told there. Default: nobody is told. */
  readonly events?: PostgresEventLog | null;
}

/** Sessions in PostgreSQL, for as many processes as like. The database stays the caller's to close. */
export function postgresSessionStore(
  database: PostgresDatabase,
  owners: OwnerRows,
  options: PostgresSessionStoreOptions,
): SessionStore & Pick<TransferableState, "journal" | "index"> {
  const { codec = null, events = null } = options;
  const heads = new SessionHeads((owner, sessionId) => readHead(database, owner, sessionId, codec));
  const write = new AtomicSessionWrite(new PostgresSessionEngine(database, owners, codec, events), heads);
  const journal = new PostgresJournal(database, write, heads, codec);
  const index = new PostgresSessionIndex({ database, write, heads, journal, codec, now: () => options.clock.now().getTime() });
  const locks = new LeasedLock(new PostgresLeases(database, owners), options);
  return {
    journal,
    index,
    images: new PostgresImages(database, owners, codec),
    locks,
    startTurn: turnStartOf({ database, locks, owners, heads, codec }),
    close: async () => {},
  };
}
