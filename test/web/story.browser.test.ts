import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask, lastAnswer } from "../support/sample-page.js";

const WHO = "I prefer jazz concerts and I need step-free access.";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("a guest's story on the chat page, with the whole product", () => {
  let on: PageWorld;

  beforeAll(async () => {
    on = await openPageWorld();
  });
  afterEach(() => on.leave());
  afterAll(() => on.close());

  test("[page-provenance] what is said in one conversation is gone by in the next, and leads back to the words; a reload changes none of it", async () => {
    const { page, complaints } = await on.guest("ada");
    await ask(page, WHO);
    await page.locator(".noted").nth(1).waitFor();
    await page.locator("#memory-word", { hasText: "Knows 2 things" }).waitFor();
    await page.click("#new-session");
    await ask(page, "Anything good this weekend?");
    const pills = () => lastAnswer(page).locator(".pill").allInnerTexts();
    const before = await pills();
    expect(before.join()).toMatch(/step-free.*jazz/s);
    const cards = await lastAnswer(page).locator(".event h3").allTextContents();
    expect(cards.length).toBeGreaterThan(1);
    expect(await lastAnswer(page).locator(".event").first().locator(".mark-of").allTextContents()).toEqual(["✓ step-free", "✓ jazz"]);
    // The words that name them stand there too.
    for (const card of cards)
      expect((await lastAnswer(page).locator(".prose").allInnerTexts()).join()).toContain(card.replace(/^\d+ /, ""));
    await page.reload();
    await lastAnswer(page).locator(".event").first().waitFor();
    expect(await pills()).toEqual(before);
    expect(await lastAnswer(page).locator(".event h3").allTextContents()).toEqual(cards);
    await lastAnswer(page).locator(".pill.hard").click();
    expect(await lastAnswer(page).locator("mark").textContent()).toContain("step-free");
    await lastAnswer(page).getByRole("link", { name: "Show it in the conversation" }).click();
    await page.locator(".exchange:focus .bubble", { hasText: WHO }).waitFor();
    await expect.poll(() => page.locator(".noted").count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  test("a booking is made, changed and cancelled by buttons: summary, ticket with its time, a question before it is cancelled", async () => {
    const { page, complaints } = await on.guest("bea");
    await ask(page, "Jazz concerts this month?");
    const title = (await lastAnswer(page).locator(".event h3").first().textContent())?.replace(/^1 /, "") ?? "";
    const time = /\d\d:\d\d/.exec((await lastAnswer(page).locator(".event-where").first().textContent()) ?? "")?.[0] ?? "none";
    await lastAnswer(page).locator(".book").first().click();
    await page.locator(".quote", { hasText: title }).waitFor();
    expect((await lastAnswer(page).locator(".prose").allInnerTexts()).join()).toContain(title);
    await page.getByRole("button", { name: /^Change: / }).click();
    await page.getByRole("button", { name: "One seat more" }).click();
    await page.getByRole("button", { name: "Update" }).click();
    await lastAnswer(page).locator(".quote", { hasText: "3 seats" }).waitFor();
    await page.getByRole("button", { name: /^Confirm: / }).click();
    const ticket = lastAnswer(page).locator(".ticket");
    await ticket.waitFor();
    expect(await ticket.textContent()).toContain(time);
    expect(await ticket.textContent()).toContain("3 seats");
    await ticket.getByRole("button", { name: "Cancel booking" }).click();
    await ticket.getByRole("button", { name: "Keep it" }).click();
    expect(await page.locator(".ticket.cancelled").count()).toBe(0);
    await ticket.getByRole("button", { name: "Cancel booking" }).click();
    await ticket.getByRole("button", { name: "Yes, cancel it" }).click();
    await expect.poll(() => page.locator(".ticket.cancelled").count()).toBe(2);
    await page.reload();
    await expect.poll(() => page.locator(".ticket.cancelled").count()).toBe(2);
    expect(await page.getByRole("button", { name: "Cancel booking" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("with the keyboard alone a guest asks, books, forgets a memory with a way back, and begins anew", async () => {
    const { page, complaints } = await on.guest("kay");
    const tabTo = async (name: RegExp, key = "Tab") => {
      const focused = `(({ ariaLabel, textContent }) => ariaLabel ?? textContent)(document.activeElement)`;
      for (let steps = 0; steps < 80; steps++) {
        if (name.test((await page.evaluate(focused)) as string)) return;
        await page.keyboard.press(key);
      }
      throw new Error(`Nothing called ${name} takes the focus.`);
    };
    const sayByKeys = async (text: string) => {
      const before = await page.locator(".turn.assistant.complete").count();
      await tabTo(/^Message|^$/);
      await page.locator("#message:focus").waitFor();
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator(".turn.assistant.complete").count()).toBeGreaterThan(before);
    };
    await page.locator("#message:focus").waitFor();
    await sayByKeys("I prefer jazz concerts");
    await lastAnswer(page).locator(".noted").waitFor();
    await sayByKeys("Any jazz this month?");
    await tabTo(/^Book for 2: /, "Shift+Tab");
    await page.keyboard.press("Enter");
    await lastAnswer(page).locator(".quote").waitFor();
    await tabTo(/^Confirm: /);
    await page.keyboard.press("Enter");
    await lastAnswer(page).locator(".ticket").waitFor();
    await tabTo(/Knows 2 things/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await tabTo(/^Forget Prefers jazz concerts$/);
    await page.keyboard.press("Enter");
    await tabTo(/^Undo$/);
    await page.keyboard.press("Enter");
    await page.locator(".memory-text", { hasText: "Prefers jazz concerts" }).waitFor();
    await page.keyboard.press("Alt+n");
    await page.locator(".welcome").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a ticket is kept: as an event of a calendar, printed alone, and cancelled from the bookings by saying so", async () => {
    const { page, complaints } = await on.guest("fay");
    await page.evaluate("window.print = () => { window.printed = document.querySelectorAll('.ticket.printed-alone').length }");
    await ask(page, "Jazz concerts this month?");
    const title = (await lastAnswer(page).locator(".event h3").first().textContent())?.replace(/^1 /, "") ?? "";
    await lastAnswer(page).locator(".book").first().click();
    await page.getByRole("button", { name: /^Confirm: / }).click();
    const ticket = lastAnswer(page).locator(".ticket");
    await ticket.waitFor();
    const reference = (await ticket.getByLabel("Reference").textContent()) ?? "";
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      ticket.getByRole("button", { name: `Add to calendar: ${title}` }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${reference}.ics`);
    const file = await readFile(await download.path(), "utf8");
    expect(file).toMatch(/^BEGIN:VCALENDAR\r\n[\s\S]*\r\nDTSTART:\d{8}T\d{6}Z\r\n[\s\S]*END:VCALENDAR\r\n$/);
    expect(file).toContain(`\r\nSUMMARY:${title}\r\n`);
    await ticket.getByRole("button", { name: `Print: ${title}` }).click();
    expect(await page.evaluate("window.printed")).toBe(1);
    await page.emulateMedia({ media: "print" });
    expect(await ticket.isVisible()).toBe(true);
    for (const hidden of [".quote", ".event", ".prose", ".composer", "#conversations", ".ticket-keep"])
      expect(await page.locator(hidden).first().isVisible()).toBe(false);
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    expect(await page.locator(".prose").first().isVisible()).toBe(true);
    await page.emulateMedia({ media: null });
    await page.click("#new-session");
    await page.getByRole("button", { name: "My bookings" }).click();
    const booking = page.getByRole("dialog", { name: "My bookings" }).locator(".booking", { hasText: reference });
    await booking.getByRole("button", { name: "Open its conversation" }).click();
    await page.locator(".exchange:focus .ticket").waitFor();
    await page.click("#new-session");
    await page.getByRole("button", { name: "My bookings" }).click();
    await booking.getByRole("button", { name: "Cancel booking" }).click();
    await booking.getByRole("button", { name: "Yes, cancel it" }).click();
    await lastAnswer(page).locator(".ticket.cancelled").waitFor();
    expect(await page.locator(".bubble").allTextContents()).toEqual([`Please cancel my booking ${reference}.`]);
    expect(complaints).toEqual([]);
  });

  test("what stands against a booking is in clear sight, with the guest's own words", async () => {
    const { page } = await on.guest("cleo");
    await ask(page, "I need step-free access.");
    await page.locator(".noted").waitFor();
    await ask(page, "Show me everything in Hamburg this month");
    const broken = lastAnswer(page).locator(".event", { has: page.locator(".mark-of.broken") });
    await ask(page, "Book 2 seats for Night Shift Trio, please");
    const stopped = lastAnswer(page).locator(".quote.stopped");
    expect((await broken.count()) + (await stopped.count())).toBeGreaterThan(0);
    if ((await stopped.count()) > 0) expect(await stopped.textContent()).toContain("You said: “I need step-free access.”");
  });

  test("a first visit has a greeting and four things to say, and a stand-in says once what it is", async () => {
    const { page } = await on.guest("dora");
    expect(await page.locator(".welcome h2").textContent()).toMatch(/^Good \w+\.$/);
    expect(await page.locator(".suggestion").count()).toBe(4);
    expect(await page.locator(".stand-in").count()).toBe(1);
    await page.reload();
    await page.locator(".suggestion").first().waitFor();
    expect(await page.locator(".stand-in").count()).toBe(0);
  });

  test("the first minute: each suggestion is one thought, is kept as one memory, and what is found then goes by both", async () => {
    const { page, complaints } = await on.guest("eve");
    for (const [suggestion, noted] of [
      ["I prefer jazz concerts", /jazz/],
      ["I need step-free access", /step-free/],
    ] as const) {
      await page.getByRole("button", { name: suggestion }).click();
      await lastAnswer(page).locator(".noted").first().waitFor();
      expect(await lastAnswer(page).locator(".noted").allTextContents()).toEqual([expect.stringMatching(noted)]);
    }
    await page.locator("#memory-word", { hasText: "Knows 2 things" }).waitFor();
    await page.getByRole("button", { name: "Anything good this weekend?" }).click();
    await lastAnswer(page).locator(".because-label").waitFor();
    expect(await lastAnswer(page).locator(".event").first().locator(".mark-of").allTextContents()).toEqual(["✓ step-free", "✓ jazz"]);
    // Whoever says something else is left alone.
    await ask(page, "Thanks!");
    expect(await page.locator(".suggestion").count()).toBe(0);
    // What was told once is suggested to nobody again.
    await page.click("#new-session");
    await page.getByRole("button", { name: "Anything good this weekend?" }).click();
    await lastAnswer(page).locator(".answer-bar").getByRole("button", { name: "Copy" }).waitFor();
    expect(await page.locator(".suggestion").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

needing("chromium")("the chat page where memory is off", () => {
  test("says so kindly, and asks for nothing that can't be had", async () => {
    const off = await openPageWorld({ MEM0_ENABLED: "false" });
    try {
      const { page, complaints } = await off.guest("ada");
      const failed: string[] = [];
      page.on("response", (response) => {
        if (response.status() >= 400) failed.push(response.url());
      });
      expect(await page.textContent("#memory-word")).toBe("Memory off");
      await ask(page, "Anything good this weekend?");
      await page.reload();
      await lastAnswer(page).locator(".event").first().waitFor();
      expect(failed).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await off.close();
    }
  });
});
