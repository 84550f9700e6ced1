import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { StateInUse } from "../operations/copy-in-use.js";
import { readOnlyFileSystem } from "../platform/file-system.js";
import type { Keyring } from "../state/encryption/keyring.js";
import { openCopy } from "../state/encryption/open-encrypted.js";
import { sealedJournals } from "../state/encryption/sealed-journals.js";
import { FileMemoryService } from "../state/jsonl/file-memory-service.js";
import { catchUpIndex } from "../state/jsonl/index-catch-up.js";
import { JournalDirectory } from "../state/jsonl/journal-directory.js";
import { journalsAsOf } from "../state/jsonl/journals-as-of.js";
import { STATE_FILE } from "../state/jsonl/state-file.js";
import { engineSessionIndex } from "../state/sessions/sessions.js";
import { openSqlite } from "./engine.js";
import type { Wiring } from "./wiring.js";

/**
 * A storage directory as it is at one moment, while a server may be writing to it; nothing in it is changed. Journals end where the state
 * knows them, but never before where they ended when this began.
 */
export async function directoryInUse(wiring: Wiring, snapshot: string, keyring: Keyring | null): Promise<StateInUse> {
  const { dir, clock, logger } = wiring;
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
  const index = engineSessionIndex(engine, { clock, readJournal: (owner, id, fromSeq) => store.read(owner, id, { fromSeq, ...missed }) });
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
