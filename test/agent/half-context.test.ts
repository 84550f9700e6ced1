import { expect, test } from "vitest";
import { halfContext } from "../../src/agent/half-context.js";
import type { ModelMessage } from "../../src/ports/chat-model.js";
import { CONTEXT_HEADINGS, SUMMARY_ENDS } from "../../src/ports/context-headings.js";

const round = (text: string, size = 100): ModelMessage[] => [
  { role: "user", content: text.padEnd(size, ".") },
  { role: "assistant", content: "", tool_calls: [{ id: text, name: "look", arguments: "{}" }] },
  { role: "tool", tool_call_id: text, content: "found".padEnd(size, ".") },
  { role: "assistant", content: "Here.".padEnd(size, ".") },
];
const PROMPT: ModelMessage = { role: "system", content: "You are a concierge." };
const NOTE: ModelMessage = { role: "system", content: "It is Monday." };
const QUESTION: ModelMessage = { role: "user", content: "And now?" };

test("the oldest rounds go, whole; prompt, notes and question stay", () => {
  const messages = [PROMPT, ...round("a"), ...round("b"), ...round("c"), ...round("d"), NOTE, QUESTION];
  expect(halfContext(messages)).toEqual([PROMPT, ...round("d"), NOTE, QUESTION]);
});

test("the summary stays: it is what is left of rounds that went before", () => {
  const summary: ModelMessage = { role: "user", content: `${CONTEXT_HEADINGS.summary}\n- They booked.\n${SUMMARY_ENDS}` };
  const messages = [PROMPT, summary, ...round("a"), ...round("b"), ...round("c"), ...round("d"), QUESTION];
  expect(halfContext(messages)).toEqual([PROMPT, summary, ...round("d"), QUESTION]);
});

test("within a turn its own calls stay, and long results are cut", () => {
  const calls: ModelMessage[] = [
    { role: "assistant", content: "", tool_calls: [{ id: "x", name: "look", arguments: "{}" }] },
    { role: "tool", tool_call_id: "x", content: "r".repeat(9_000) },
  ];
  const half = halfContext([PROMPT, ...round("a"), NOTE, QUESTION, ...calls]);
  expect(half?.map(({ role }) => role)).toEqual(["system", "system", "user", "assistant", "tool"]);
  expect(half?.at(-1)?.content.length).toBeLessThan(5_000);
  expect(half?.at(-1)?.content).toMatch(/\(cut\)$/);
});

test("where nothing can be left out there is no half", () => {
  expect(halfContext([PROMPT, { role: "user", content: "x".repeat(8_000) }])).toBeNull();
});
