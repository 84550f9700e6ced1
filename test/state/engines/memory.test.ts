import { expect, test } from "vitest";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { stateEngineContract } from "../../../src/testing/state-engine-contract.js";

stateEngineContract(
  "memory",
  async () => {
    const engine = new MemoryEngine();
    return { engine, dispose: () => engine.close() };
  },
  { supports: { shared: "a map is one process's", durable: "a map ends with its process" } },
);

test("leases are measured by the clock that is given", async () => {
  let nowMs = 1_000;
  const engine = new MemoryEngine({ clock: { now: () => new Date(nowMs) } });
  await engine.commit("o:a", { id: "1", dueAtMs: 5 });
  expect((await engine.read("o:a", {})).nowMs).toBe(1_000);
  expect(await engine.due(5, 1, 100)).toHaveLength(1);
  nowMs = 1_099;
  expect(await engine.due(5, 1, 100)).toEqual([]);
  nowMs = 1_100;
  expect(await engine.due(5, 1, 100)).toHaveLength(1);
});
