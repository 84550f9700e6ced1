import { join } from "node:path";
import { boundedFileSystem } from "../../platform/bounded-file-system.js";
import { type Clock, systemClock } from "../../platform/clock.js";
import { type FileSystem, nodeFileSystem } from "../../platform/file-system.js";
import type { Logger } from "../../platform/logger.js";
import { onStorage, onStorageEach } from "../../platform/storage-errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { SessionIndex, SessionStore } from "../../ports/session-store.js";
import type { StorageHealth } from "../../ports/storage-health.js";
import type { RestoresPending, TransferableState } from "../../ports/transfer.js";
import { InProcessLock } from "../journal/in-process-lock.js";
import { type CatchUp, catchUpIndex, catchUpSession } from "../sqlite-index/index-catch-up.js";
import type { SqliteEventLog } from "../sqlite-index/sqlite-event-log.js";
import { SqliteSessionIndex } from "../sqlite-index/sqlite-session-index.js";
import { FileImageStore } from "./file-image-store.js";
import { FileMemoryService } from "./file-memory-service.js";
import { LevelMarker } from "./level-marker.js";

export interface FileSessionStoreOptions {
  readonly dir: string;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the real one. */
  readonly fileSystem?: FileSystem;
  /** Journals kept open while nobody uses them. Default 128. */
  readonly maxIdleJournals?: number;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
}

export interface FileSessionStore extends Omit<SessionStore, "journal" | "index">, StorageHealth {
  readonly journal: TransferableState["journal"];
  readonly index: TransferableState["index"];
  readonly events: SqliteEventLog;
  /** True when `index.db` was missing, damaged or of another version. {@link catchUp} fills it. */
  readonly needsRebuild: boolean;
  /** Folds into the index what the journals have beyond it. To be called at every start, before the first turn. */
  catchUp(options?: { readonly onProgress?: (looked: number) => void; readonly signal?: AbortSignal }): Promise<CatchUp>;
  /** Journals open right now. */
  readonly openFiles: number;
}

/**
 * Journals in `{dir}/{session_id}.jsonl`, images in `{dir}/images`, the index in `{dir}/index.db`, locks in this process. Take the
 * directory's lock first. @throws STORAGE_UNAVAILABLE
 */
export async function openFileSessionStore(options: FileSessionStoreOptions): Promise<FileSessionStore> {
  const { dir, logger, fileSystem = nodeFileSystem, maxIdleJournals, codec = null } = options;
  const journal = await FileMemoryService.open({
    dir,
    fileSystem,
    logger,
    codec,
    ...(maxIdleJournals !== undefined && { maxIdleJournals }),
  });
  const images = await FileImageStore.open({ dir, fileSystem, codec });
  const marker = new LevelMarker(dir, boundedFileSystem(fileSystem));
  const wasLevel = await onStorage(() => marker.take());
  const index = await SqliteSessionIndex.open({
    path: join(dir, "index.db"),
    logger,
    codec,
    clock: options.clock ?? systemClock,
    readJournal: (owner, sessionId, fromSeq) => journal.read(owner, sessionId, { fromSeq, includeRewound: true, includeTorn: true }),
  });
  const store = { journal, index: onStorageEach<SessionIndex & RestoresPending>(index), locks: new InProcessLock(), images };
  let caughtUp = false;
  let closing: Promise<void> | null = null;
  const close = async () => {
    const { writes } = journal.written;
    const level = caughtUp && !index.wasCleared && (await isLevel(store, journal));
    await journal.close();
    await index.close();
    if (!level || journal.written.writes !== writes) return;
    await marker.leave().catch((error: unknown) => logger.debug({ err: error }, "the next start looks at every journal"));
  };
  return {
    ...store,
    events: index.events,
    needsRebuild: index.needsRebuild,
    get openFiles() {
      return journal.openFiles;
    },
    health: () => journal.health(),
    async catchUp(catchUpOptions) {
      const known = index.sessionIds();
      const unknown = (await journal.sessionIds()).filter((id) => !known.has(id));
      await journal.enlist(unknown);
      const only = wasLevel && !caughtUp ? { sessions: journal.list(unknown) } : {};
      const done = await catchUpIndex(store, { ...catchUpOptions, ...only });
      await index.rebuilt();
      caughtUp = true;
      return done;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Whether the index has all that this process has written; what it lacks is tried once more. */
async function isLevel(store: Pick<SessionStore, "journal" | "index">, journal: FileMemoryService): Promise<boolean> {
  const written = journal.written.entries();
  if (written === null) return false;
  try {
    for (const { sessionId, owner, lastSeq } of written) {
      if ((await store.index.indexedSeq(sessionId)) >= lastSeq) continue;
      if (owner === null) return false;
      // One that was emptied ends before its journal's numbering does: then there is nothing to fold in.
      await catchUpSession(store, owner, sessionId);
    }
    return true;
  } catch {
    return false;
  }
}
