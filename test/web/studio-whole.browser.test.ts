import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask } from "../support/sample-page.js";

const TOKEN = "operate-0123456789";
const MARKUP = `<img src=x onerror="window.owned=1"> I like oysters.`;

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 120_000 });

needing("chromium")("Studio over the whole product", () => {
  let on: PageWorld;
  beforeAll(async () => {
    on = await openPageWorld({ OPERATOR_TOKEN: TOKEN, STUDIO_CONTENT: "true" });
  });
  afterAll(() => on.close());

  /** Signs in on a page of its own, and notes what goes wrong from then on. */
  async function operator(): Promise<{ page: Page; complaints: string[] }> {
    const { context } = await on.guest("nobody");
    const page = await context.newPage();
    await page.goto(`${on.url}/studio`);
    await page.getByLabel("Operator's token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.locator(".conversation").first().waitFor();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    page.on("response", (response) => void (response.status() >= 400 && complaints.push(`${response.status()} ${response.url()}`)));
    return { page, complaints };
  }

  test("what a guest said, and what the turns knew, is there for the operator; a guest loads nothing of Studio", async () => {
    const { page: guest } = await on.guest("ada");
    const loaded: string[] = [];
    guest.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await ask(guest, "I prefer jazz concerts and I need step-free access.");
    await ask(guest, "Anything good this weekend?");
    await ask(guest, "I might be allergic to nuts, not sure.");
    await on.world.as("ben").say(MARKUP);
    expect(loaded.filter((path) => path.startsWith("/studio"))).toEqual([]);

    const { page, complaints } = await operator();
    await page.getByRole("link", { name: MARKUP }).waitFor();
    await page.getByRole("link", { name: /^I prefer jazz concerts/ }).click();
    await page.getByRole("link", { name: "Turn 2" }).click();
    await page.locator(".waterfall").waitFor();
    expect(await page.locator(".waterfall th[scope=row]").allTextContents()).toEqual(expect.arrayContaining(["window", "recall", "model"]));
    await page
      .getByRole("row", { name: /Needs step-free access/ })
      .getByText("yes", { exact: true })
      .waitFor();
    await page.getByText("Show what is another than in turn 1").click();
    await page.locator("ins").first().waitFor();
    await page.getByRole("link", { name: "Turn after" }).click();
    await page.locator(".proposals").getByText("asked").waitFor();
    await page.getByRole("button", { name: "Replay" }).click();
    const answers = page.locator(".side-by-side .card");
    await expect.poll(() => answers.count(), { timeout: 30_000 }).toBe(2);
    expect(await answers.nth(1).textContent()).toContain("Needs step-free access");
    await page.getByRole("link", { name: "The guest, ada" }).click();
    await page.locator(".timeline").getByText("I need step-free access", { exact: false }).first().waitFor();
    await page.locator("#as-of").focus();
    await page.keyboard.press("Home");
    await page.getByText("Held then, and now").waitFor();
    for (const [screen, wanted] of [
      ["waiting", ".scroll tbody tr"],
      ["queues", ".scroll tbody tr"],
      ["plots", "canvas"],
      ["health", ".scroll tbody tr"],
      ["guests", ".scroll tbody tr"],
    ] as const) {
      await page.evaluate(`location.hash = "#/${screen}"`);
      await page.locator(wanted).first().waitFor();
    }
    const narrow = "user=ada&from=2020-01-01&to=2099-01-01&memory_status=ok&failed=false";
    await page.evaluate(`location.hash = "#/conversations?${narrow}"`);
    await expect.poll(() => page.locator(".conversation").count()).toBe(1);
    expect([complaints, await page.evaluate("window.owned ?? null")]).toEqual([[], null]);
  });
});
