import { join } from "node:path";
import { type Clock, systemClock } from "../../platform/clock.js";
import { type FileSystem, nodeFileSystem } from "../../platform/file-system.js";
import { newId } from "../../platform/ids.js";
import { JsonlLog } from "../../platform/jsonl-log.js";
import { onStorage, onStorageEach } from "../../platform/storage-errors.js";
import type { StorageHealth } from "../../ports/health-history.js";
import type { ImageStore } from "../../ports/image-store.js";
import type { PendingTurns, SessionIndex, SessionStore } from "../../ports/session-store.js";
import { committed } from "../durable-commit.js";
import type { StateEngine } from "../engine.js";
import { systemPartition } from "../partition.js";
import { InProcessLock } from "../sessions/in-process-lock.js";
import { type EngineSessionStoreOptions, engineSessionIndex } from "../sessions/sessions.js";
import { TurnJobs } from "../sessions/turn-jobs.js";
import { rowAt } from "../stored-rows.js";
import { type FileMemoryOptions, FileMemoryService } from "./file-memory-service.js";
import { type CatchUp, type CatchUpOptions, catchUpIndex, catchUpSession } from "./index-catch-up.js";

/** How old what is folded in may be to be told: where it was told of before, and that is lost, it is told again. */
const TOLD_AGAIN_MS = 7 * 86_400_000;

export interface FileSessionStoreOptions extends Omit<FileMemoryOptions, "fileSystem"> {
  /** Where lists, pending turns and requests are kept; it stays the caller's to close. */
  readonly engine: StateEngine;
  readonly images: ImageStore;
  /** What writes put in their owner's outbox is published there. Default: nobody is told. */
  readonly events?: EngineSessionStoreOptions["events"];
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the real one. */
  readonly fileSystem?: FileSystem;
}

export interface FileSessionStore extends SessionStore, StorageHealth {
  readonly journal: FileMemoryService;
  /** Folds into the index what the journals have beyond it, or makes it anew. To be called at every start, before the first turn. */
  catchUp(options?: CatchUpOptions): Promise<CatchUp>;
  /** Empties the index and folds all journals in anew; nothing that happened is told again. Nobody else may write meanwhile. */
  rebuild(options?: CatchUpOptions): Promise<CatchUp>;
  /** Journals open right now. */
  readonly openFiles: number;
}

/**
 * Journals in `{dir}/{session_id}.jsonl`, all else of a session in the engine, locks in this process. Take the directory's lock first.
 * @throws STORAGE_UNAVAILABLE
 */
export async function openFileSessionStore(options: FileSessionStoreOptions): Promise<FileSessionStore> {
  const { dir, engine, images, logger, events = null, clock = systemClock, fileSystem = nodeFileSystem } = options;
  const journal = await FileMemoryService.open({ ...options, fileSystem });
  const markers = new IndexMarkers(engine, { dir, fileSystem });
  const wasLevel = await markers.takeLevel((await journal.sessionIds()).length);
  let isTelling = true;
  const turns = new TurnJobs(engine);
  const indexed = engineSessionIndex(engine, {
    events,
    tells: ({ at }) => isTelling && Date.parse(at) > clock.now().getTime() - TOLD_AGAIN_MS,
    readJournal: (owner, sessionId, fromSeq) => journal.read(owner, sessionId, { fromSeq, includeRewound: true, includeTorn: true }),
  });
  const index = onStorageEach<SessionIndex>(indexed);
  const store = { journal, index, turns: onStorageEach<PendingTurns>(turns), locks: new InProcessLock(), images };
  let isCaughtUp = false;
  let closing: Promise<void> | null = null;
  const close = async () => {
    const { writes } = journal.written;
    const isLevel = isCaughtUp && (await hasAll(store));
    // A directory that is gone leaves nothing to be level with.
    const sessions = isLevel
      ? await journal.sessionIds().then(
          ({ length }) => length,
          () => null,
        )
      : null;
    await journal.close();
    if (sessions === null || journal.written.writes !== writes) return;
    await markers.leaveLevel(sessions).catch((error: unknown) => logger.debug({ err: error }, "the next start looks at every journal"));
  };
  const rebuild = async (given?: CatchUpOptions): Promise<CatchUp> => {
    isCaughtUp = false;
    isTelling = false;
    try {
      await markers.beginRebuild();
      await index.clear();
      const done = await catchUpIndex(store, given);
      await markers.endRebuild();
      isCaughtUp = true;
      return done;
    } finally {
      isTelling = true;
    }
  };
  return {
    ...store,
    rebuild,
    get openFiles() {
      return journal.openFiles;
    },
    health: () => journal.health(),
    async catchUp(given) {
      const isToBeMadeAnew = !isCaughtUp && (await markers.isRebuilding());
      const isLevel = wasLevel && !isCaughtUp && !isToBeMadeAnew;
      // Journals that were put here by hand are to be found by their owners, too.
      if (!isLevel) await journal.enlist();
      if (isToBeMadeAnew) return rebuild(given);
      const done = isLevel ? { sessions: 0, records: 0 } : await catchUpIndex(store, given);
      isCaughtUp = true;
      return done;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Whether the index has all that this process has written; what it lacks is tried once more. */
async function hasAll(store: Pick<SessionStore, "index"> & { readonly journal: FileMemoryService }): Promise<boolean> {
  const written = store.journal.written.entries();
  if (written === null) return false;
  try {
    for (const { sessionId, owner, lastSeq } of written) {
      if (owner === null) return false;
      if ((await store.index.indexedSeq(owner, sessionId)) >= lastSeq) continue;
      // One that was emptied ends before its journal's numbering does: then there is nothing to fold in.
      await catchUpSession(store, owner, sessionId);
    }
    return true;
  } catch {
    return false;
  }
}

const FILES = systemPartition("files");
const LEVEL = "level";
const REBUILD = "rebuild";
/** Beside the journals: an index that was put here from elsewhere, newer or older, has another mark. */
const NAME = "index.level";

/**
 * What stands beside an index of journals. Level: left when the process ends with an index that has all that the journals have, and taken
 * away before anything is written again. Where it is missing (a kill, a power cut), is another index's, or there are more or fewer journals
 * than it says, every journal is looked at.
 * Rebuilding: there as long as an index may have more than its journals, or only some of what they have: it is made anew from them.
 */
class IndexMarkers {
  readonly #engine: StateEngine;
  readonly #dir: string;
  readonly #fs: FileSystem;

  constructor(engine: StateEngine, { dir, fileSystem }: { readonly dir: string; readonly fileSystem: FileSystem }) {
    this.#engine = engine;
    this.#dir = dir;
    this.#fs = fileSystem;
  }

  async isRebuilding(): Promise<boolean> {
    return (await rowAt(this.#engine, FILES, REBUILD)) !== undefined;
  }

  async beginRebuild(): Promise<void> {
    await committed(this.#engine, FILES, { puts: [{ key: REBUILD, value: "true" }] });
  }

  async endRebuild(): Promise<void> {
    await committed(this.#engine, FILES, { deletes: [REBUILD] });
  }

  /** True where the index was left level with so many journals. Durably gone on resolve. */
  async takeLevel(journals: number): Promise<boolean> {
    const left = await rowAt(this.#engine, FILES, LEVEL);
    const mark = await onStorage(() => this.#takeMark());
    if (left === undefined) return false;
    await committed(this.#engine, FILES, { deletes: [LEVEL] });
    return mark !== null && left.value === levelValue(journals, mark);
  }

  async leaveLevel(journals: number): Promise<void> {
    const mark = newId();
    await onStorage(() => this.#leaveMark(mark));
    await committed(this.#engine, FILES, { puts: [{ key: LEVEL, value: levelValue(journals, mark) }] });
  }

  async #takeMark(): Promise<string | null> {
    const opened = await JsonlLog.open(this.#fs, this.#path);
    if (opened === null) return null;
    const line = await opened.log.lineAt(0);
    await opened.log.close();
    await this.#fs.unlink(this.#path);
    await this.#fs.syncDirectory(this.#dir);
    return line?.bytes.toString("utf8").trim() ?? null;
  }

  async #leaveMark(mark: string): Promise<void> {
    const log = await JsonlLog.create(this.#fs, this.#path);
    try {
      await log.append(Buffer.from(`${mark}\n`, "utf8"));
    } finally {
      await log.close();
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  get #path(): string {
    return join(this.#dir, NAME);
  }
}

function levelValue(journals: number, mark: string): string {
  return JSON.stringify({ journals, mark });
}
