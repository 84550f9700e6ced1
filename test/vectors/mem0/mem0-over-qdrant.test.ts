import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { longTermContract } from "../../contract/long-term.contract.js";
import { openMem0 } from "../../support/mem0.js";
import { openQdrantServer, QDRANT_SERVER } from "../../support/qdrant-server.js";

/** In a collection of its own, which is removed. */
longTermContract(`Mem0Service over ${QDRANT_SERVER}`, async (clock) => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
  const collection = `maitred_test_${randomUUID().replaceAll("-", "")}`;
  const store = await openQdrantServer();
  const { memory } = await openMem0({ dir, store, clock, options: { collection } });
  return {
    memory,
    close: async () => {
      try {
        await memory.close();
      } finally {
        await store.client.deleteCollection(collection).finally(() => store.close());
        await rm(dir, { recursive: true });
      }
    },
  };
});
