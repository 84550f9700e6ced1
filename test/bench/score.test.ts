import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { addScore, type Conversation, emptyScore } from "../../src/operations/evaluation-set.js";

const expected = { text: "Is vegan", quote: "vegan", category: "dietary", hard: true, match: ["vegan"], turn: 0 };
const conversation: Conversation = {
  id: "c",
  group: "correction",
  lang: "en",
  messages: ["I'm vegan"],
  expect: [{ ...expected, optional: false, scope: "standing", ask: false }],
  forbid: [],
  trip_ok: false,
};
const memory = (text: string, asked: boolean) =>
  ({ text, status: "active", strength: "hard", pending_change: asked ? { op: "end", statement: null } : null }) as unknown as Memory;

function scoreOf(...memories: readonly Memory[]) {
  const score = emptyScore();
  addScore(score, conversation, memories);
  const { kept, asked, right, unexpected } = score;
  return { kept, asked, right, unexpected };
}

test("a memory of which the guest is asked whether it has ended is asked about, right or not", () => {
  expect(scoreOf(memory("Is vegan", false), memory("Uses a cane", false))).toEqual({ kept: 1, asked: 0, right: 1, unexpected: 1 });
  expect(scoreOf(memory("Is vegan", true), memory("Uses a cane", true))).toEqual({ kept: 0, asked: 1, right: 0, unexpected: 0 });
});

test("what would hold instead, by the guest's yes, is asked about", () => {
  const before = memory("Eats fish", false);
  const pending_change = { op: "supersede", statement: { text: "Is vegan", strength: "hard" } };
  expect(scoreOf({ ...before, pending_change } as unknown as Memory)).toEqual({ kept: 0, asked: 1, right: 0, unexpected: 0 });
});

test("what is to be asked about is kept where it waits, and lost where it holds", () => {
  const asks = { ...conversation, expect: conversation.expect.map((each) => ({ ...each, ask: true })) };
  const kept = (status: Memory["status"]) => {
    const score = emptyScore();
    addScore(score, asks, [{ ...memory("Is vegan", false), status }]);
    return score.kept;
  };
  expect([kept("review"), kept("active")]).toEqual([1, 0]);
});
