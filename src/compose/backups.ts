import { rm, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { BACKUP_STATE, type Backups, beginBackup, countsOf, endBackup, soundBackup } from "../operations/backup.js";
import { copyInUse, type StateInUse } from "../operations/copy-in-use.js";
import { leftBehind, migrate } from "../operations/migrate.js";
import { AppError } from "../platform/errors.js";
import { readOnlyFileSystem } from "../platform/file-system.js";
import { newId } from "../platform/ids.js";
import { type Logger, silentLogger } from "../platform/logger.js";
import { VERSION } from "../platform/version.js";
import type { MovableState } from "../ports/transfer.js";
import type { Keyring } from "../state/encryption/keyring.js";
import { openCopy } from "../state/encryption/open-encrypted.js";
import { sealedJournals } from "../state/encryption/sealed-journals.js";
import { agreedInstallation, installationId } from "../state/installation.js";
import { FileMemoryService } from "../state/jsonl/file-memory-service.js";
import { catchUpIndex } from "../state/jsonl/index-catch-up.js";
import { JournalDirectory } from "../state/jsonl/journal-directory.js";
import { journalsAsOf } from "../state/jsonl/journal-files.js";
import { requireNotFormer, STATE_FILE } from "../state/jsonl/state-file.js";
import { engineSessionIndex } from "../state/sessions/sessions.js";
import type { Config } from "./config.js";
import { encrypted, keyringInUse } from "./encryption.js";
import { openEngine, openSqlite } from "./engine.js";
import { openState, stateInRows } from "./migration.js";
import { type Wiring, wired } from "./wiring.js";

/** What was read of {@link STATE_FILE} in a round; removed behind it. */
const SNAPSHOT = "snapshot.tmp";

/** Backups of what the configuration names. @throws INVALID_REQUEST for what nothing but its own process holds */
export function backupsOf(config: Config, { logger = silentLogger }: { readonly logger?: Logger } = {}): Backups {
  const backend = config.SHORT_TERM_BACKEND;
  if (backend === "memory")
    throw new AppError("INVALID_REQUEST", {
      detail: "With SHORT_TERM_BACKEND=memory what is kept is kept in the server's process alone.",
      hint: "Set another SHORT_TERM_BACKEND.",
    });
  const isDirectory = backend === "file";
  return {
    async backUp(to, { signal, onProgress }) {
      const target = resolve(to);
      const about = await wired(config, { logger }, async (wiring) => {
        const { dir, clock, fileSystem, closing } = wiring;
        const at = clock.now().toISOString();
        if (isDirectory) await requireState(dir, target);
        await beginBackup(target);
        const { open, keyring } = isDirectory ? await openDirectory(wiring, join(target, SNAPSHOT)) : await engineInUse(wiring);
        const copy = await openBackup(wiring, target, keyring);
        closing(target, () => rm(join(target, SNAPSHOT), { force: true }));
        const damage = await copyInUse(open, copy, { signal, onProgress });
        if (isDirectory) await agreedInstallation(copy.engine, await installationId(dir, readOnlyFileSystem(fileSystem)));
        await copy.engine.scrub?.();
        const holds = await countsOf(copy, signal);
        return { at, maitred: VERSION, holds, left_behind: leftBehind(damage), ...(keyring && { encrypted: true as const }) };
      });
      return endBackup(target, about);
    },
    async restore(from, { signal, onProgress }) {
      const { at } = await soundBackup(resolve(from));
      return wired(config, { logger }, async (wiring) => {
        const { dir, clock, fileSystem } = wiring;
        const target = await openState(wiring, backend);
        const source = await openBackup(wiring, resolve(from), target.keyring);
        const options = { signal: AbortSignal.any([signal, target.lost]), now: clock.now(), onProgress };
        const report = await migrate(source, target.state, options);
        // Vectors in a Qdrant server stay this installation's.
        if (isDirectory) await installationId(dir, fileSystem, await agreedInstallation(target.state.engine, newId()));
        return { at, ...report };
      });
    },
  };
}

/** Encrypted under the keys of what it is a copy of, which are not in it. */
async function openBackup(wiring: Wiring, dir: string, keyring: Keyring | null): Promise<MovableState> {
  const stored = wiring.closing(await openSqlite(wiring, join(dir, BACKUP_STATE)), (it) => it.close());
  return stateInRows(wiring, await openCopy(stored, keyring), dir).state;
}

interface InUse {
  readonly open: () => Promise<StateInUse>;
  readonly keyring: Keyring | null;
}

async function openDirectory(wiring: Wiring, snapshot: string): Promise<InUse> {
  const keyring = await keyringInUse(wiring);
  return { keyring, open: () => directoryInUse(wiring, snapshot, keyring) };
}

/** What holds it goes on writing to it: it has no moment of its own. */
async function engineInUse(wiring: Wiring): Promise<InUse> {
  const stored = wiring.closing(await openEngine(wiring), (it) => it.close());
  const { engine, keyring } = await encrypted(wiring, stored, false);
  const { state } = stateInRows(wiring, engine, engine.manifest.name);
  return { keyring, open: async () => ({ ...state, journalId: async () => null, close: async () => {} }) };
}

/** @throws INVALID_CONFIG for a directory of an older version, INVALID_REQUEST */
async function requireState(dir: string, target: string): Promise<void> {
  await requireNotFormer(dir);
  const way = relative(dir, target);
  if (way === "" || !(way.startsWith("..") || way.startsWith("/")))
    throw new AppError("INVALID_REQUEST", {
      detail: "The backup would lie in the storage directory.",
      hint: "Name a directory elsewhere.",
    });
  if ((await stat(join(dir, STATE_FILE)).catch(() => null)) === null)
    throw new AppError("INVALID_REQUEST", {
      detail: `${dir} holds no ${STATE_FILE}: no server was started on it, or the file is lost.`,
      hint: "Set MEMORY_STORAGE_DIR; a start makes of the journals there what it can.",
    });
}

/**
 * A storage directory as it is at one moment, while a server may be writing to it; nothing in it is changed. Journals end where the state
 * knows them, but never before where they ended when this began.
 */
export async function directoryInUse(wiring: Wiring, snapshot: string, keyring: Keyring | null): Promise<StateInUse> {
  const { dir, logger } = wiring;
  const fileSystem = readOnlyFileSystem(wiring.fileSystem);
  const seals = keyring && sealedJournals(keyring);
  const openJournals = () => FileMemoryService.open({ dir, fileSystem, logger, seals });
  const ends = new Map<string, number>();
  const before = await openJournals();
  for await (const { sessionId, lastSeq } of before.list()) ends.set(sessionId, lastSeq);
  await before.close();
  await rm(snapshot, { force: true });
  (await import("../platform/sqlite.js")).copyStateFile(join(dir, STATE_FILE), snapshot);
  const stored = await openSqlite(wiring, snapshot);
  const engine = await openCopy(stored, keyring);
  const files = await openJournals();
  const store = journalsAsOf(files, async (owner, id) => Math.max(ends.get(id) ?? 0, await index.indexedSeq(owner, id)));
  const missed = { includeRewound: true, includeTorn: true };
  const index = engineSessionIndex(engine, { readJournal: (owner, id, fromSeq) => store.read(owner, id, { fromSeq, ...missed }) });
  await catchUpIndex({ journal: store, index });
  const names = new JournalDirectory(dir, fileSystem);
  const journalId = async (id: string) =>
    (await fileSystem.identity(names.path(id, "journal"))) ?? fileSystem.identity(names.path(id, "packed"));
  const close = async () => {
    await files.close();
    await engine.close();
  };
  return { name: dir, engine, journals: { keptIn: "files", store }, journalId, close };
}
