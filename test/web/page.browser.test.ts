import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { listen, type RunningServer } from "../../src/http/server.js";
import { AppError } from "../../src/platform/errors.js";
import { launchChromium } from "../support/chromium.js";
import { appOver } from "../support/http-client.js";
import { needing } from "../support/needing.js";
import { type SampleApplication, type SampleReply, sampleApplication } from "../support/sample-application.js";
import { MEMORY_ID, sampleMemory } from "../support/samples.js";

const ATTACK =
  '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[x](javascript:window.hacked=1)<svg/onload=window.hacked=1><a href="data:text/html,x">y</a>';

const REPLIES: Record<string, SampleReply> = {
  plain: { content: "**Bold** and [a link](https://example.org/)." },
  attack: {
    content: ATTACK,
    elements: [
      { id: "e1", type: "text", name: ATTACK, content: ATTACK, display: "side" },
      { id: "e2", type: "event_card", name: ATTACK, content: JSON.stringify({ venue: ATTACK, day: ATTACK }), display: "inline" },
    ],
    steps: [{ id: "s", type: "tool_call", name: ATTACK, input: ATTACK, output: ATTACK, duration_ms: 1, error: null }],
    recalled: [
      {
        id: MEMORY_ID,
        text: ATTACK,
        category: ATTACK,
        strength: "hard",
        subject: `companion:${ATTACK}`,
        score: 1,
        source: null,
        created_at: "2026-03-02T10:00:00Z",
      },
    ],
    learns: ATTACK,
  },
  image: { content: "![look](https://example.org/p.png?words=secret)" },
  slow: { content: "From this conversation alone.", status: "degraded" },
  fail: { content: "It worked the second time.", failsOnce: new AppError("MODEL_TIMEOUT") },
  learn: { content: "Gladly.", learns: "Likes the balcony" },
  wait: { content: "Is that so?", waits: "No peanuts" },
  many: {
    content: "A long list.",
    elements: [1, 2, 3, 3, 4, 5, 6].map((n) => ({
      id: `e${n}`,
      type: "event_card",
      name: `Evening ${n}`,
      content: '{"venue":"Hall"}',
      display: "inline",
    })),
  },
  quote: {
    content: "Shall I book it?",
    elements: [
      { status: "needs_confirmation", token: "00112233" },
      { status: "stopped", token: "44556677" },
    ].map((data, n) => ({
      id: `quote:${n}`,
      type: "booking_quote",
      name: `Evening ${n}`,
      content: JSON.stringify({ ...data, quantity: 2, section: "Stalls", total: "€40" }),
      display: "inline",
    })),
  },
  recall: {
    content: "As you like it.",
    recalled: [
      {
        id: MEMORY_ID,
        text: "Likes the quiet rows at the back",
        category: "seating",
        strength: "soft",
        score: 0.9,
        source: null,
        created_at: "2026-03-02T10:00:00Z",
      },
    ],
  },
};

needing("chromium")("the chat page in a browser", () => {
  let browser: Browser;
  let server: RunningServer;
  let sample: SampleApplication;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    sample = sampleApplication((message) => REPLIES[message] ?? { content: `You said: ${message}` });
    server = await listen(await appOver(sample.application), { host: "127.0.0.1", port: 0 });
    context = await browser.newContext();
    page = await context.newPage();
    complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    await page.goto(server.address.url);
    await page.waitForSelector(".welcome");
  });
  afterEach(async () => {
    await context.close();
    await server.close({ graceMs: 0 });
  });

  async function say(message: string): Promise<void> {
    await page.fill("#message", message);
    await page.press("#message", "Enter");
  }
  const lastAnswer = () => page.locator(".turn.assistant").last();

  test("a message is answered, streamed and rendered as markdown; the conversation is listed; nothing complains", async () => {
    await say("plain");
    await lastAnswer().locator("strong", { hasText: "Bold" }).waitFor();
    const link = lastAnswer().locator("a");
    expect(await link.getAttribute("href")).toBe("https://example.org/");
    expect(await link.getAttribute("rel")).toContain("noopener");
    await page.locator(".sessions .session-title", { hasText: "plain" }).waitFor();
    expect(await page.textContent("#memory-word")).toBe("Memory on");
    expect(complaints).toEqual([]);
  });

  test("[hostile-input] nothing that the server sends becomes markup that acts: answer, cards, tools, memories, titles", async () => {
    await say("attack");
    await page.locator(".noted").waitFor();
    await page.click("#memory-chip");
    await page.locator("#memory-list .memory").waitFor();
    await say(ATTACK);
    await page.locator(".turn.assistant.complete").nth(1).waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("#log img, #log svg, #log script, #memory-panel img, .sessions img").count()).toBe(0);
    expect(await page.locator('#log a[href^="javascript:"], #log a[href^="data:"]').count()).toBe(0);
    expect(await page.locator(".bubble").last().textContent()).toBe(ATTACK);
    expect(complaints).toEqual([]);
  });

  test("an image in an answer is not fetched: its address could carry words away", async () => {
    const fetched: string[] = [];
    page.on("request", (request) => fetched.push(request.url()));
    await say("image");
    expect(await lastAnswer().locator("a", { hasText: "look" }).getAttribute("href")).toBe("https://example.org/p.png?words=secret");
    expect(fetched.filter((url) => url.includes("example.org"))).toEqual([]);
  });

  test("each card is shown once, a few at first, and the newest stays in view unless one has scrolled up", async () => {
    await page.setViewportSize({ width: 800, height: 500 });
    await say("many");
    await lastAnswer().getByRole("button", { name: "Show 2 more" }).click();
    expect(await lastAnswer().locator(".card").count()).toBe(6);
    const fromEnd = () =>
      page.evaluate(
        "(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.getElementById('log'))",
      );
    await expect.poll(fromEnd).toBeLessThan(5);
    await page.evaluate(
      "new Promise((done) => { const log = document.getElementById('log'); log.onscrollend = done; log.scrollTop = 0; })",
    );
    await lastAnswer().locator(".foot, .cards").first().evaluate("(node) => node.append('more')");
    expect(await page.evaluate("document.getElementById('log').scrollTop")).toBe(0);
  });

  test("a quote's button sends the guest's words with its token, and an answered quote has none any more", async () => {
    await say("quote");
    await lastAnswer().getByRole("button", { name: "Book anyway: Evening 1" }).click();
    await lastAnswer().getByText("You said: Book it anyway, please.").waitFor();
    expect(sample.consents).toEqual([{ message: "Book it anyway, please.", consent: "44556677" }]);
    expect(await page.locator(".offer").count()).toBe(0);
    await page.reload();
    await page.locator(".booking_quote").first().waitFor();
    expect(await page.locator(".offer").count()).toBe(0);
    await say("quote");
    await lastAnswer().getByRole("button", { name: "Book: Evening 0" }).click();
    await lastAnswer().getByText("You said: Yes, book it, please.").waitFor();
    expect(sample.consents.at(-1)).toEqual({ message: "Yes, book it, please.", consent: "00112233" });
    expect(complaints).toEqual([]);
  });

  test("a failure says what happened, and trying again sends the same idempotency key", async () => {
    await say("fail");
    const problem = page.locator(".problem");
    await problem.waitFor();
    expect(await problem.textContent()).toContain("The model took too long");
    await problem.getByRole("button", { name: "Try again" }).click();
    await lastAnswer().getByText("It worked the second time.").waitFor();
    expect(await page.locator(".turn.user").count()).toBe(1);
    expect(sample.keys).toHaveLength(2);
    expect(new Set(sample.keys).size).toBe(1);
  });

  test("a memory out of reach is said in words", async () => {
    await say("slow");
    await lastAnswer().getByText("My memory is out of reach").waitFor();
    expect(await page.textContent("#memory-word")).toBe("Memory out of reach");
  });

  test("what an answer kept in mind can be asked for its reason, and forgotten", async () => {
    const owner = ownerOf("default", "local-user");
    sample.memories.set(MEMORY_ID, { ...sampleMemory({ source: null }), owner });
    await say("recall");
    await lastAnswer().locator(".recalled summary").click();
    await lastAnswer().getByRole("button", { name: "Why?" }).click();
    await lastAnswer().getByText("You added this by hand.").waitFor();
    await lastAnswer().locator(".recalled").getByRole("button", { name: "Forget" }).click();
    await page.locator(".recalled li.gone").waitFor();
    expect(sample.memories.size).toBe(0);
  });

  test("what was learnt is named under the answer, with the user's own words behind it", async () => {
    await say("learn");
    await page.locator(".noted", { hasText: "Noted: Likes the balcony" }).waitFor();
    await page.click("#memory-chip");
    await page.locator("#memory-list").getByRole("button", { name: "Why?" }).click();
    await page.locator("#memory-list blockquote", { hasText: "My own words, <b>as I said them</b>." }).waitFor();
  });

  test.each([
    ["Yes", "active", "Kept: No peanuts"],
    ["No", "superseded", "Not kept."],
  ])("what waits for the guest's word is asked under the answer: %s settles it, and the question is gone", async (word, status, told) => {
    await say("wait");
    const chip = lastAnswer().getByRole("group", { name: "Keep: No peanuts?" });
    await chip.getByRole("button", { name: `${word}. Keep: No peanuts?` }).click();
    await lastAnswer().getByRole("status").getByText(told).waitFor();
    expect([...sample.memories.values()].map((memory) => memory.status)).toEqual([status]);
    expect(await page.getByRole("button", { name: "Keep: No peanuts?" }).count()).toBe(0);
    await page.reload();
    await page.locator(".turn.assistant", { hasText: "Is that so?" }).waitFor();
    expect(await page.locator(".confirm").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("the panel adds, keeps what waits for review, and forgets", async () => {
    const owner = ownerOf("default", "local-user");
    sample.memories.set(MEMORY_ID, { ...sampleMemory({ status: "review", text: "Waits" }), owner });
    await page.click("#memory-chip");
    await page.locator("#memory-list").getByRole("button", { name: "Yes. Keep: Waits?" }).click();
    await page.locator("#memory-list").getByRole("button", { name: "Edit" }).waitFor();
    expect(sample.memories.get(MEMORY_ID)?.status).toBe("active");
    await page.fill("#memory-text", "No peanuts");
    await page.check("#memory-hard");
    await page.press("#memory-text", "Enter");
    const added = page.locator(".memory.hard", { hasText: "No peanuts" });
    await added.waitFor();
    await added.getByRole("button", { name: "Forget" }).click();
    await added.waitFor({ state: "detached" });
    expect([...sample.memories.values()].map((memory) => memory.text)).toEqual(["Waits"]);
  });

  test("a conversation is resumed after a reload, renamed, deleted, and restored", async () => {
    await say("hello there");
    await page.locator(".turn.assistant.complete").waitFor();
    await page.locator(".sessions li.current").waitFor();
    await page.reload();
    await page.locator(".turn.assistant", { hasText: "You said: hello there" }).waitFor();
    await page.hover(".sessions li");
    await page.locator(".sessions").getByRole("button", { name: "Rename" }).click();
    await page.fill("dialog input", "A new name");
    await page.press("dialog input", "Enter");
    await page.locator(".session-title", { hasText: "A new name" }).waitFor();
    await page.hover(".sessions li");
    await page.locator(".sessions").getByRole("button", { name: "Delete" }).click();
    await page.locator(".welcome").waitFor();
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(".session-title", { hasText: "A new name" }).waitFor();
  });

  test("a resumed conversation has its cards under the answers that showed them", async () => {
    await say("many");
    await page.locator(".turn.assistant.complete").waitFor();
    await page.locator(".sessions li.current").waitFor();
    await say("plain");
    await page.locator(".turn.assistant.complete").nth(1).waitFor();
    await page.reload();
    await page.locator(".turn.assistant", { hasText: "Bold" }).waitFor();
    const answers = page.locator(".turn.assistant");
    expect(await answers.nth(0).locator(".card").count()).toBe(4);
    expect(await answers.nth(0).getByRole("button", { name: "Show 2 more" }).count()).toBe(1);
    expect(await answers.nth(1).locator(".card").count()).toBe(0);
  });

  test("in local mode one can speak as somebody else, who sees nothing of the first", async () => {
    await say("mine");
    await page.locator(".session-title", { hasText: "mine" }).waitFor();
    await page.click("#user-button");
    await page.fill("dialog input", "Zoë");
    await page.press("dialog input", "Enter");
    await page.locator("#user-name", { hasText: "Zoë" }).waitFor();
    await page.locator(".welcome").waitFor();
    expect(await page.locator(".session-title").count()).toBe(0);
  });

  test("everything can be reached by keyboard, and every control has a name", async () => {
    await say("plain");
    await page.locator(".turn.assistant.complete").waitFor();
    const nameless = await page.evaluate(`[...document.querySelectorAll("button, input, textarea, a")]
      .filter((node) => node.offsetParent !== null)
      .filter((node) => !(node.textContent.trim() || node.getAttribute("aria-label") || document.querySelector('label[for="' + node.id + '"]')))
      .map((node) => node.outerHTML)`);
    expect(nameless).toEqual([]);
    await page.keyboard.press("Alt+n");
    await page.locator(".welcome").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("message");
  });

  test.each([
    [320, 640],
    [768, 1024],
    [1440, 900],
  ])("nothing is cut off sideways at %i × %i", async (width, height) => {
    await page.setViewportSize({ width, height });
    await say("plain");
    await page.locator(".turn.assistant.complete").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});
