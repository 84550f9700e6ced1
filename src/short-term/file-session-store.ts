import { join } from "node:path";
import { type CatchUp, catchUpIndex } from "../index-catch-up.js";
import { type Clock, systemClock } from "../platform/clock.js";
import { type FileSystem, nodeFileSystem } from "../platform/file-system.js";
import type { Logger } from "../platform/logger.js";
import { onStorageEach } from "../platform/storage-errors.js";
import type { SessionIndex, SessionStore } from "../session-store.js";
import { FileMemoryService } from "./file-memory-service.js";
import { InProcessLock } from "./in-process-lock.js";
import { SqliteSessionIndex } from "./sqlite-session-index.js";

export interface FileSessionStoreOptions {
  readonly dir: string;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the real one. */
  readonly fileSystem?: FileSystem;
  /** Journals kept open while nobody uses them. Default 128. */
  readonly maxIdleJournals?: number;
}

export interface FileSessionStore extends SessionStore {
  /** True when `index.db` was missing, damaged or of another version. {@link catchUp} fills it. */
  readonly needsRebuild: boolean;
  /** Folds into the index what the journals have beyond it. To be called at every start, before the first turn. */
  catchUp(options?: { readonly onProgress?: (looked: number) => void; readonly signal?: AbortSignal }): Promise<CatchUp>;
  /** Journals open right now. */
  readonly openFiles: number;
}

/**
 * Journals in `{dir}/{session_id}.jsonl`, the index in `{dir}/index.db`, locks in this process. Take the directory's
 * lock (platform/directory-lock.ts) first. @throws STORAGE_UNAVAILABLE
 */
export async function openFileSessionStore(options: FileSessionStoreOptions): Promise<FileSessionStore> {
  const { dir, logger, fileSystem = nodeFileSystem, maxIdleJournals } = options;
  const journal = await FileMemoryService.open({
    dir,
    fileSystem,
    logger,
    ...(maxIdleJournals !== undefined && { maxIdleJournals }),
  });
  const index = await SqliteSessionIndex.open({
    path: join(dir, "index.db"),
    logger,
    clock: options.clock ?? systemClock,
    readJournal: (owner, sessionId, fromSeq) => journal.read(owner, sessionId, { fromSeq, includeRewound: true, includeTorn: true }),
  });
  const store = { journal, index: onStorageEach<SessionIndex>(index), locks: new InProcessLock() };
  return {
    ...store,
    needsRebuild: index.needsRebuild,
    get openFiles() {
      return journal.openFiles;
    },
    async catchUp(catchUpOptions) {
      const caughtUp = await catchUpIndex(store, catchUpOptions);
      await index.rebuilt();
      return caughtUp;
    },
    async close() {
      await journal.close();
      await index.close();
    },
  };
}
