import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../../src/embedding/sparse-vectors.js";
import { VectorHistory } from "../../src/vectors/history/vector-history.js";
import { describeHistoryContract } from "../contract/history.contract.js";
import { longTermContract } from "../contract/long-term.contract.js";
import { openMem0 } from "../support/mem0.js";
import { needing } from "../support/needing.js";
import { VECTOR_SERVERS, type VectorServer } from "../support/vector-servers.js";

/** Memories and history on each server, in collections of their own. */
for (const { name, program, start } of VECTOR_SERVERS)
  needing(program)(`memories and history over ${name}`, () => {
    let server: VectorServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.close());

    longTermContract(`Mem0Service over ${name}`, async (clock) => {
      const dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
      const store = await server.open();
      const collection = `test_${randomUUID().replaceAll("-", "")}`;
      const { memory } = await openMem0({ dir, store, clock, options: { collection } });
      const close = async () => {
        await memory.close();
        await store.client.deleteCollection(collection);
        await store.close();
        await rm(dir, { recursive: true });
      };
      return { memory, close };
    });

    describeHistoryContract(name, async (wrap = (inner) => inner) => {
      const store = await server.open();
      const collection = `history-${randomUUID()}`;
      const embedder = wrap(new HashingEmbedder({ dimension: 256 }));
      const history = await VectorHistory.open({ store, embedder, sparse: { documentVector, queryVector }, collection });
      return { history, close: () => store.client.deleteCollection(collection).then(() => store.close()) };
    });
  });
