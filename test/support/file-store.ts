import { join } from "node:path";
import { type Clock, systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { EngineEventQueue } from "../../src/state/events/event-queue.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { type FileSessionStoreOptions, openFileSessionStore } from "../../src/state/jsonl/file-session-store.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { encryptedForTest } from "./encryption.js";

type Options = Omit<FileSessionStoreOptions, "engine" | "images" | "events" | "logger"> &
  Partial<Pick<FileSessionStoreOptions, "logger">> & {
    /** What leases are measured by. Default: the system's. */
    readonly engineClock?: Clock;
    /** Default false. */
    readonly encrypted?: boolean;
  };

/** What one machine keeps in a directory: journals, and `state.db` beside them. `close` closes both. */
export async function openFileStore({ logger = silentLogger, engineClock = systemClock, encrypted = false, ...options }: Options) {
  const stored = await SqliteEngine.open({ path: join(options.dir, "state.db"), logger, clock: engineClock });
  const sealed = encrypted ? await encryptedForTest(stored, { dir: options.dir }) : null;
  const engine = sealed?.engine ?? stored;
  const events = new EngineEventLog(engine, { queued: true, logger });
  const images = new EngineImageStore(engine);
  const store = await openFileSessionStore({ ...options, logger, engine, images, events, seals: sealed?.seals ?? null });
  const close = async () => {
    await store.close();
    await events.close();
    await (sealed ?? engine).close();
  };
  return {
    store: { ...store, close },
    engine,
    events,
    eventQueue: new EngineEventQueue(engine, { clock: options.clock ?? systemClock, log: events }),
    ledger: new EngineOwnerLedger(engine),
    memoryLog: new EngineMemoryLog(engine, events),
    close,
  };
}
