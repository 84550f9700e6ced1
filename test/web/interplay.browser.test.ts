import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { gate, problem } from "../support/page-faults.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask, lastAnswer, say } from "../support/sample-page.js";
import { sampleMemory } from "../support/samples.js";
import { SteeredModel } from "../support/steered-model.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("what happens at the same time on the chat page", () => {
  const model = new SteeredModel();
  let on: PageWorld;

  beforeAll(async () => {
    on = await openPageWorld({ SESSION_LOCK_WAIT_MS: "3000" }, { model });
  });
  afterEach(async () => {
    model.goOn();
    await on.leave();
  });
  afterAll(() => on.close());

  const questions = async (page: Page) => (await page.locator(".turn.user .bubble").allInnerTexts()).map((text) => text.trim());
  const inOneConversation = async (user: string) => {
    const { page, tab } = await on.guest(user);
    await ask(page, "hello");
    const other = await tab(new URL(page.url()).hash);
    await lastAnswer(other).getByText("You said: hello.").waitFor();
    return { page, other };
  };

  test("a message that another tab's answer kept out stays, and is tried again behind what was said there", async () => {
    const { page, other } = await inOneConversation("kept-out");
    await say(page, "slowly here");
    await lastAnswer(page).getByText("You said: slowly here.").waitFor();
    await say(other, "mine too");
    await other.getByText("An answer is still under way here").waitFor();
    model.goOn();
    await expect.poll(() => questions(other)).toEqual(["hello", "slowly here", "mine too"]);
    await lastAnswer(other).getByRole("button", { name: "Try again" }).click();
    await lastAnswer(other).getByText("You said: mine too.").waitFor();
    await expect.poll(() => questions(page)).toEqual(["hello", "slowly here", "mine too"]);
  });

  test("what another tab said while this one waited for its own answer is shown before it", async () => {
    const { page, other } = await inOneConversation("in-turn");
    await say(page, "slowly first");
    await lastAnswer(page).getByText("You said: slowly first.").waitFor();
    await say(other, "slowly second");
    await lastAnswer(other).getByText("Thinking").waitFor();
    const heard = other.waitForResponse((response) => response.url().includes("/v1/sessions?"));
    model.goOn();
    await heard;
    await lastAnswer(other).getByText("You said: slowly second.").waitFor();
    model.goOn();
    for (const each of [page, other]) {
      await expect.poll(() => questions(each)).toEqual(["hello", "slowly first", "slowly second"]);
      await lastAnswer(each).getByText("And that is all.").waitFor();
    }
  });

  test("a message that is being changed is left alone while the conversation goes on elsewhere, and what it says is not lost", async () => {
    const { page, other } = await inOneConversation("changing");
    await other.getByRole("button", { name: "Edit and send again" }).click();
    await other.getByRole("textbox", { name: "Your message" }).fill("hello, said differently");
    const listed = other.waitForResponse((response) => response.url().includes("/v1/sessions?"));
    await ask(page, "and on");
    await listed;
    expect(await other.getByRole("textbox", { name: "Your message" }).inputValue()).toBe("hello, said differently");
    await other.keyboard.press("Enter");
    await expect.poll(() => questions(other)).toEqual(["hello", "and on", "hello, said differently"]);
    await lastAnswer(other).getByRole("button", { name: "Try again" }).click();
    await lastAnswer(other).getByText("You said: hello, said differently.").waitFor();
    await other.reload();
    await expect.poll(() => questions(other)).toEqual(["hello", "and on", "hello, said differently"]);
  });

  test("once something else is said, an answer that was stopped or failed can't be asked again", async () => {
    const { page } = await on.guest("goes-on");
    await say(page, "slowly, stop");
    await lastAnswer(page).getByText("You said: slowly, stop.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await lastAnswer(page).getByRole("button", { name: "Ask again" }).waitFor();
    await say(page, "fail once");
    await lastAnswer(page).getByRole("button", { name: "Try again" }).waitFor();
    expect(await page.getByRole("button", { name: "Ask again" }).count()).toBe(0);
    await ask(page, "hello");
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });

  test("what was noted of a message that was said differently since is not told under the new answer", async () => {
    const { page } = await on.guest("noted");
    const first = gate();
    let flushes = 0;
    await page.route("**/flush?**", async (route: Route) => {
      flushes += 1;
      if (flushes === 1) await first.opened;
      await route.fulfill({ json: { pending_turns: 0, failed_turns: 0 } });
    });
    const memory = { ...sampleMemory({ text: "Likes opera" }), score: 1 };
    await page.route("**/v1/memories?session_id=*turn=1*", (route) => route.fulfill({ json: { data: [memory], next_cursor: null } }));
    await ask(page, "I like opera");
    await page.getByRole("button", { name: "Edit and send again" }).click();
    await page.getByRole("textbox", { name: "Your message" }).fill("I like jazz");
    await page.keyboard.press("Enter");
    await lastAnswer(page).getByText("You said: I like jazz.").waitFor();
    await expect.poll(() => flushes).toBe(2);
    const read = page.waitForResponse((response) => response.url().includes("turn=1"));
    const after = page.waitForResponse((response) => response.url().includes("status=review"));
    first.open();
    await read;
    await after;
    expect(await page.locator(".noted", { hasText: "opera" }).count()).toBe(0);
  });

  test("an answer that fails behind another conversation says so, and can be tried again there", async () => {
    const { page } = await on.guest("behind");
    await ask(page, "hello");
    await page.click("#new-session");
    const held = gate();
    await page.route("**/v1/chat", async (route) => {
      await held.opened;
      await route.fulfill(problem(429, "RATE_LIMITED"));
    });
    await say(page, "one more thing");
    await page.locator("#session-list .open").first().click();
    await lastAnswer(page).getByText("You said: hello.").waitFor();
    held.open();
    await page.locator(".toast", { hasText: "There is no answer" }).getByRole("button", { name: "Open" }).click();
    await page.unroute("**/v1/chat");
    await lastAnswer(page).getByRole("button", { name: "Try again" }).click();
    await lastAnswer(page).getByText("You said: one more thing.").waitFor();
  });

  test("memory that is paused in one tab is paused in all of them", async () => {
    const { page, tab } = await on.guest("pauser");
    const other = await tab();
    await page.click("#memory-chip");
    await page.getByRole("switch", { name: "Remember what I say" }).click();
    await other.getByText("Memory paused").waitFor();
    const sent = other.waitForRequest((request) => request.url().endsWith("/v1/chat"));
    await say(other, "hello");
    expect((await sent).postDataJSON()).toMatchObject({ incognito: true });
  });

  test("Enter twice tells something to remember once", async () => {
    const { page } = await on.guest("twice");
    await page.click("#memory-chip");
    const held = gate();
    let sent = 0;
    await page.route("**/v1/memories", async (route) => {
      sent += 1;
      await held.opened;
      await route.continue();
    });
    await page.fill("#memory-text", "Likes opera");
    await page.press("#memory-text", "Enter");
    await page.press("#memory-text", "Enter");
    held.open();
    await page.locator("#memory-list .memory", { hasText: "Likes opera" }).waitFor();
    expect(sent).toBe(1);
  });

  test("Escape in a field leaves an answer under way alone", async () => {
    const { page } = await on.guest("escapes");
    await say(page, "slowly on");
    await lastAnswer(page).getByText("You said: slowly on.").waitFor();
    await page.fill("#session-query", "x");
    await page.press("#session-query", "Escape");
    model.goOn();
    await lastAnswer(page).getByText("And that is all.").waitFor();
  });

  test("older conversations that were unfolded stay so when something happens", async () => {
    const guest = on.world.as("many");
    for (let n = 0; n < 35; n += 1) await guest.post("/v1/sessions", { title: `Trip ${n}` });
    const { page } = await on.guest("many");
    await page.getByRole("button", { name: "Show older ones" }).click();
    await expect.poll(() => page.locator("#session-list li").count()).toBe(35);
    await ask(page, "hello");
    await page.locator("#session-list .running").waitFor({ state: "detached" });
    await page.locator("#session-list .current").waitFor();
    await expect.poll(() => page.locator("#session-list li").count()).toBe(36);
  });
});
