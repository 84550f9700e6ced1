import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { gate } from "../support/page-faults.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { openQuietProxy, type QuietProxy } from "../support/quiet-proxy.js";
import { ask, lastAnswer, say } from "../support/sample-page.js";
import { SteeredModel } from "../support/steered-model.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

/** Longer than the page waits for a sign of life. */
const LONG_MS = 26_000;

needing("chromium")("the chat page where the network or the answer is slow", () => {
  const model = new SteeredModel();
  let on: PageWorld;
  let network: QuietProxy;

  beforeAll(async () => {
    on = await openPageWorld({}, { model });
    network = await openQuietProxy(on.url);
  });
  afterEach(async () => {
    model.goOn();
    network.speak();
    await on.leave();
  });
  afterAll(async () => {
    await network.close();
    await on.close();
  });

  const questions = async (page: Page) => (await page.locator(".turn.user .bubble").allInnerTexts()).map((text) => text.trim());
  const keysSent = (page: Page) => {
    const keys: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/chat")) keys.push(request.headers()["idempotency-key"]);
    });
    return keys;
  };
  /** In the middle of an answer that the network holds back from then on. */
  const goneQuiet = async (user: string) => {
    const { page } = await on.guest(user);
    await page.goto(network.url);
    await page.locator(".welcome").waitFor();
    await page.clock.install();
    const keys = keysSent(page);
    await say(page, "slowly, and quietly");
    await lastAnswer(page).getByText("You said: slowly, and quietly.").waitFor();
    network.hush("POST /v1/chat");
    await page.clock.runFor(LONG_MS);
    await lastAnswer(page).getByText("It has gone quiet. I look for your answer").waitFor();
    await expect.poll(() => keys.length).toBe(2);
    return { page, keys };
  };

  test("[page-same-request] an answer whose connection goes quiet is looked for, and is there once", async () => {
    const { page, keys } = await goneQuiet("quiet");
    expect(await lastAnswer(page).textContent()).toContain("Let me think about that.");
    model.goOn();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    expect(new Set(keys).size).toBe(1);
    expect((await lastAnswer(page).textContent())?.match(/You said/g)).toHaveLength(1);
    await page.reload();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    expect(await questions(page)).toEqual(["slowly, and quietly"]);
  });

  test("a connection that was only held up goes on where it was", async () => {
    const { page } = await goneQuiet("held-up");
    model.goOn();
    network.speak();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    await page.locator("#send").waitFor();
    expect((await lastAnswer(page).textContent())?.match(/You said/g)).toHaveLength(1);
    await ask(page, "hello");
    expect(await questions(page)).toEqual(["slowly, and quietly", "hello"]);
  });

  test("an answer that has gone quiet can be stopped", async () => {
    const { page } = await goneQuiet("quietly-stopped");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await lastAnswer(page).getByText("You stopped this answer.").waitFor();
  });

  test("[page-same-request] an answer during which the page is loaded anew goes on there, under the same key, and is there once", async () => {
    const { page, complaints } = await on.guest("reloads");
    const keys = keysSent(page);
    await ask(page, "hello");
    await say(page, "slowly, reloaded");
    await lastAnswer(page).getByText("You said: slowly, reloaded.").waitFor();
    await page.reload();
    await lastAnswer(page).getByText("You said: slowly, reloaded.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    model.goOn();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    await page.locator("#send").waitFor();
    await page.reload();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    await expect.poll(() => questions(page)).toEqual(["hello", "slowly, reloaded"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(2);
    expect(complaints).toEqual([]);
  });

  test("what was under way long ago is not asked again by itself", async () => {
    const { page } = await on.guest("late-reload");
    await say(page, "slowly, long ago");
    await lastAnswer(page).getByText("You said: slowly, long ago.").waitFor();
    await page.clock.install({ time: Date.now() + 3_600_000 });
    await page.reload();
    await lastAnswer(page).getByRole("button", { name: "Ask again" }).waitFor();
    expect(await page.locator("#send").isVisible()).toBe(true);
  });

  const deleting = async (page: Page, session: string) => {
    const row = page.locator(`#session-list [data-session="${session}"]`);
    await row.locator(".options").click();
    await row.getByRole("button", { name: /^Delete/ }).click();
    return row;
  };
  const sessionOf = (page: Page) => new URL(page.url()).hash.slice(1);

  test("a conversation that is deleted while it answers is stopped, and its answer can be asked again once it is restored", async () => {
    const { page } = await on.guest("deletes");
    await say(page, "slowly, deleted");
    await lastAnswer(page).getByText("You said: slowly, deleted.").waitFor();
    await deleting(page, sessionOf(page));
    await page.locator(".welcome").waitFor();
    await page.locator(".toast", { hasText: "is in the bin" }).getByRole("button", { name: "Undo" }).click();
    await page.locator("#session-list .open").click();
    await lastAnswer(page).getByRole("button", { name: "Ask again" }).waitFor();
  });

  test("one that is deleted while another tab's answer is under way says that it is being deleted until it is", async () => {
    const { page, tab } = await on.guest("deletes-elsewhere");
    await ask(page, "hello");
    const session = sessionOf(page);
    const other = await tab();
    await say(page, "slowly, elsewhere");
    await lastAnswer(page).getByText("You said: slowly, elsewhere.").waitFor();
    const row = await deleting(other, session);
    await row.getByText("Moving it to the bin").waitFor();
    expect(await row.locator(".options").isDisabled()).toBe(true);
    model.goOn();
    await other.locator(".toast", { hasText: "is in the bin" }).waitFor();
    await expect.poll(() => row.count()).toBe(0);
  });

  test("a conversation that takes its time to be read says that it is being opened, and what is said meanwhile goes there", async () => {
    const { page } = await on.guest("opens");
    await ask(page, "hello");
    await page.click("#new-session");
    await ask(page, "something else");
    const held = gate();
    await page.route("**/thread", async (route) => {
      await held.opened;
      await route.continue();
    });
    await page.locator("#session-list li:not(.current) .open").click();
    await page.locator(".opening", { hasText: "Opening “" }).waitFor();
    await say(page, "slowly, and on");
    await lastAnswer(page).getByText("You said: slowly, and on.").waitFor();
    expect(await page.locator(".opening").count()).toBe(0);
    held.open();
    model.goOn();
    await expect.poll(() => questions(page)).toEqual(["hello", "slowly, and on"]);
    await lastAnswer(page).getByText("And that is all.").waitFor();
  });

  test("before the page's scripts are there it says that it takes a moment", async () => {
    const { context } = await on.guest("loads");
    const page = await context.newPage();
    const held = gate();
    await page.route("**/assets/**/*.js", async (route) => {
      await held.opened;
      await route.continue();
    });
    await page.goto(on.url, { waitUntil: "commit" });
    await page.locator(".opening", { hasText: "One moment" }).waitFor();
    held.open();
    await page.locator(".welcome").waitFor();
    expect(await page.locator(".opening").count()).toBe(0);
  });
});
