import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { type RecallPorts, recallFor } from "../../src/turn/recall.js";

/** What is looked for, for a message. */
async function lookedFor(text: string): Promise<readonly string[]> {
  const asked: string[] = [];
  const ports: RecallPorts = {
    enabled: true,
    longTerm: {
      recall: async (_owner, request) => {
        asked.push(request.text);
        return { status: "empty", memories: [] };
      },
    },
    turns: null,
    history: {
      search: async (_owner, { query }) => {
        asked.push(query);
        return [];
      },
    },
    looksBack: () => true,
    deadlineMs: 10_000,
    historyLimit: 5,
  };
  const turn = { owner: ownerOf("test", "ada"), sessionId: "s", text, now: new Date(0), incognito: false, inWindow: new Set<string>() };
  await recallFor(ports, { ...turn, before: null, begins: false, signal: new AbortController().signal });
  return asked;
}

test("a message is looked for as it stands; of a long one its beginning and its end", async () => {
  const short = "x".repeat(2_000);
  expect(await lookedFor(short)).toEqual([short, short]);
  const [memories, history] = await lookedFor(`Dear concierge, ${"and so on ".repeat(800)} which wine did I like?`);
  expect(memories).toMatch(/^Dear concierge, .* … .* which wine did I like\?$/);
  expect(memories?.length).toBeLessThanOrEqual(2_003);
  expect(history).toBe(memories);
});

test("no half of a character is looked for", async () => {
  const [text = ""] = await lookedFor(`${"a".repeat(999)}${"🍷".repeat(2_000)}a`);
  expect(/[\uD800-\uDFFF]/u.test(text)).toBe(false);
});
