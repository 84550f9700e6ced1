import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSessionNamesContract } from "../../contract/session-names.contract.js";
import { sessionStoreContract } from "../../contract/session-store.contract.js";
import { openFileStore } from "../../support/file-store.js";
import { UnsyncedFileSystem } from "../../support/unsynced-file-system.js";

async function onDisk(options: Omit<Parameters<typeof openFileStore>[0], "dir"> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "maitred-store-"));
  const { store } = await openFileStore({ dir, ...options });
  return {
    store,
    async dispose() {
      await store.close();
      await rm(dir, { recursive: true });
    },
  };
}

sessionStoreContract("files", () => onDisk());
sessionStoreContract("files, encrypted", () => onDisk({ encrypted: true, maxIdleJournals: 1 }));
describeSessionNamesContract("files", () => onDisk());
// The smallest cache there can be: every journal is closed and opened again between uses.
sessionStoreContract("files, one kept open", () => onDisk({ maxIdleJournals: 1 }));
sessionStoreContract("files on a disk that forgets", () => onDisk({ fileSystem: new UnsyncedFileSystem() }));
