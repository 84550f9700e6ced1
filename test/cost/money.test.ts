import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { addTaskTokens, type TaskTokens, totalCost } from "../../src/domain/tokens.js";
import { PrometheusMetrics } from "../../src/telemetry/prometheus-metrics.js";
import { openWorld, startWorld, tempDir } from "../e2e/world.js";
import { TestClock } from "../support/session-world.js";
import { TaskModel } from "../support/task-model.js";

/** A call of {@link TaskModel} (60 tokens of input, 40 cached ones, 10 of output) then costs 60 + 20 + 100 millionths. */
const PRICES = { "by task": { input: 1, cached_input: 0.5, output: 10, currency: "EUR" } };
const CALL = 0.000_18;

async function pricesFile(prices: unknown): Promise<{ readonly MODEL_PRICES_FILE: string }> {
  const path = join(await tempDir(), "prices.json");
  await writeFile(path, typeof prices === "string" ? prices : JSON.stringify(prices));
  return { MODEL_PRICES_FILE: path };
}

test("[cost-seen-and-bounded] an answer, a replay of it and its session tell what they cost, the same after a restart", async () => {
  const dir = await tempDir();
  const variables = await pricesFile(PRICES);
  const first = await openWorld(dir, variables, { model: new TaskModel() });
  onTestFinished(() => first.application.close({ drainMs: 0 }));
  const key = { "Idempotency-Key": "k1" };
  const request = { message: "What is on at the opera on Friday?" };
  const answer = await first.as("ada").post<{ session_id: string; usage: object }>("/v1/chat", request, key);
  expect(answer.body.usage).toMatchObject({ calls: 1, cost: CALL });
  expect((await first.as("ada").post("/v1/chat", request, key)).text).toBe(answer.text);
  await first.application.parts.worker.drain(20_000);
  await first.stop();
  const world = await startWorld(dir, variables, { model: new TaskModel() });
  const { body } = await world.as("ada").get<{ usage: Record<string, { cost: number }> }>(`/v1/sessions/${answer.body.session_id}`);
  // The answer, its reading and the session's title.
  expect(body.usage.cost).toBeCloseTo(3 * CALL, 12);
  expect(body.usage.extraction?.cost).toBeCloseTo(CALL, 12);
});

test("[cost-seen-and-bounded] what has no price costs null, never 0, and is named at the start; the stand-in costs nothing", async () => {
  const variables = await pricesFile({ another: { input: 1, output: 1 } });
  const warned: unknown[] = [];
  const logger = { debug() {}, info() {}, warn: (about: object, text: string) => void warned.push([about, text]), error() {} };
  const unknown = (await startWorld(await tempDir(), variables, { model: new TaskModel(), logger })).as("ada");
  expect(warned).toContainEqual([{ models: ["by task"] }, expect.stringContaining("has no price")]);
  const { session_id, usage } = await unknown.say("What is on at the opera on Friday?");
  expect(usage).toMatchObject({ cost: null });
  expect((await unknown.get<{ usage: object }>(`/v1/sessions/${session_id}`)).body.usage).toMatchObject({ cost: null });
  const free = (await startWorld(await tempDir(), variables)).as("ada");
  expect((await free.say("What is on at the opera on Friday?")).usage).toMatchObject({ cost: 0 });
});

test("one unknown price makes the sum unknown; no call costs nothing", () => {
  const call = { calls: 1, input: 1, cached: 0, output: 0 };
  const none: TaskTokens = { ...call, calls: 0, input: 0 };
  expect(addTaskTokens({ ...call, cost: 0.1 }, { ...call, cost: 0.2 })).toMatchObject({ calls: 2, cost: 0.3 });
  expect(addTaskTokens({ ...call, cost: 0.1 }, call)).not.toHaveProperty("cost");
  expect(addTaskTokens({ ...call, cost: 0.1 }, none)).toMatchObject({ cost: 0.1 });
  expect([totalCost({}), totalCost({ chat: { ...call, cost: 1 } }), totalCost({ chat: { ...call, cost: 1 }, title: call })]).toEqual([
    0,
    1,
    null,
  ]);
});

test("[cost-seen-and-bounded] past a tenant's day in money chat answers 429, over a restart too; another tenant has its own", async () => {
  const clock = new TestClock("2026-03-01T09:00:00.000Z");
  const dir = await tempDir();
  const variables = { ...(await pricesFile(PRICES)), COST_HARD_LIMIT_MONEY: "0.0005" };
  const first = await openWorld(dir, variables, { model: new TaskModel(), clock });
  onTestFinished(() => first.application.close({ drainMs: 0 }));
  await first.as("ada").say("What is on at the opera on Friday?");
  await first.application.parts.worker.drain(20_000);
  const refused = await first.as("ada").post<{ code: string; detail: string }>("/v1/chat", { message: "And on Saturday, perhaps?" });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ code: "COST_LIMIT_REACHED", detail: expect.stringContaining("0.0005 EUR") });
  const ready = await first.as("ada").get<{ parts: Record<string, object> }>("/readyz");
  expect(ready.body.parts.cost).toMatchObject({ detail: expect.stringContaining("past COST_HARD_LIMIT_MONEY") });
  await first.stop();
  const again = await openWorld(dir, variables, { model: new TaskModel(), clock });
  onTestFinished(() => again.application.close({ drainMs: 0 }));
  const chat = (owner: ReturnType<typeof ownerOf>) => again.application.chat.chat({ owner, message: "Good evening!" });
  await expect(chat(ownerOf("default", "ben"))).rejects.toMatchObject({ code: "COST_LIMIT_REACHED" });
  expect((await chat(ownerOf("acme", "ada"))).message.content).toBe("Very well.");
  clock.days(1);
  expect((await chat(ownerOf("default", "ben"))).message.content).toBe("Very well.");
});

test("[cost-seen-and-bounded] metrics tell it by model and tenant, so many of each", async () => {
  const metrics = new PrometheusMetrics();
  for (let tenant = 0; tenant < 60; tenant++) metrics.costSpent({ model: "big", tenant: `tenant-${tenant}`, cost: 0.5 });
  for (let model = 0; model < 30; model++) metrics.costSpent({ model: `model-${model}`, tenant: null, cost: null });
  const lines = (await metrics.text()).split("\n");
  expect(lines).toContain('maitred_cost_total{model="big",tenant="tenant-7"} 0.5');
  expect(lines).toContain('maitred_cost_total{model="big",tenant="other"} 5');
  expect(lines).toContain('maitred_unpriced_calls_total{model="other"} 11');
});

describe("prices that are wrong stop the start, and say where", () => {
  test.each([
    ["is not JSON", "{", "/MODEL_PRICES_FILE", /not JSON/],
    ["is a list", "[]", "/MODEL_PRICES_FILE", /prices by model/],
    ["has a price that is none", { a: 3 }, "/MODEL_PRICES_FILE/a", /an object of `input`/],
    ["lacks the output", { a: { input: 1 } }, "/MODEL_PRICES_FILE/a/output", /a number from 0/],
    ["has text for a number", { a: { input: "1", output: 1 } }, "/MODEL_PRICES_FILE/a/input", /a number from 0/],
    ["has less than nothing", { a: { input: -1, output: 1 } }, "/MODEL_PRICES_FILE/a/input", /a number from 0/],
    ["has a misspelt field", { a: { input: 1, output: 1, cached: 1 } }, "/MODEL_PRICES_FILE/a", /cached/],
    ["has a currency that is none", { a: { input: 1, output: 1, currency: "euro" } }, "/MODEL_PRICES_FILE/a/currency", /ISO 4217/],
    [
      "has two currencies",
      { a: { input: 1, output: 1 }, b: { input: 1, output: 1, currency: "EUR" } },
      "/MODEL_PRICES_FILE",
      /one currency/,
    ],
  ])("a file that %s", async (_, prices, pointer, detail) => {
    await expect(startWorld(await tempDir(), await pricesFile(prices))).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      errors: [{ pointer, detail: expect.stringMatching(detail) }],
    });
  });

  test("a limit in money without prices", async () => {
    const starting = startWorld(await tempDir(), { COST_SOFT_LIMIT_MONEY: "5" });
    await expect(starting).rejects.toMatchObject({ code: "INVALID_CONFIG", message: expect.stringContaining("COST_SOFT_LIMIT_MONEY") });
  });
});
