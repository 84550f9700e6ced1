import { expect, test } from "vitest";
import { stablePrefix } from "./stable-prefix.js";

test("the share of each request that the one before began with, tools first, whatever else a body says", () => {
  const messages = (...texts: readonly string[]) => texts.map((content) => ({ role: "user", content }));
  const body = (...texts: readonly string[]) => ({ model: "m", messages: messages(...texts), tools: [{ name: "look" }] });
  expect(stablePrefix([])).toBe(0);
  expect(stablePrefix([body("a")])).toBe(0);
  expect(stablePrefix([body("a"), { ...body("a"), model: "other" }])).toBe(1);
  expect(stablePrefix([{ input: "a" }, { input: "a" }])).toBe(1);
  const grown = stablePrefix([body("a".repeat(1_000)), body("a".repeat(1_000), "b".repeat(1_000))]);
  expect(grown).toBeGreaterThan(0.45);
  expect(grown).toBeLessThan(0.55);
  expect(stablePrefix([body("a".repeat(1_000)), { ...body("a".repeat(1_000)), tools: [{ name: "seek" }] }])).toBeLessThan(0.1);
});
