import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalQdrant } from "../../../src/vectors/local/local-qdrant.js";
import { longTermContract } from "../../contract/long-term.contract.js";
import { openMem0 } from "../../support/mem0.js";

for (const [name, file] of [
  ["Mem0Service over LocalQdrant", "vectors.db"],
  ["Mem0Service over LocalQdrant in memory", null],
] as const)
  longTermContract(name, async (clock) => {
    const dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    const store = await openLocalQdrant({ path: file === null ? ":memory:" : join(dir, file) });
    const { memory } = await openMem0({ dir, store, clock });
    return {
      memory,
      close: async () => {
        await memory.close();
        await store.close();
        await rm(dir, { recursive: true });
      },
    };
  });
