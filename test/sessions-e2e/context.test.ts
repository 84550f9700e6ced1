import { expect, test, vi } from "vitest";
import type { ModelRequest } from "../../src/agent.js";
import { openModel } from "../../src/compose/backends.js";
import { parseConfig } from "../../src/config.js";
import { contextBudget } from "../../src/orchestrator/budget.js";
import { tokenCounterFor } from "../../src/orchestrator/tokens.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { HandClock, listeningConcierge, listeningLogger, systemText, talkingModel } from "./models.js";

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

/** The stable head of a request: its leading system messages. */
function headOf(request: ModelRequest): string {
  const end = request.messages.findIndex(({ role }) => role !== "system");
  const head = request.messages.slice(0, end);
  // In a first turn, what changes with every turn follows the head at once.
  return JSON.stringify(head.filter(({ content }) => !content.startsWith("Now: ")));
}

test("the prefix is the same bytes from turn to turn, and where it is not, the log names the part that changed", async () => {
  const model = listeningConcierge();
  const logger = listeningLogger();
  const clock = new HandClock(START);
  const world = await startWorld(await tempDir(), { SHORT_TERM_ROUNDS: "3" }, { model, logger, clock });
  const guest = world.as("ines");
  let session: string | undefined;
  const turns: { readonly head: string; readonly request: ModelRequest }[] = [];
  const say = async (message: string) => {
    const heard = model.heard.length;
    const answer = await guest.say(message, { ...(session === undefined ? {} : { session_id: session }), page_context: { at: message } });
    session = answer.session_id;
    const request = model.heard[heard];
    if (!request) throw new Error("the model was not called");
    turns.push({ head: headOf(request), request });
    clock.passDays(1);
  };
  await say("Good morning.");
  await say("Any concerts next week?");
  await say("I need step-free access, and I prefer jazz.");
  await say("And what plays are on next week?");
  await say("What is on in Vienna?");
  await say("Thank you.");
  await say("Any matches this week?");

  const changes = logger.told.filter(({ message }) => message === "context").map(({ fields }) => fields.prefix_changed as string[]);
  expect(changes).toHaveLength(turns.length);
  const named = { profile: 0, summary: 0 };
  for (const [position, { head, request }] of turns.entries()) {
    const before = turns[position - 1];
    if (!before) continue;
    const changed = changes[position] ?? [];
    expect(changed, `turn ${position + 1}`).not.toContain("prompt");
    expect(head === before.head, `turn ${position + 1}: ${changed.join()}`).toBe(changed.length === 0);
    for (const part of changed) named[part as keyof typeof named] += 1;
    // While nothing falls out of the window, the whole of what was said before is shared too.
    if (changed.length === 0 && position < 3) {
      const rounds = before.request.messages.filter(({ content }) => !content.startsWith("Now: ")).slice(0, -1);
      expect(sharedWith(before.request, request)).toBeGreaterThanOrEqual(JSON.stringify(rounds).length - 1);
    }
  }
  // Said in turn 3, the profile is another from turn 4 on; the summary when rounds fall out of the window of three.
  expect(changes[3]).toContain("profile");
  expect(named.profile).toBe(1);
  expect(named.summary).toBeGreaterThanOrEqual(1);
  expect(systemText(turns.at(-1)?.request)).toContain("Earlier in this conversation:");
  expect(changes.filter((changed) => changed.length === 0).length).toBeGreaterThanOrEqual(4);
});

test("the context takes what is configured or what the model's window leaves, whichever is less, counted by the model's tokenizer; what is left out stays in the journal", async () => {
  const counter = await tokenCounterFor("gpt-4o");
  // Nearly a token a letter by this tokenizer, so that an estimate of a third would be far off.
  const rare = "ꙮ".repeat(60);
  const sizes: number[] = [];
  for (const [configured, contextTokens] of [
    ["3000", undefined],
    ["100000", 5_000],
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
    const tokens = last.reduce((sum, { content }) => sum + 4 + counter.count(content), 0);
    const budget = Math.min(Number(configured), contextTokens === undefined ? 120_000 : Math.max(contextTokens - 8_000, contextTokens / 2));
    expect(tokens).toBeLessThanOrEqual(budget);
    sizes.push(tokens / budget);
    expect(last.at(-1)?.content).toBe(`8: ${rare}${rare}`);
    // Oldest first, whole rounds: what is there is the newest, user and assistant in turn.
    const said = last.filter(({ role }) => role !== "system").map(({ role }) => role);
    expect(said).toEqual(said.map((_, index) => (index % 2 === 0 ? "user" : "assistant")));
    expect(said.length).toBeLessThan(15);
    const { body } = await guest.get<{ data: unknown[] }>(`/v1/sessions/${session}/messages?limit=200`);
    expect(body.data).toHaveLength(16);
  }
  // And the room is used.
  for (const used of sizes) expect(used).toBeGreaterThan(0.7);
}, 90_000);

test("a model's window is 128k less 8k of headroom where nothing else is said, and what MODEL_CONTEXT_TOKENS says where it is; a small one keeps half of itself free", () => {
  const domain = { name: "none", prompt: "", tools: [] };
  const windowOf = (variables: Record<string, string>) =>
    openModel(parseConfig({ OPENAI_API_KEY: "k", ...variables }), domain).contextTokens;
  expect(contextBudget(2_000_000, windowOf({}))).toBe(120_000);
  expect(contextBudget(2_000_000, windowOf({ MODEL_CONTEXT_TOKENS: "32768" }))).toBe(24_768);
  expect(contextBudget(2_000_000, windowOf({ MODEL_CONTEXT_TOKENS: "8192" }))).toBe(4_096);
  expect(contextBudget(16_000, windowOf({}))).toBe(16_000);
});
