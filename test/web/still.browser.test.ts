import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/chat-model.js";
import { needing } from "../support/needing.js";
import { gate } from "../support/page-faults.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { lastAnswer, say } from "../support/sample-page.js";

/** Cumulative layout shift, as browsers measure it. */
const MAX_SHIFT = 0.01;
/** Each with its last words. The first is long enough to be an answer. */
const PIECES = [
  [`I looked far and wide${", and then once more".repeat(10)}, for you: `, "for you"],
  ["this is what I found.\n\n", "what I found"],
  ["1. the first\n", "the first"],
  ["2. the second\n\n", "the second"],
  ["Which one? [m1]", "Which one"],
] as const;
const USAGE = { input_tokens: 1, output_tokens: 1 };

/** Looks events up, and says its answer piece by piece, each when it is let. */
class PiecewiseModel implements ChatModel {
  readonly name = "piecewise";
  readonly standIn = false;
  gates = PIECES.map(gate);

  async *stream({ task, messages }: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    if (task !== "chat") {
      yield { type: "text", delta: "A talk" };
    } else if (messages.at(-1)?.role === "tool") {
      for (const [index, [delta]] of PIECES.entries()) {
        await this.gates[index]?.opened;
        yield { type: "text", delta };
      }
    } else {
      yield { type: "tool_call", call: { id: "c", name: "search_events", arguments: "{}" } };
    }
    yield { type: "end", reason: "stop", usage: USAGE };
  }
}

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("while an answer comes", () => {
  const model = new PiecewiseModel();
  let on: PageWorld;
  beforeAll(async () => {
    on = await openPageWorld({}, { model });
  });
  afterEach(() => on.leave());
  afterAll(() => on.close());

  /** All since it was asked for, whatever the guest did just before. */
  const shifts = (page: Page) =>
    page.evaluate(`window.shifts.map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? "")])`);
  const watch = (page: Page) =>
    page.evaluate(`window.shifts = [];
      new PerformanceObserver((list) => window.shifts.push(...list.getEntries())).observe({ type: "layout-shift" })`);

  test.each([
    [390, 844],
    [820, 1180],
    [1440, 900],
  ])("at %i × %i its cards are there before its words, and nothing moves", async (width, height) => {
    model.gates = PIECES.map(gate);
    await on.world.as(`still-${width}`).post("/v1/memories", { text: "Prefers jazz concerts", category: "genre" });
    const { page, complaints } = await on.guest(`still-${width}`, { viewport: { width, height } });
    await say(page, "Jazz concerts this month?");
    await lastAnswer(page).locator(".event").first().waitFor();
    await watch(page);
    for (const [index, [, words]] of PIECES.entries()) {
      model.gates[index]?.open();
      await lastAnswer(page).locator(".prose").getByText(words).last().waitFor();
    }
    await page.locator(".turn.assistant.complete").waitFor();
    await lastAnswer(page).locator(".because-label").waitFor();
    const seen = (await shifts(page)) as [number, ...string[]][];
    expect(
      seen.reduce((sum, [value]) => sum + value, 0),
      JSON.stringify(seen),
    ).toBeLessThanOrEqual(MAX_SHIFT);
    expect(await lastAnswer(page).textContent()).not.toContain("[m1]");
    expect(complaints).toEqual([]);
    // The measure sees what moves.
    await page.evaluate("document.querySelector('.parts').style.marginTop = '300px'");
    await expect.poll(async () => ((await shifts(page)) as unknown[]).length).toBeGreaterThan(seen.length);
  });
});
