import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { longTermContract } from "../../src/testing/long-term-contract.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { MemoryRouter } from "../../src/vectors/mem0/collections.js";
import { openMem0 } from "../support/mem0.js";

const separate = new MemoryRouter({
  own: { episodic: "memory_episodic", constraint: "memory_constraint", procedural: "memory_procedural" },
});

for (const [name, router, file] of [
  ["Mem0Service over LocalQdrant", new MemoryRouter(), "vectors.db"],
  ["Mem0Service over LocalQdrant in memory, types in collections of their own", separate, null],
] as const)
  longTermContract(name, async (clock) => {
    const dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    const store = await openLocalQdrant({ path: file === null ? ":memory:" : join(dir, file) });
    const { memory } = await openMem0({ dir, store, clock, options: { router } });
    return {
      memory,
      close: async () => {
        await memory.close();
        await store.close();
        await rm(dir, { recursive: true });
      },
    };
  });
