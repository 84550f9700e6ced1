import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { longTermContract } from "../../contract/long-term.contract.js";
import { openMem0 } from "../../support/mem0.js";
import { VectorDouble } from "../../support/vector-double.js";

longTermContract("Mem0Service over a strict double of Qdrant", async (clock) => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
  const store = new VectorDouble().store();
  const { memory } = await openMem0({ dir, store, clock });
  return {
    memory,
    close: async () => {
      await memory.close();
      await rm(dir, { recursive: true });
    },
  };
});
