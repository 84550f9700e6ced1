import type { JournalRecord } from "../../domain/session.js";
import type { Clock } from "../../platform/clock.js";
import type { Logger } from "../../platform/logger.js";
import type { ImageStore } from "../../ports/image-store.js";
import type { SessionStore } from "../../ports/session-store.js";
import type { StateEngine } from "../engine.js";
import type { PublishesEvents } from "../events/outbox.js";
import { EngineJournal } from "./journal.js";
import { LeasedLock } from "./leased-lock.js";
import { EngineLeases } from "./leases.js";
import { EngineSessionIndex, type ReadJournal } from "./session-index.js";
import { SessionHeads } from "./session-rows.js";
import { EngineSessionWriter } from "./session-writer.js";
import { turnStartOf } from "./turn-start.js";

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
  const index = new EngineSessionIndex({ engine, writer, heads, clock: options.clock, hasJournals: true, readJournal });
  return { journal, index, locks, images, startTurn: turnStartOf({ engine, locks, heads }), close: async () => {} };
}

export interface EngineSessionIndexOptions {
  readonly clock: Clock;
  /** Where records come from that were missed. Default: those that are given are folded in as they come. */
  readonly readJournal?: ReadJournal;
  /** Publishes what is folded in. Default: nobody is told. */
  readonly events?: EngineSessionStoreOptions["events"];
  /** Whether a record that is folded in is told. Default: it is. */
  readonly tells?: (record: JournalRecord) => boolean;
}

/** The index alone, of journals that are kept elsewhere. The engine stays the caller's to close. */
export function engineSessionIndex(engine: StateEngine, options: EngineSessionIndexOptions): EngineSessionIndex {
  const { clock, readJournal, events = null, tells = () => true } = options;
  const writer = new EngineSessionWriter({ engine, leases: null, events, tellsFolds: tells });
  return new EngineSessionIndex({ engine, writer, heads: new SessionHeads(), clock, hasJournals: false, readJournal });
}
