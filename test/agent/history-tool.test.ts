import { describe, expect, test } from "vitest";
import { historyTool } from "../../src/agent/tools/history-tool.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { ToolContext } from "../../src/ports/agent.js";
import type { HistorySearch } from "../../src/ports/history.js";
import type { HistoryHit } from "../../src/ports/resources.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const ANN = ownerOf("default", "ann");

describe("search_history", () => {
  const hit: HistoryHit = {
    session_id: "s",
    turn: 2,
    id: "m2",
    message_id: "their-own-id",
    role: "user",
    name: null,
    content: "We stayed at the Harbour House.",
    created_at: "2025-11-02T18:00:00.000Z",
    score: 1,
  };
  async function search(input: object, more: Partial<ToolContext> = {}) {
    const asked: HistorySearch[] = [];
    const tool = historyTool({
      search: async (owner, query) => {
        expect(owner).toBe(ANN);
        asked.push(query);
        return [hit];
      },
    });
    const context = {
      owner: ANN,
      sessionId: "s",
      turn: 1,
      callId: "c",
      userMessage: { id: "m", content: "" },
      now: NOW,
      timeZone: "UTC",
      signal: new AbortController().signal,
      ...more,
    };
    return { result: await tool.run(tool.parameters.parse(input), context), asked };
  }

  test("cites its finds as elements and sources, with the day, and the year where it is another", async () => {
    const { result } = await search({ query: "where did we stay" });
    expect(result.elements).toEqual([
      { id: "message:m2", type: "text", name: "Ref #1 — 2 November 2025", content: "We stayed at the Harbour House.", display: "side" },
    ]);
    expect(result.sources).toEqual([{ id: "m2", title: "Ref #1 — 2 November 2025", type: "message" }]);
  });
  test("numbers its finds on through a turn", async () => {
    const tool = historyTool({ search: async () => [hit] });
    const context = { owner: ANN, sessionId: "s", turn: 1, callId: "c", timeZone: "UTC", now: NOW, signal: new AbortController().signal };
    const userMessage = { id: "m", content: "" };
    const name = async (message: { id: string; content: string }) =>
      (await tool.run({ query: "stay" }, { ...context, userMessage: message })).elements?.[0]?.name;
    expect([await name(userMessage), await name(userMessage), await name({ id: "n", content: "" })]).toEqual([
      "Ref #1 — 2 November 2025",
      "Ref #2 — 2 November 2025",
      "Ref #1 — 2 November 2025",
    ]);
  });
  test("leaves out what the window holds and what was forgotten; days are inclusive", async () => {
    const hidden = new Set(["m1"]);
    const { asked } = await search({ query: "stay", from: "2025-11-01", to: "2025-11-30", role: "user" }, { hiddenMessageIds: hidden });
    expect(asked[0]).toMatchObject({
      excludeMessageIds: hidden,
      from: "2025-11-01T00:00:00.000Z",
      to: "2025-12-01T00:00:00.000Z",
      role: "user",
    });
  });
  test("where all that fits is shown already, nothing found is not told as nothing said", async () => {
    const tool = historyTool({ search: async () => [] });
    const context = { owner: ANN, sessionId: "s", turn: 1, callId: "c", timeZone: "UTC", now: NOW, signal: new AbortController().signal };
    const found = async (shown: readonly string[]) =>
      (await tool.run({ query: "stay" }, { ...context, userMessage: { id: "m", content: "" }, hiddenMessageIds: new Set(shown) })).output;
    expect(await found(["m1"])).toEqual({ found: [], note: expect.stringContaining("what your messages show already") });
    expect(await found([])).toEqual({ found: [] });
  });
  test("not in an incognito session", async () => {
    await expect(search({ query: "stay" }, { memory: "off" })).rejects.toMatchObject({ code: "HISTORY_DISABLED" });
  });
});
