import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/platform/logger.js";
import { openFileSessionStore } from "../../src/short-term/file-session-store.js";
import { openMemorySessionStore } from "../../src/short-term/in-memory.js";
import { describeSessionStoreContract } from "../contract/session-store.contract.js";
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

describeSessionStoreContract("files", () => onDisk());
// The smallest cache there can be: every journal is closed and opened again between uses.
describeSessionStoreContract("files, one kept open", () => onDisk({ maxIdleJournals: 1 }));
describeSessionStoreContract("files on a disk that forgets", () => onDisk({ fileSystem: new UnsyncedFileSystem() }));
describeSessionStoreContract("memory", async () => {
  const store = await openMemorySessionStore();
  return { store, dispose: () => store.close() };
});
