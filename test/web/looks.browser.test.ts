import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask, lastAnswer, say } from "../support/sample-page.js";

/** Set, the pictures of the README are taken anew. */
const TAKE_PICTURES = process.env.TAKE_PICTURES === "true";
const MAX_BYTES = 120_000;
const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const SIZES = [
  [390, 844],
  [820, 1180],
  [1440, 900],
] as const;
const SCHEMES = ["light", "dark"] as const;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("how the chat page looks", () => {
  let on: PageWorld;
  let axe: string;

  beforeAll(async () => {
    on = await openPageWorld();
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  });
  afterEach(() => on.leave());
  afterAll(() => on.close());

  /** What axe finds that is serious, each with where. */
  async function serious(page: Page, rules: object = {}): Promise<string[]> {
    await page.evaluate(axe);
    const { violations } = (await page.evaluate(`axe.run(${JSON.stringify({ rules })})`)) as { readonly violations: readonly Violation[] };
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
  }
  const isWhole = (page: Page) =>
    page.evaluate("document.documentElement.scrollWidth <= innerWidth && document.body.scrollWidth <= innerWidth");

  async function story(page: Page): Promise<void> {
    await ask(page, "I prefer jazz concerts and I need step-free access.");
    await page.locator(".noted").first().waitFor();
    if (await page.locator("#new-session").isVisible()) await page.click("#new-session");
    else await page.keyboard.press("Alt+n");
    await ask(page, "Anything good this weekend?");
    await lastAnswer(page).locator(".event").first().waitFor();
  }

  test.each(SIZES.flatMap(([width, height]) => SCHEMES.map((scheme) => [width, height, scheme] as const)))(
    "at %i × %i in %s nothing is cut off sideways, axe finds nothing serious, and nothing complains",
    async (width, height, colorScheme) => {
      const user = `looks-${width}-${colorScheme}`;
      const { page, complaints } = await on.guest(user, { viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
      expect(await serious(page)).toEqual([]);
      await story(page);
      await lastAnswer(page).locator(".pill.hard").click();
      await lastAnswer(page).getByRole("button", { name: "How I found this" }).click();
      expect(await isWhole(page)).toBe(true);
      expect(await serious(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  test("in forced colours what must hold keeps its sign, marks their words, and axe finds nothing serious", async () => {
    const { page, complaints } = await on.guest("contrast", { forcedColors: "active", reducedMotion: "reduce" });
    await story(page);
    expect(await lastAnswer(page).locator(".pill.hard").textContent()).toContain("◆");
    expect(await lastAnswer(page).locator(".mark-of.met").first().textContent()).toMatch(/^✓ /);
    const edge = (selector: string) => page.evaluate(`getComputedStyle(document.querySelector(".latest ${selector}")).borderTopWidth`);
    for (const selector of [".pill", ".event", ".book"]) expect([selector, await edge(selector)]).not.toEqual([selector, "0px"]);
    // Colours are the system's, where axe reads the page's own.
    expect(await page.evaluate(`getComputedStyle(document.querySelector("#new-session")).color`)).toBe("rgb(0, 0, 0)");
    expect(await serious(page, { "color-contrast": { enabled: false } })).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test.each([
    ["reduce", false],
    ["no-preference", true],
  ] as const)("who asks for %s of motion: an answer under way, a drawer and a switch move is %s", async (reducedMotion, moves) => {
    const { page } = await on.guest(`motion-${reducedMotion}`, { viewport: { width: 390, height: 844 }, reducedMotion });
    // It is never answered.
    await page.route("**/v1/chat", () => {});
    await say(page, "Anything good this weekend?");
    await page.locator(".typing").waitFor();
    await page.click("#open-conversations");
    const [typing, drawer, knob, log, running] = (await page.evaluate(`[
      getComputedStyle(document.querySelector(".typing i")).animationName !== "none",
      getComputedStyle(document.querySelector("#conversations")).animationName !== "none",
      getComputedStyle(document.querySelector(".knob")).transitionProperty !== "none",
      getComputedStyle(document.querySelector("#log")).scrollBehavior === "smooth",
      document.getAnimations().length > 0,
    ]`)) as boolean[];
    expect([typing, drawer, knob, log, running]).toEqual([moves, moves, moves, moves, moves]);
  });

  test("however long a conversation is, the page around it has nothing to scroll", async () => {
    const { page } = await on.guest("long", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await story(page);
    await lastAnswer(page).locator(".book").first().click();
    await page.locator(".quote").first().waitFor();
    const scrolled = await page.evaluate(`(() => {
      for (const node of [document.scrollingElement, document.body, document.querySelector("main")]) node.scrollTop = 500;
      return [scrollY, document.body.scrollTop, document.querySelector("main").scrollTop];
    })()`);
    expect(scrolled).toEqual([0, 0, 0]);
  });

  test("twice as large, it is whole", async () => {
    const { page } = await on.guest("zoom", { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 });
    await story(page);
    expect(await isWhole(page)).toBe(true);
    expect(await page.locator("#message").isVisible()).toBe(true);
  });

  test("on a phone the columns are drawers with a way out, what a finger hits is 44 px, and no field takes the focus by itself", async () => {
    const { page } = await on.guest("phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    expect(await page.evaluate("document.activeElement === document.body")).toBe(true);
    await story(page);
    const small = await page.evaluate(`[...document.querySelectorAll("button, textarea")]
      .filter((node) => node.offsetParent !== null && !node.matches(".pill, .mark-of"))
      .filter((node) => node.getBoundingClientRect().height < 44).map((node) => node.outerHTML.slice(0, 100))`);
    expect(small).toEqual([]);
    await page.click("#open-conversations");
    await page.locator("#conversations .close").waitFor();
    expect(await page.evaluate("document.querySelector('main').inert")).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.evaluate("document.activeElement.id")).toBe("open-conversations");
    await page.click("#memory-chip");
    await page.locator("#memory-panel .close").waitFor();
    await page.click("#scrim", { position: { x: 4, y: 400 } });
    await expect.poll(() => page.locator("#memory-panel").isVisible()).toBe(false);
  });

  test("the guest chooses light or dark, and the choice stays", async () => {
    const { page } = await on.guest("theme", { colorScheme: "light" });
    const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await paper();
    await page.click("#theme");
    await page.click("#theme");
    const dark = await paper();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.locator(".welcome").waitFor();
    expect(await paper()).toBe(dark);
  });

  test("a notice never lies over the message field", async () => {
    const { page } = await on.guest("notice", { permissions: ["clipboard-write"] });
    await ask(page, "hello");
    await lastAnswer(page).getByRole("button", { name: "Copy" }).click();
    await page.locator(".toast").waitFor();
    const [toast, field] = await Promise.all([page.locator(".toast").boundingBox(), page.locator(".field").boundingBox()]);
    expect((toast?.y ?? 0) + (toast?.height ?? 0)).toBeLessThanOrEqual(field?.y ?? 0);
  });

  test("all of the page is at most 120 kB on the way, and comes once", async () => {
    const { page, tab } = await on.guest("bytes");
    const sizes = async (at: Page) =>
      (await at.evaluate(`performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
        .filter(({ name }) => !name.includes("/v1/")).map(({ transferSize }) => transferSize)`)) as number[];
    const all = (await sizes(page)).reduce((sum, size) => sum + size, 0);
    expect(all).toBeGreaterThan(10_000);
    expect(all).toBeLessThan(MAX_BYTES);
    const again = (await sizes(await tab())).reduce((sum, size) => sum + size, 0);
    expect(again).toBeLessThan(10_000);
  });

  // No test but a tool: it writes files, and is there only where somebody asks for them.
  const pictures = TAKE_PICTURES ? test : () => {};
  pictures("the README's pictures", async () => {
    const desk = await on.guest("ada", { viewport: { width: 1440, height: 860 }, colorScheme: "light", reducedMotion: "reduce" });
    await story(desk.page);
    await desk.page.screenshot({ path: `${DOCS}page-desktop.png` });
    const tablet = await on.guest("cleo", { viewport: { width: 820, height: 1180 }, colorScheme: "light", reducedMotion: "reduce" });
    await story(tablet.page);
    await tablet.page.click("#memory-chip");
    await tablet.page.locator("#memory-list .memory").first().waitFor();
    await tablet.page.screenshot({ path: `${DOCS}page-tablet.png` });
    const phone = {
      viewport: { width: 390, height: 844 },
      colorScheme: "dark",
      hasTouch: true,
      isMobile: true,
      deviceScaleFactor: 1.5,
    } as const;
    const pocket = await on.guest("bea", { ...phone, reducedMotion: "reduce" });
    await story(pocket.page);
    await pocket.page.screenshot({ path: `${DOCS}page-phone.png` });
  });
});
