import { expect, test } from "vitest";
import { CONCIERGE_CATEGORIES, categoryOf } from "../../src/long-term/categories.js";
import { UTTERANCES } from "./utterances.js";

test("the labelled set holds at least 220 utterances in five languages, at most three of a pattern, a quarter held out", () => {
  const perPattern = new Map<string, number>();
  for (const { pattern } of UTTERANCES) perPattern.set(pattern, (perPattern.get(pattern) ?? 0) + 1);
  expect(UTTERANCES.length).toBeGreaterThanOrEqual(220);
  expect(Math.max(...perPattern.values())).toBeLessThanOrEqual(3);
  expect(UTTERANCES.filter((utterance) => utterance.held).length / UTTERANCES.length).toBeGreaterThanOrEqual(0.25);
  expect(new Set(UTTERANCES.map((utterance) => utterance.lang)).size).toBe(5);
  expect(new Set(UTTERANCES.map((utterance) => utterance.text)).size).toBe(UTTERANCES.length);
});

test("at least a quarter of it says nothing to be remembered, and every label is a known category", () => {
  const silent = UTTERANCES.filter((utterance) => utterance.expect.length === 0);
  expect(silent.length / UTTERANCES.length).toBeGreaterThanOrEqual(0.25);
  for (const { category } of UTTERANCES.flatMap((utterance) => utterance.expect))
    expect(categoryOf(CONCIERGE_CATEGORIES, category)?.name).toBe(category);
});
