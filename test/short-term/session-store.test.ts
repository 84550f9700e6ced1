import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/platform/logger.js";
import { openFileSessionStore } from "../../src/stores/files/file-session-store.js";
import { openMemorySessionStore } from "../../src/stores/memory/in-memory.js";
import { sessionStoreContract } from "../../src/testing/session-store-contract.js";
import { describeSessionNamesContract } from "../contract/session-names.contract.js";
import { UnsyncedFileSystem } from "../support/unsynced-file-system.js";

async function onDisk(options: Partial<Parameters<typeof openFileSessionStore>[0]> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "maitred-store-"));
  const store = await openFileSessionStore({ dir, logger: silentLogger, ...options });
  return {
    store,
    async dispose() {
      await store.close();
      await rm(dir, { recursive: true });
    },
  };
}

sessionStoreContract("files", () => onDisk());
describeSessionNamesContract("files", () => onDisk());
// The smallest cache there can be: every journal is closed and opened again between uses.
sessionStoreContract("files, one kept open", () => onDisk({ maxIdleJournals: 1 }));
sessionStoreContract("files on a disk that forgets", () => onDisk({ fileSystem: new UnsyncedFileSystem() }));
async function inMemory() {
  const store = await openMemorySessionStore();
  return { store, dispose: () => store.close() };
}
sessionStoreContract("memory", inMemory);
describeSessionNamesContract("memory", inMemory);
