import { expect, test, vi } from "vitest";
import type { ChatModel, ModelRequest } from "../../src/ports/agent.js";
import { isSummary, messageIn } from "../../src/ports/context-headings.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { SLOW } from "../support/projects.js";
import { stablePrefix } from "../support/stable-prefix.js";
import { HandClock } from "./models.js";

// Two hundred turns, each on the disk: a busy machine takes its time.
vi.setConfig({ testTimeout: 240_000 });

/** Several blocks of the window; and many. */
const CONVERSATIONS = [
  { rounds: 60, tags: [] },
  { rounds: 200, tags: [SLOW] },
];
const DAY = 86_400_000;

/** Searches in every other turn, answers in a few lines, and writes summaries that are all different. */
function searching(): ChatModel & { readonly turns: ModelRequest[] } {
  const turns: ModelRequest[] = [];
  let summaries = 0;
  return {
    name: "gpt-4o-mini",
    standIn: false,
    turns,
    async *stream(request) {
      const said = (text: string) => ({ type: "text" as const, delta: text });
      const usage = { input_tokens: 0, output_tokens: 0 };
      const fresh = request.messages.at(-1)?.role === "user";
      if (request.task === "summary") {
        summaries += 1;
        yield said(`Summary ${summaries}. ${"They spoke of concerts, and of seats near the stage. ".repeat(6)}`);
      } else if (request.task !== undefined && request.task !== "chat") yield said('{"operations":[]}');
      else {
        turns.push({ ...request, messages: [...request.messages] });
        if (fresh && turns.length % 3 === 1) {
          yield { type: "tool_call", call: { id: `call_${turns.length}`, name: "search_events", arguments: '{"kind":"music"}' } };
          yield { type: "end", reason: "tool_calls", usage };
          return;
        }
        yield said(`${turns.length}: ${"There is something on Saturday, at eight, from 25 euros. ".repeat(3)}`);
      }
      yield { type: "end", reason: "stop", usage };
    },
  };
}

for (const { rounds, tags } of CONVERSATIONS)
  test(`over a conversation of ${rounds} rounds at least 85 % of a request is what the request before began with, and no round is ever in neither window nor summary`, {
    tags,
  }, async () => {
    const model = searching();
    const clock = new HandClock("2026-03-02T09:00:00Z");
    const world = await startWorld(await tempDir(), {}, { model, clock });
    const guest = world.as("ines");
    for (const text of ["Prefers jazz concerts", "Prefers aisle seats", "Usually books 2 tickets"])
      await guest.post("/v1/memories", { text, category: "other" });
    const first = await guest.say("Round 1: what is on?");
    for (let turn = 2; turn <= rounds; turn += 1) {
      clock.set(new Date(Date.parse("2026-03-02T09:00:00Z") + Math.floor(turn / 20) * DAY + turn * 60_000).toISOString());
      await guest.say(`Round ${turn}: and what else is on, say, near the river?`, { session_id: first.session_id });
    }

    expect(stablePrefix(model.turns)).toBeGreaterThanOrEqual(0.85);

    const windows = model.turns.map((request) =>
      request.messages.slice(0, -1).flatMap(({ role, content }) => (role === "user" ? (/^Round (\d+):/.exec(content)?.[1] ?? []) : [])),
    );
    // From ten rounds on never fewer than ten, and a block at most more.
    for (const [index, shown] of windows.entries()) {
      const said = Number(
        /Round (\d+):/.exec(messageIn(model.turns[index]?.messages.findLast(({ role }) => role === "user")?.content ?? ""))?.[1],
      );
      const before = shown.map(Number).filter((turn) => turn !== said);
      expect(before.length, `turn ${said}`).toBeGreaterThanOrEqual(Math.min(10, said - 1));
      expect(before.length, `turn ${said}`).toBeLessThan(30);
      expect(before.at(-1) ?? 0).toBe(said - 1);
      if ((before[0] ?? 1) > 1) expect(model.turns[index]?.messages.some(isSummary), `turn ${said}`).toBe(true);
    }
  });
