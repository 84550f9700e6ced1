import { expect, test } from "vitest";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { agreedInstallation } from "../../src/state/installation.js";
import { FaultyEngine } from "./faulty-engine.js";

test("all processes on an engine are the installation that the first of them came with", async () => {
  const engine = new MemoryEngine();
  const agreed = await Promise.all(["a", "b", "c", "d"].map((own) => agreedInstallation(engine, own)));
  expect(new Set(agreed).size).toBe(1);
  expect(["a", "b", "c", "d"]).toContain(agreed[0]);
  expect(await agreedInstallation(engine, "later")).toBe(agreed[0]);
});

test("whose reply was lost is the installation that it wrote", async () => {
  const engine = new FaultyEngine(new MemoryEngine());
  engine.loseReply(1);
  expect(await agreedInstallation(engine, "a")).toBe("a");
  expect(await agreedInstallation(engine, "b")).toBe("a");
});
