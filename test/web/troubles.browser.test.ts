import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { gate, problem } from "../support/page-faults.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask, lastAnswer, say } from "../support/sample-page.js";
import { SteeredModel } from "../support/steered-model.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("what goes wrong around the chat page", () => {
  const model = new SteeredModel();
  let on: PageWorld;

  beforeAll(async () => {
    on = await openPageWorld({}, { model });
  });
  afterEach(async () => {
    model.goOn();
    await on.leave();
  });
  afterAll(() => on.close());

  const questions = async (page: Page) => (await page.locator(".turn.user .bubble").allInnerTexts()).map((text) => text.trim());
  const known = async (user: string) =>
    (await on.world.as(user).get<{ data: { text: string }[] }>("/v1/memories")).body.data.map(({ text }) => text);

  test("a message that the server would not take says for how long, and is a draft again after a reload", async () => {
    const { page } = await on.guest("limited");
    await page.route("**/v1/chat", (route) => route.fulfill(problem(429, "RATE_LIMITED", { "Retry-After": "7" })));
    await say(page, "one too many");
    await lastAnswer(page).getByText("Try again in 7 seconds.").waitFor();
    await page.unroute("**/v1/chat");
    await page.reload();
    await page.locator(".welcome").waitFor();
    await expect.poll(() => page.inputValue("#message")).toBe("one too many");
    await page.press("#message", "Enter");
    await lastAnswer(page).getByText("You said: one too many.").waitFor();
    await page.reload();
    await lastAnswer(page).getByText("You said: one too many.").waitFor();
    expect(await page.inputValue("#message")).toBe("");
  });

  test("what is typed while the page is still being read stays, and is said into the conversation that is shown", async () => {
    const { context } = await on.guest("early");
    const page = await context.newPage();
    const held = gate();
    await page.route("**/v1/me", async (route) => {
      await held.opened;
      await route.continue();
    });
    await page.goto(on.url);
    await page.fill("#message", "quick fingers");
    await page.press("#message", "Enter");
    held.open();
    await page.locator(".welcome").waitFor();
    expect(await page.inputValue("#message")).toBe("quick fingers");
    await page.press("#message", "Enter");
    await lastAnswer(page).getByText("You said: quick fingers.").waitFor();
    expect(await questions(page)).toEqual(["quick fingers"]);
  });

  test("where the list of conversations can't be read one converses all the same, and lists them again", async () => {
    const { page } = await on.guest("unlisted");
    await page.route("**/v1/sessions?**", (route) => route.fulfill(problem(500, "INTERNAL")));
    await page.reload();
    await page.locator(".welcome").waitFor();
    await page.getByText("Something went wrong on my side").waitFor();
    await ask(page, "hello");
    await page.reload();
    await lastAnswer(page).getByText("You said: hello.").waitFor();
    await page.unroute("**/v1/sessions?**");
    await page.getByRole("button", { name: "List them again" }).click();
    await page.locator("#session-list .open").waitFor();
  });

  test("a conversation that can't be read says so in its place; what is said goes there, and what was said comes back", async () => {
    const { page } = await on.guest("unread");
    await ask(page, "hello");
    await page.route("**/thread", (route) => route.fulfill(problem(500, "INTERNAL")));
    await page.reload();
    await page.getByText("What was said here before can't be shown").waitFor();
    await page.unroute("**/thread");
    await say(page, "and on");
    await expect.poll(() => questions(page)).toEqual(["hello", "and on"]);
    await page.reload();
    await expect.poll(() => questions(page)).toEqual(["hello", "and on"]);
  });

  test("what failed is not told as done: a conversation that could not be archived", async () => {
    const { page } = await on.guest("unarchived");
    await ask(page, "hello");
    const row = page.locator("#session-list [data-session]");
    await row.locator(".options").click();
    await page.route("**/v1/sessions/*", (route) => route.fulfill(problem(500, "INTERNAL")));
    await row.getByRole("button", { name: /^Archive/ }).click();
    await page.locator(".toast.error").waitFor();
    expect(await page.locator(".toast", { hasText: "Archived" }).count()).toBe(0);
  });

  test("signed out on the way: one is asked to sign in, a wrong key is said to be wrong, and the message goes on", async () => {
    const { page } = await on.guest("signed-out");
    await ask(page, "hello");
    // From this message on: what still follows the one before could open the dialog while it is typed.
    let ended = false;
    await page.route(/\/v1\//, async (route) => {
      ended ||= route.request().url().endsWith("/v1/chat");
      const taken = !ended || route.request().headers().authorization === "Bearer right";
      await (taken ? route.continue() : route.fulfill(problem(401, "UNAUTHENTICATED")));
    });
    await say(page, "still me");
    const dialog = page.getByRole("dialog", { name: "Sign in" });
    await dialog.getByText("You have been signed out").waitFor();
    for (const key of ["“right”", "wrong"]) {
      await dialog.getByLabel("Key").fill(key);
      await page.keyboard.press("Enter");
      await dialog.getByText("That key isn't taken here").waitFor();
    }
    await dialog.getByLabel("Key").fill("right");
    await page.keyboard.press("Enter");
    await lastAnswer(page).getByText("You said: still me.").waitFor();
    expect(await questions(page)).toEqual(["hello", "still me"]);
  });

  test("where the page came by plain HTTP from another machine, it works without what browsers keep for HTTPS", async () => {
    const { page, context, complaints } = await on.guest("plain");
    await context.addInitScript(
      `delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard; delete Navigator.prototype.locks`,
    );
    await page.reload();
    await page.locator(".welcome").waitFor();
    await ask(page, "hello");
    await lastAnswer(page).getByText("You said: hello.").waitFor();
    await lastAnswer(page).getByRole("button", { name: "Copy" }).click();
    await page.locator(".toast", { hasText: "doesn't let me copy" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("where the browser may keep nothing, one converses all the same", async () => {
    const { page, context, complaints } = await on.guest("kept-nowhere");
    await context.addInitScript(`for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } })`);
    await page.reload();
    await page.locator(".welcome").waitFor();
    await ask(page, "hello");
    expect(complaints.filter((text) => !text.includes("denied"))).toEqual([]);
  });

  test("[page-forget-undo] whoever lets somebody else speak has forgotten at once, and nothing of them stays on the page", async () => {
    await on.world.as("leaver").post("/v1/memories", { text: "Likes opera" });
    const { page } = await on.guest("leaver");
    await page.click("#memory-chip");
    await page.getByRole("button", { name: "Forget Likes opera" }).click();
    await page.locator(".toast", { hasText: "Likes opera" }).waitFor();
    await page.fill("#memory-text", "Eats no fish");
    await page.click("#user-button");
    await page.getByRole("dialog").getByLabel("Name").fill("comer");
    await page.keyboard.press("Enter");
    await page.locator("#user-name", { hasText: "comer" }).waitFor();
    expect(await known("leaver")).toEqual([]);
    expect(await page.locator(".toast").count()).toBe(0);
    expect(await page.inputValue("#memory-text")).toBe("");
  });

  test("what was forgotten without a connection is forgotten once it is back", async () => {
    await on.world.as("unconnected").post("/v1/memories", { text: "Likes opera" });
    const { page, context } = await on.guest("unconnected");
    await page.click("#memory-chip");
    await page.locator("#memory-list .memory").waitFor();
    await page.clock.install();
    await context.setOffline(true);
    await page.getByRole("button", { name: "Forget Likes opera" }).click();
    await page.clock.runFor(11_000);
    await page.locator("#connection").waitFor();
    expect(await known("unconnected")).toEqual(["Likes opera"]);
    await context.setOffline(false);
    await page.clock.runFor(20_000);
    await expect.poll(() => known("unconnected")).toEqual([]);
  });

  test("Back passes over a conversation that is gone", async () => {
    const { page, context } = await on.guest("back-again");
    await ask(page, "hello");
    const there = page.url();
    await page.goto(`${on.url}/#01936b2e-7c00-7000-8000-000000000001`);
    await page.locator(".toast", { hasText: "not there any more" }).waitFor();
    await page.locator(".welcome").waitFor();
    expect(context.pages()).toHaveLength(1);
    await page.goBack();
    await lastAnswer(page).getByText("You said: hello.").waitFor();
    expect(page.url()).toBe(there);
  });

  test("where the server can't be reached at the beginning, the page says so and goes on by itself", async () => {
    const { page } = await on.guest("later");
    await page.route("**/v1/me", (route) => route.abort());
    await page.reload();
    await page.getByText("I go on as soon as the connection is back.").waitFor();
    await page.unroute("**/v1/me");
    await page.locator(".welcome").waitFor();
  });

  test("memories that can't be read are said so in words, and looked for again", async () => {
    await on.world.as("unlooked").post("/v1/memories", { text: "Likes opera" });
    const { page } = await on.guest("unlooked");
    await page.route("**/v1/memories?**", (route) => route.fulfill(problem(500, "INTERNAL")));
    await page.reload();
    await page.locator(".welcome").waitFor();
    await page.click("#memory-chip");
    await page.locator("#memory-list").getByText("Something went wrong on my side").waitFor();
    await page.unroute("**/v1/memories?**");
    await page.getByRole("button", { name: "Look again" }).click();
    await page.locator("#memory-list .memory", { hasText: "Likes opera" }).waitFor();
  });
});
