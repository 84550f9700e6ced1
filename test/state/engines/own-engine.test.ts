import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stateEngineContract } from "../../../src/testing/state-engine-contract.js";
import { MapEngine } from "./map-engine.js";

stateEngineContract("one's own, over a Map", async () => ({ engine: new MapEngine(), dispose: async () => {} }), {
  supports: { shared: "a map is one process's", durable: "a map ends with its process" },
});

test("an engine of one's own is a matter of an afternoon: fewer than 150 lines", () => {
  const lines = readFileSync(new URL("map-engine.ts", import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeLessThan(150);
});
