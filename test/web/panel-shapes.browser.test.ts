import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** What a finger needs at least, in CSS pixels. */
const TAP = 44;

/** Names of rules that are broken seriously, with where. */
async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}

needing("chromium")("the panel and the conversations in every shape", () => {
  let house: PageWorld;
  beforeAll(async () => {
    house = await openPageWorld();
    const ada = house.world.as("ada");
    await ada.say("What is on in Vienna?");
    await ada.say("Maybe I'm allergic to shellfish");
    await ada.post("/v1/memories", { text: "No nuts", strength: "hard", category: "dietary" });
    await ada.post("/v1/memories", { text: "A".repeat(400), category: "genre", subject: "companion:Ida" });
  });
  afterEach(() => house.leave());
  afterAll(() => house.close());

  describe.each([
    [390, 844, "light"],
    [390, 844, "dark"],
    [1440, 900, "light"],
    [1440, 900, "dark"],
  ] as const)("%i × %i, %s", (width, height, colorScheme) => {
    const phone = width < 500;
    const arrive = async () => {
      const guest = await house.guest("ada", {
        viewport: { width, height },
        colorScheme,
        hasTouch: phone,
        isMobile: phone,
        bypassCSP: true,
      });
      await guest.page.clock.install();
      return guest;
    };

    test("the memory panel: nothing is cut off, axe finds nothing serious, the phone's drawer closes by its scrim", async () => {
      const { page, complaints } = await arrive();
      await page.click("#memory-chip");
      await page.locator("#memory-list .memory").first().waitFor();
      await page.getByRole("button", { name: "Why? No nuts" }).click();
      await page.locator(".below", { hasText: "You added this yourself" }).waitFor();
      await page.getByRole("button", { name: /^Edit A/ }).click();
      for (const part of await page.locator("#memory-foot summary").all()) await part.click();
      await page.clock.fastForward(1_000);
      expect(await broken(page)).toEqual([]);
      expect(await page.evaluate("((panel) => panel.scrollWidth <= panel.clientWidth)(document.getElementById('memory-panel'))")).toBe(
        true,
      );
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      if (phone) {
        expect(await small(page, "#memory-panel")).toEqual([]);
        await page.mouse.click(5, height / 2);
        await expect.poll(() => page.locator("#memory-panel").isVisible()).toBe(false);
        expect(await page.evaluate("document.activeElement.id")).toBe("memory-chip");
      }
      expect(complaints).toEqual([]);
    });

    test("the conversations, and the dialogs beside them: axe finds nothing serious", async () => {
      const { page, complaints } = await arrive();
      if (phone) await page.click("#open-conversations");
      await page.locator("#session-list li").first().hover();
      await page.getByRole("button", { name: "Options for What is on in Vienna?" }).click();
      await page.clock.fastForward(1_000);
      expect(await broken(page)).toEqual([]);
      if (phone) expect(await small(page, "#conversations")).toEqual([]);
      for (const name of ["My bookings", "About"]) {
        await page.getByRole("button", { name, exact: true }).click();
        await page.getByRole("dialog", { name }).waitFor();
        expect(await broken(page)).toEqual([]);
        await page.keyboard.press("Escape");
      }
      await page.click("#user-button");
      expect(await broken(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      expect(complaints).toEqual([]);
    });
  });
});

/** Buttons that are lower than a finger needs. What a switch can be hit by is larger than what is seen of it. */
function small(page: Page, within: string): Promise<string[]> {
  const hit = `${within} :is(button, summary, input:not([type="checkbox"], .sr))`;
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(hit)})]
    .filter((node) => node.offsetParent !== null && node.getAttribute("role") !== "switch" && node.offsetHeight < ${TAP})
    .map((node) => node.outerHTML.slice(0, 80))`);
}

needing("chromium")("the page of a server that keeps no memory", () => {
  let house: PageWorld;
  beforeAll(async () => {
    house = await openPageWorld({ MEM0_ENABLED: "false" });
  });
  afterAll(() => house.close());

  test("[page-memory-off] says so kindly, asks for nothing that it can't have, and still converses", async () => {
    const { page, complaints } = await house.guest("plain");
    await page.click("#memory-chip");
    await page.getByText("every conversation begins anew").waitFor();
    expect(await page.locator("#memory-query, #memory-text").locator("visible=true").count()).toBe(0);
    await page.getByText("Your data").click();
    expect(await page.getByRole("button", { name: "Forget all memories" }).isVisible()).toBe(false);
    await page.fill("#message", "What is on in Vienna?");
    await page.press("#message", "Enter");
    await page.locator("#session-list .session-title", { hasText: "Vienna" }).waitFor();
    await page.locator(".turn.assistant.complete").waitFor();
    expect(complaints).toEqual([]);
  });
});
