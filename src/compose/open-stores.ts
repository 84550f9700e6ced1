import { CatchingUp } from "../operations/catching-up.js";
import { requireWhole } from "../operations/migration-checks.js";
import { DirectoryLock } from "../platform/directory-lock.js";
import type { StorageHealth } from "../ports/health-history.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionsBehind } from "../ports/session-writer.js";
import { engineLimiter } from "../state/counters/engine-limiter.js";
import { markOf } from "../state/encryption/open-encrypted.js";
import { sealedJournals } from "../state/encryption/sealed-journals.js";
import type { StateEngine } from "../state/engine.js";
import { EngineEventQueue } from "../state/events/event-queue.js";
import { EngineEventLog } from "../state/events/events.js";
import { EngineImageStore } from "../state/images/images.js";
import { agreedInstallation } from "../state/installation.js";
import { EngineJobs } from "../state/jobs/installation-jobs.js";
import { openFileSessionStore } from "../state/jsonl/file-session-store.js";
import { catchUpIndex } from "../state/jsonl/index-catch-up.js";
import { IndexedSessionWriter, LaggingSessions } from "../state/jsonl/session-writer.js";
import { EngineOwnerLedger } from "../state/ledger/ledger.js";
import { EngineMemoryLog } from "../state/memory-log/memory-log.js";
import { ownersOf } from "../state/sessions/owners.js";
import { engineSessionStore } from "../state/sessions/sessions.js";
import { encrypted, erasedBy } from "./encryption.js";
import { aloneWithMemories, announceProcess, holdLocalFiles, openEngine } from "./engine.js";
import { type Stores, same, type Wiring } from "./wiring.js";

/** For a store that writes journals and index at once: no session is ever behind. */
const NEVER_BEHIND: SessionsBehind = {
  count: 0,
  owners: [],
  level: async () => {},
  lags: async () => false,
  requireLevel: async () => {},
  findIdempotent: async () => null,
  onLevel: () => {},
};

export async function openStores(wiring: Wiring): Promise<Stores> {
  const { config, overrides, logger, clock, around, closing } = wiring;
  const inFiles = overrides.state === undefined && config.SHORT_TERM_BACKEND === "file";
  await holdDirectory(wiring, inFiles);
  const stored = closing((around.engine ?? same)(overrides.state ?? (await openEngine(wiring))), (it) => it.close());
  const maybeEncrypted = await encrypted(wiring, stored, inFiles);
  const { engine, keyring } = maybeEncrypted;
  await requireWhole(engine, engine.manifest.name);
  const ledger = new EngineOwnerLedger(engine);
  const events = closing(new EngineEventLog(engine, { queued: config.WEBHOOK_URL !== undefined, logger }), (it) => it.close());
  const eventQueue = new EngineEventQueue(engine, { clock, log: events });
  const memoryLog = closing((around.memoryLog ?? same)(new EngineMemoryLog(engine, events)), (it) => it.close());
  publishLeftovers(events, engine, wiring);
  const common = {
    engine,
    keyring,
    encryption: erasedBy(maybeEncrypted, stored),
    encryptedUnder: async () => (await markOf(stored))?.key ?? null,
    ledger,
    memoryLog,
    events,
    eventQueue,
    scrub: async () => engine.scrub?.(),
  };
  const images = new EngineImageStore(engine);
  if (inFiles) {
    const { dir, fileSystem } = wiring;
    const seals = keyring && sealedJournals(keyring);
    const files = await openFileSessionStore({ dir, fileSystem, engine, images, events, logger, clock, seals });
    const store = closing((around.sessions ?? same)(files), (it) => it.close());
    sweepImages(engine, images, wiring, async (sessionId) => (await files.journal.sessionIds()).includes(sessionId));
    const followed = await openFollowingIndex(wiring, store, { catchUp: () => files.catchUp(), rebuild: files.rebuild });
    return { ...common, store, storage: worseOf(engine, files), ...followed };
  }
  sweepImages(engine, images, wiring);
  const store = closing((around.sessions ?? same)(engineSessionStore(engine, { logger, clock, images, events })), (it) => it.close());
  return { ...common, store, storage: engine, ...atOnce(store, wiring), ...(await sharing(engine, store, wiring)) };
}

/** Sessions whose records and lists are written in one commit; what is too much for one is folded in right behind it. */
function atOnce(store: Stores["store"], { logger }: Wiring): Pick<Stores, "writer" | "lagging" | "indexCatchUp" | "rebuildIndex"> {
  return {
    writer: new IndexedSessionWriter(store, { onLag: () => {}, logger }),
    lagging: NEVER_BEHIND,
    indexCatchUp: new CatchingUp("index", () => catchUpIndex(store), logger),
    rebuildIndex: async (options) => {
      await store.index.clear();
      return catchUpIndex(store, options);
    },
  };
}

/** What several processes on one engine agree on. */
async function sharing(
  engine: StateEngine,
  { locks }: Stores["store"],
  wiring: Wiring,
): Promise<Pick<Stores, "limiter" | "agreedInstallation" | "aloneWithMemories">> {
  if (!engine.manifest.shared) return {};
  await announceProcess(locks, wiring);
  await holdLocalFiles(locks, wiring);
  return {
    limiter: engineLimiter(engine),
    agreedInstallation: (own) => agreedInstallation(engine, own),
    aloneWithMemories: aloneWithMemories(locks),
  };
}

/** One process owns what lies in files: journals, and vectors. @throws STORAGE_IN_USE */
async function holdDirectory({ config, overrides, clock, dir, kept, closing }: Wiring, inFiles: boolean): Promise<void> {
  const localVectors = overrides.vectors === undefined && (config.MEM0_PROVIDER === "local" || config.HISTORY_BACKEND === "local");
  const isOwn = inFiles || (overrides.state !== undefined && localVectors);
  if (kept && isOwn) closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
}

/** How often it is looked, where there are others, for events that one that was killed left, in milliseconds. */
const LEFTOVERS_MS = 60_000;

/**
 * What a killed process had to tell and did not is told, in the background: at the start, and where there are others by one of them from
 * time to time.
 */
function publishLeftovers(events: EngineEventLog, engine: StateEngine, wiring: Wiring): void {
  const { logger, closing } = wiring;
  const stop = closing(new AbortController(), (it) => it.abort());
  const publish = async () => {
    await events.catchUpAll(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) logger.warn({ err: error }, "Events of before could not be published yet");
    });
  };
  void publish();
  takeUp("leftovers", LEFTOVERS_MS, publish, engine, wiring);
}

/**
 * Where there are other processes, one of them does this from time to time, as any of them may have been killed: what it left undone.
 * `work`: safe to repeat; not called again while it runs here.
 */
export function takeUp(
  name: string,
  everyMs: number,
  work: () => Promise<unknown>,
  engine: StateEngine,
  { logger, closing }: Wiring,
): void {
  if (!engine.manifest.shared) return;
  const rows = new EngineJobs(engine);
  let runs = false;
  const look = async () => {
    if (runs) return;
    runs = true;
    try {
      if (await rows.takeTurn(name, everyMs * 0.9)) await work();
    } catch (error) {
      logger.warn({ err: error, name }, "What another process may have left undone could not be looked up yet");
    } finally {
      runs = false;
    }
  };
  closing(setInterval(look, everyMs).unref(), clearInterval);
}

const RANK = { ok: 0, degraded: 1, down: 2 } as const;

/** Of two media that turns are kept on. */
function worseOf(one: StorageHealth, other: StorageHealth): StorageHealth {
  return {
    health: async () => {
      const [first, second] = await Promise.all([one.health(), other.health()]);
      return RANK[second.status] > RANK[first.status] ? second : first;
    },
  };
}

/** Of a store whose index is written after the journal: who writes both, and what brings an index level that is behind. */
async function openFollowingIndex(
  { logger, closing }: Wiring,
  store: SessionStore,
  { catchUp, rebuild }: { readonly catchUp: () => Promise<unknown>; readonly rebuild: Stores["rebuildIndex"] },
): Promise<Pick<Stores, "writer" | "lagging" | "indexCatchUp" | "rebuildIndex">> {
  const indexCatchUp = new CatchingUp("index", catchUp, logger);
  await indexCatchUp.run();
  const lagging = closing(new LaggingSessions(store, logger), (it) => it.close());
  return {
    writer: new IndexedSessionWriter(store, { onLag: (owner, id) => lagging.add(owner, id), logger }),
    lagging,
    indexCatchUp,
    rebuildIndex: rebuild,
  };
}

/** Images whose message never came, as its process was killed, go in the background. `hasJournal`: as {@link EngineImageStore.sweep}. */
function sweepImages(
  engine: StateEngine,
  images: EngineImageStore,
  { logger, closing }: Wiring,
  hasJournal?: (sessionId: string) => Promise<boolean>,
): void {
  const stop = closing(new AbortController(), (it) => it.abort());
  const sweep = async () => {
    let swept = 0;
    for await (const owner of ownersOf(engine)) {
      if (stop.signal.aborted) return;
      swept += await images.sweep(owner, hasJournal);
    }
    if (swept > 0) logger.info({ images: swept }, "Images that no message came to have were deleted");
  };
  sweep().catch((error: unknown) => {
    if (!stop.signal.aborted) logger.warn({ err: error }, "Images that no message came to have could not be looked for");
  });
}
