import { expect, test, vi } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { openModels } from "../../src/compose/models.js";
import { silentLogger } from "../../src/platform/logger.js";
import { tokenCounterFor } from "../../src/platform/tokens.js";
import type { ModelMessage, ModelRequest } from "../../src/ports/agent.js";
import { isSummary } from "../../src/ports/context-headings.js";
import { contextBudget } from "../../src/turn/budget.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { HandClock, listeningConcierge, listeningLogger, summaryText, talkingModel } from "./models.js";

// Whole conversations, each turn on the disk: a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

/** What a model is given, turn by turn, by the whole product. */

const START = "2026-03-02T09:00:00Z";

/** How much of the request before a request repeats, as the bytes that a provider's cache would see. */
function sharedWith(before: ModelRequest, after: ModelRequest): number {
  const [a, b] = [JSON.stringify(before.messages), JSON.stringify(after.messages)];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  return same;
}

/** What comes before this turn's own message. */
function prefixOf(request: ModelRequest): readonly ModelMessage[] {
  return request.messages.slice(0, -1);
}

test("the prefix is the same bytes from turn to turn, and where it is not, the log names the part that changed", async () => {
  const model = listeningConcierge();
  const logger = listeningLogger();
  const clock = new HandClock(START);
  const world = await startWorld(await tempDir(), { SHORT_TERM_ROUNDS: "3" }, { model, logger, clock });
  const guest = world.as("ines");
  let session: string | undefined;
  const turns: ModelRequest[] = [];
  const say = async (message: string) => {
    const heard = model.heard.length;
    const answer = await guest.say(message, { ...(session === undefined ? {} : { session_id: session }), page_context: { at: message } });
    session = answer.session_id;
    const request = model.heard[heard];
    if (!request) throw new Error("the model was not called");
    turns.push(request);
    clock.passDays(1);
  };
  await say("Good morning.");
  await say("Any concerts next week?");
  await say("I need step-free access, and I prefer jazz.");
  await say("And what plays are on next week?");
  await say("What is on in Vienna?");
  await say("Thank you.");
  await say("Any matches this week?");
  await say("Good night.");

  const changes = logger.told.filter(({ message }) => message === "context").map(({ fields }) => fields.prefix_changed as string[]);
  // Of a window of three a block of three leaves once six rounds are there, into the summary.
  expect(changes).toEqual([[], [], [], [], [], [], ["summary", "window"], []]);
  for (const [position, request] of turns.entries()) {
    const before = turns[position - 1];
    if (!before || changes[position]?.length !== 0) continue;
    // Memories are stated in turn 3, the page and the day are others each time: nothing of it changes what was said before.
    expect(sharedWith(before, request)).toBeGreaterThanOrEqual(JSON.stringify(prefixOf(before)).length - 1);
  }
  expect(summaryText(turns[6])).toMatch(/^Earlier in this conversation \(data, not instructions\):\n- /);
  expect(
    new Set(
      turns.map(({ messages }) =>
        messages
          .filter(({ role }) => role === "system")
          .map(({ content }) => content)
          .join(),
      ),
    ),
  ).toHaveProperty("size", 1);
});

test("the context takes what is configured or what the model's window leaves, whichever is less, counted by the model's tokenizer; what is left out stays in the journal", async () => {
  const counter = await tokenCounterFor("gpt-4o");
  // Nearly a token a letter by this tokenizer, so that an estimate of a third would be far off.
  const rare = "ꙮ".repeat(60);
  const sizes: number[] = [];
  for (const [configured, contextTokens] of [
    ["4500", undefined],
    ["100000", 9_000],
  ] as const) {
    const model = talkingModel({
      name: "gpt-4o",
      answer: rare,
      other: () => "A summary.",
      ...(contextTokens === undefined ? {} : { contextTokens }),
    });
    const variables = {
      CONTEXT_MAX_TOKENS: configured,
      SUMMARY_MAX_TOKENS: "100",
      SHORT_TERM_ROUNDS: "100",
      MEM0_ENABLED: "false",
      HISTORY_BACKEND: "none",
    };
    const world = await startWorld(await tempDir(), variables, { model });
    const guest = world.as("ines");
    let session: string | undefined;
    for (let turn = 1; turn <= 8; turn += 1)
      session = (await guest.say(`${turn}: ${rare}${rare}`, session === undefined ? {} : { session_id: session })).session_id;
    const last = model.turns.at(-1)?.messages ?? [];
    const tools = counter.count(JSON.stringify(model.turns.at(-1)?.tools));
    const tokens = last.reduce((sum, { content }) => sum + 4 + counter.count(content), tools);
    const budget = Math.min(Number(configured), contextTokens === undefined ? 120_000 : Math.max(contextTokens - 8_000, contextTokens / 2));
    expect(tokens).toBeLessThanOrEqual(budget);
    sizes.push(tokens / budget);
    expect(last.at(-1)?.content.endsWith(`\n8: ${rare}${rare}`)).toBe(true);
    // Oldest first, whole rounds: what is there is the newest, user and assistant in turn.
    const said = last.filter((message) => message.role !== "system" && !isSummary(message)).map(({ role }) => role);
    expect(said).toEqual(said.map((_, index) => (index % 2 === 0 ? "user" : "assistant")));
    expect(said.length).toBeLessThan(15);
    const { body } = await guest.get<{ data: unknown[] }>(`/v1/sessions/${session}/messages?limit=200`);
    expect(body.data).toHaveLength(16);
  }
  // And the room is used.
  for (const used of sizes) expect(used).toBeGreaterThan(0.7);
}, 90_000);

test("a model's window is 128k less 8k of headroom where nothing else is said, and what MODEL_CONTEXT_TOKENS says where it is; a small one keeps half of itself free", async () => {
  const domain = { name: "none", prompt: "", tools: [] };
  const windowOf = async (variables: Record<string, string>) =>
    (await openModels(parseConfig({ OPENAI_API_KEY: "k", ...variables }), domain, silentLogger)).chat.contextTokens;
  expect(contextBudget(2_000_000, await windowOf({}))).toBe(120_000);
  expect(contextBudget(2_000_000, await windowOf({ MODEL_CONTEXT_TOKENS: "32768" }))).toBe(24_768);
  expect(contextBudget(2_000_000, await windowOf({ MODEL_CONTEXT_TOKENS: "8192" }))).toBe(4_096);
  expect(contextBudget(16_000, await windowOf({}))).toBe(16_000);
});
