import { DirectoryLock } from "../platform/directory-lock.js";
import type { StateStores } from "../ports/state-stores.js";
import { catchUpIndex } from "../stores/sqlite-index/index-catch-up.js";
import { openFollowingIndex } from "./following-index.js";
import type { Stores } from "./stores.js";
import { toldInProcess } from "./told-in-process.js";
import { same, type Wiring } from "./wiring.js";

/**
 * Stores that the caller brings. Events are then kept in this process alone, while it runs.
 * @throws STORAGE_IN_USE where memories, history or bookings are in a file that another process owns
 */
export async function openGivenStores(wiring: Wiring, given: StateStores, { onLevel }: { readonly onLevel: () => void }): Promise<Stores> {
  const { config, overrides, clock, around, dir, kept, closing } = wiring;
  const localFiles = overrides.vectors === undefined && (config.MEM0_PROVIDER === "local" || config.HISTORY_BACKEND === "local");
  const bookings = overrides.domain === undefined;
  if (kept && (localFiles || bookings)) closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
  const ledger = closing(given.owners, (it) => it.close());
  const told = toldInProcess(wiring);
  const memoryLog = closing((around.memoryLog ?? same)(told.memoryLog(given.memoryLog)), (it) => it.close());
  const store = closing((around.sessions ?? same)(given.sessions), (it) => it.close());
  const followed = await openFollowingIndex(wiring, store, { onLevel, catchUp: () => catchUpIndex(store) });
  const storage = given.storage ?? { health: async () => ({ status: "ok" as const }) };
  const { events, eventQueue } = told;
  return { store, storage, ledger, memoryLog, events, eventQueue, ...followed, writer: told.writer(followed.writer) };
}
