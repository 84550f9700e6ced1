import { DirectoryLock } from "../platform/directory-lock.js";
import { onStorage } from "../platform/storage-errors.js";
import type { StorageHealth } from "../ports/storage-health.js";
import { FileMemoryLog } from "../stores/files/file-memory-log.js";
import { FileOwnerLedger } from "../stores/files/file-owner-ledger.js";
import { openFileSessionStore } from "../stores/files/file-session-store.js";
import { openMemorySessionStore } from "../stores/memory/in-memory.js";
import { InMemoryMemoryLog } from "../stores/memory/in-memory-memory-log.js";
import { InMemoryOwnerLedger } from "../stores/memory/in-memory-owner-ledger.js";
import { catchUpIndex } from "../stores/sqlite-index/index-catch-up.js";
import { ToldMemoryLog } from "../stores/sqlite-index/told-memory-log.js";
import { openFollowingIndex } from "./following-index.js";
import { openGivenStores } from "./given-stores.js";
import type { Stores } from "./stores.js";
import { same, type Wiring } from "./wiring.js";

/** Memory that a process has can be written. */
const IN_MEMORY: StorageHealth = { health: async () => ({ status: "ok" }) };

/** `onLevel`: a session's index has caught up, so turns of it may wait for their write-back. */
export async function openStores(wiring: Wiring, { onLevel }: { readonly onLevel: () => void }): Promise<Stores> {
  const { config, overrides, logger, clock, fileSystem, around, codec, dir, kept, closing } = wiring;
  if (overrides.state !== undefined) return openGivenStores(wiring, overrides.state, { onLevel });
  // For what is in files beside an engine. That of journals is made by its lock.
  if (config.SHORT_TERM_BACKEND !== "file" && kept) await onStorage(() => fileSystem.mkdir(dir));
  // An engine's client is loaded where it is used.
  if (config.SHORT_TERM_BACKEND === "postgres")
    return (await import("./postgres-stores.js")).openPostgresStores(wiring, config.DATABASE_URL ?? "");
  if (config.SHORT_TERM_BACKEND === "redis") return (await import("./redis-stores.js")).openRedisStores(wiring, config.REDIS_URL ?? "");
  if (kept) closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
  const ledger = kept
    ? closing(await FileOwnerLedger.open({ dir, fileSystem, logger, codec }), (opened) => opened.close())
    : new InMemoryOwnerLedger();
  const openedLog = kept ? await FileMemoryLog.open({ dir, fileSystem, ledger, logger, codec }) : new InMemoryMemoryLog(ledger);
  const files = kept ? await openFileSessionStore({ dir, logger, clock, fileSystem, codec }) : null;
  const opened = files ?? (await openMemorySessionStore({ logger, clock }));
  if (config.WEBHOOK_URL !== undefined) opened.events.keepQueue();
  const store = closing((around.sessions ?? same)(opened), (it) => it.close());
  const told = new ToldMemoryLog(openedLog, opened.events, logger);
  const memoryLog = closing((around.memoryLog ?? same)(told), (it) => it.close());
  const followed = await openFollowingIndex(wiring, store, { onLevel, catchUp: () => files?.catchUp() ?? catchUpIndex(store) });
  void told.catchUp({ all: opened.needsRebuild });
  return { store, storage: files ?? IN_MEMORY, ledger, memoryLog, events: opened.events, eventQueue: opened.events.queue, ...followed };
}
