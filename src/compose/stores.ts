import type { Owner } from "../domain/owner.js";
import type { CatchingUp } from "../operations/catching-up.js";
import type { EventLog, EventQueue } from "../ports/events.js";
import type { StorageHealth } from "../ports/health-history.js";
import type { MemoryLog } from "../ports/memory-log.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { MakeLimiter } from "../ports/request-limiter.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionsBehind, SessionWriter } from "../ports/session-writer.js";
import type { PrivacyParts } from "../privacy/privacy.js";
import type { Keyring } from "../state/encryption/keyring.js";
import type { StateEngine } from "../state/engine.js";
import type { Parts } from "./composed.js";

/** What was said, and what is known of owners: the engine of state, and what is stored over it. */
export interface Stores {
  readonly engine: StateEngine;
  /** Null where nothing is encrypted. */
  readonly keyring: Keyring | null;
  readonly encryption: PrivacyParts["encryption"];
  readonly store: SessionStore;
  readonly storage: StorageHealth;
  readonly ledger: OwnerLedger;
  readonly memoryLog: MemoryLog;
  readonly events: EventLog;
  /** What of it is to be delivered. Empty where nothing is to be. */
  readonly eventQueue: EventQueue;
  readonly writer: SessionWriter;
  readonly lagging: SessionsBehind;
  readonly indexCatchUp: CatchingUp;
  readonly rebuildIndex: Parts["rebuildIndex"];
  /** Leaves no erased byte in the engine's files. Nothing to do where it keeps none here. */
  readonly scrub: () => Promise<void>;
  /** Counts requests for all processes: as many in so many seconds. Absent where there is no other. */
  readonly limiter?: MakeLimiter;
  /** The id of the installation, agreed by all processes, from the one that this process comes with. Absent where there is one. */
  readonly agreedInstallation?: (own: string) => Promise<string>;
  /** Runs work while no other process changes the owner's memories. Absent where there is no other. */
  readonly aloneWithMemories?: <T>(owner: Owner, work: () => Promise<T>) => Promise<T>;
}
