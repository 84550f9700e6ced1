import type { MemoryLog } from "./memory-log.js";
import type { OwnerLedger } from "./owner-ledger.js";
import type { SessionStore } from "./session-store.js";
import type { StorageHealth } from "./storage-health.js";

/** All that is true of sessions and owners, of one backend: what a store of one's own supplies. */
export interface StateStores {
  /** Journals are written first, then the index is told of what was written (`index.apply`); a journal that does both at once may. */
  readonly sessions: SessionStore;
  readonly owners: OwnerLedger;
  readonly memoryLog: MemoryLog;
  /** For /readyz. Default: `ok`. */
  readonly storage?: StorageHealth;
}
