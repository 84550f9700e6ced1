import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask, lastAnswer, say } from "../support/sample-page.js";
import { SteeredModel } from "../support/steered-model.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("asking on the chat page", () => {
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

  const heard = (page: Page) => {
    const sent: { readonly key: string | null; readonly body: string | null }[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/chat")) sent.push({ key: request.headers()["idempotency-key"] ?? null, body: request.postData() });
    });
    return sent;
  };
  const questions = (page: Page) => page.locator(".turn.user").allInnerTexts();
  const focused = (page: Page) => page.evaluate("document.activeElement.id || document.activeElement.className");

  test("[page-same-request] a first turn that fails is tried again with the same body under the same key, and is there once", async () => {
    const { page, complaints } = await on.guest("fails");
    const sent = heard(page);
    await say(page, "fail at first");
    const problem = page.locator(".problem");
    await problem.getByText("I can't answer right now").waitFor();
    expect(await problem.textContent()).not.toMatch(/model|idempot|request|server/i);
    // The server's event about it comes a moment later, and is no news here.
    await page.waitForTimeout(1_500);
    await problem.getByRole("button", { name: "Try again" }).click();
    await lastAnswer(page).getByText("You said: fail at first.").waitFor();
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    await page.reload();
    await lastAnswer(page).getByText("You said: fail at first.").waitFor();
    expect(await page.locator(".exchange").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test("an answer that breaks off is tried again in its place, and a reload shows the whole one alone", async () => {
    const { page, complaints } = await on.guest("breaks");
    await say(page, "breaks here");
    await lastAnswer(page).getByText("I can't answer right now").waitFor();
    expect(await lastAnswer(page).textContent()).toContain("Let me think about that.");
    await lastAnswer(page).getByRole("button", { name: "Try again" }).click();
    await lastAnswer(page).getByRole("button", { name: "Ask again" }).waitFor();
    await page.reload();
    await lastAnswer(page).getByRole("button", { name: "Ask again" }).waitFor();
    expect(await page.locator(".turn.assistant").count()).toBe(1);
    expect((await lastAnswer(page).textContent())?.match(/You said/g)).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  test("an answer that is stopped says so, after a reload too, and is asked again in its place; the focus stays in sight", async () => {
    const { page } = await on.guest("stops");
    await say(page, "slowly, please");
    await lastAnswer(page).getByText("You said: slowly, please.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).focus();
    await page.keyboard.press("Enter");
    await lastAnswer(page).getByText("You stopped this answer.").waitFor();
    expect(await focused(page)).toBe("message");
    await expect
      .poll(async () => {
        await page.reload();
        await page.locator(".exchange").waitFor();
        return lastAnswer(page).textContent();
      })
      .toContain("This answer was stopped.");
    expect(await lastAnswer(page).textContent()).toContain("You said: slowly, please.");
    await lastAnswer(page).getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    await lastAnswer(page).getByText("You said: slowly, please.").waitFor();
    model.goOn();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    expect(await page.locator(".exchange").count()).toBe(1);
  });

  test("the last message is said differently in its place; Escape leaves it as it was", async () => {
    const { page } = await on.guest("edits");
    await ask(page, "first");
    await ask(page, "secnod");
    expect(await page.getByRole("button", { name: "Edit and send again" }).count()).toBe(1);
    await page.getByRole("button", { name: "Edit and send again" }).click();
    await page.keyboard.press("Escape");
    expect(await page.locator(".bubble").last().textContent()).toBe("secnod");
    await page.getByRole("button", { name: "Edit and send again" }).click();
    await page.getByRole("textbox", { name: "Your message" }).fill("second");
    await page.keyboard.press("Enter");
    await lastAnswer(page).getByText("You said: second.").waitFor();
    await page.reload();
    await lastAnswer(page).getByText("You said: second.").waitFor();
    expect((await questions(page)).map((text) => text.replace("Edit", "").trim())).toEqual(["first", "second"]);
  });

  test("an answer goes on while another conversation is open, shows that it does, and says when it is there", async () => {
    const { page } = await on.guest("two");
    await ask(page, "hello");
    await page.click("#new-session");
    await say(page, "slowly over there");
    await lastAnswer(page).getByText("You said: slowly over there.").waitFor();
    await page.locator(".sessions .running").waitFor();
    await page.locator(".sessions [data-session]:not(.running) .open").click();
    await lastAnswer(page).getByText("You said: hello.").waitFor();
    await page.locator(".sessions .running").waitFor();
    expect(await page.locator("#send").isVisible()).toBe(true);
    model.goOn();
    await page.locator(".toast").getByRole("button", { name: "Open" }).click();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    expect(await page.locator(".sessions .running").count()).toBe(0);
  });

  test("a conversation that still answers is there again as it is when it is opened", async () => {
    const { page } = await on.guest("back");
    await say(page, "slowly here");
    await page.fill("#message", "typed meanwhile");
    await lastAnswer(page).getByText("You said: slowly here.").waitFor();
    expect(await page.inputValue("#message")).toBe("typed meanwhile");
    await page.click("#new-session");
    expect(await page.inputValue("#message")).toBe("");
    await page.locator(".sessions .running .open").click();
    await lastAnswer(page).getByText("You said: slowly here.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    model.goOn();
    await lastAnswer(page).getByText("And that is all.").waitFor();
  });

  test("[page-same-request] where the connection goes and comes back there is one notice, the message goes out again, and nothing is there twice", async () => {
    const { page, context } = await on.guest("offline");
    await ask(page, "hello");
    await context.setOffline(true);
    await say(page, "are you there?");
    await page.locator("#connection").waitFor();
    await lastAnswer(page).getByText("I wait for the connection").waitFor();
    expect(await page.locator(".toast").count()).toBe(0);
    await context.setOffline(false);
    await lastAnswer(page).getByText("You said: are you there?.").waitFor();
    await page.locator("#connection").waitFor({ state: "hidden" });
    await page.reload();
    await lastAnswer(page).getByText("You said: are you there?.").waitFor();
    expect(await page.locator(".exchange").count()).toBe(2);
  });

  test("a draft is there again after a reload, in its own conversation", async () => {
    const { page } = await on.guest("drafts");
    await ask(page, "hello");
    await page.fill("#message", "half a thou");
    await page.reload();
    await lastAnswer(page).waitFor();
    await expect.poll(() => page.inputValue("#message")).toBe("half a thou");
    await page.click("#new-session");
    expect(await page.inputValue("#message")).toBe("");
  });

  test("what is over 8,000 characters is kept whole, and it says by how much it is too long", async () => {
    const { page } = await on.guest("long");
    await page.fill("#message", "x".repeat(8340));
    await page.locator("#message-length", { hasText: "340 too many" }).waitFor();
    expect((await page.inputValue("#message")).length).toBe(8340);
    expect(await page.locator("#send").isDisabled()).toBe(true);
    await page.press("#message", "Enter");
    expect(await page.locator(".turn").count()).toBe(0);
    await page.fill("#message", "x".repeat(7990));
    await page.locator("#message-length", { hasText: "10 characters left" }).waitFor();
  });

  test("Enter that chooses a word in an input method doesn't send, however the browser tells of it", async () => {
    const { page } = await on.guest("ime");
    await page.fill("#message", "にほん");
    const enter = (more: string) =>
      page.evaluate(`document.getElementById("message").dispatchEvent(
        Object.defineProperties(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ${more} }), {}))`);
    await enter("isComposing: true");
    await enter("keyCode: 229");
    expect(await page.locator(".turn").count()).toBe(0);
    await enter("keyCode: 13");
    await lastAnswer(page).getByText("You said: にほん.").waitFor();
  });

  test("the question stays at the top of a long answer, and a button leads to its end", async () => {
    const { page } = await on.guest("scroll");
    await page.setViewportSize({ width: 900, height: 600 });
    await ask(page, "hello");
    await ask(page, "long, please");
    const top = (what: string) =>
      page.evaluate(
        `document.querySelector("${what}").getBoundingClientRect().top - document.getElementById("log").getBoundingClientRect().top`,
      );
    await expect.poll(() => top(".exchange.latest .bubble")).toBeLessThan(40);
    expect(await top(".exchange.latest .bubble")).toBeGreaterThanOrEqual(0);
    // It stands over nothing that is read.
    const [button, log] = await Promise.all([page.locator("#jump").boundingBox(), page.locator("#log").boundingBox()]);
    expect(button?.y).toBeGreaterThanOrEqual((log?.y ?? 0) + (log?.height ?? 0));
    await page.getByRole("button", { name: "To the latest" }).click();
    await page.locator(".exchange.latest").getByText("Paragraph 39.").waitFor();
    await expect.poll(() => page.locator("#jump").isHidden()).toBe(true);
    expect(await page.evaluate("document.documentElement.scrollTop + document.body.scrollTop")).toBe(0);
  });

  test("what is selected in an answer stays selected while the rest of it comes", async () => {
    const { page } = await on.guest("selects");
    await say(page, "slowly: one");
    await lastAnswer(page).getByText("You said: slowly: one.").waitFor();
    const select = `(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector(".prose p"));
      getSelection().removeAllRanges(); getSelection().addRange(range); return String(getSelection()); })()`;
    expect(await page.evaluate(select)).toBe("You said: slowly: one.");
    model.goOn();
    await lastAnswer(page).getByText("And that is all.").waitFor();
    expect(await page.evaluate("String(getSelection())")).toBe("You said: slowly: one.");
  });
});
