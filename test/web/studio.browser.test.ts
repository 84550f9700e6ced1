import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { HOSTILE_TEXTS, madeHostile } from "../support/hostile.js";
import { needing } from "../support/needing.js";
import { CONVERSATIONS } from "../support/studio-fixtures.js";
import { openStudio, STUDIO_TOKEN, type StudioStandIn, type Twist } from "../support/studio-stand-in.js";

/** Set, the pictures of docs/studio.md are taken anew. */
const TAKE_PICTURES = process.env.TAKE_PICTURES === "true";
const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const SIZES = [
  [390, 844],
  [820, 1180],
  [1440, 900],
] as const;
const SESSION = "0190f2c0-0000-7000-8000-000000000001";
/** Each screen, and what is there once it has its answers. */
const SCREENS = {
  conversations: [".cards"],
  [`conversations/harbour/ada/${SESSION}`]: [".facts", ".turns"],
  [`turns/harbour/ada/${SESSION}/3?compare=yes`]: [".columns", "#content:not(:has([role=status]:not(:empty)))"],
  guests: [".scroll tbody tr"],
  "guests/harbour/ada": [".facts", ".timeline"],
  "guests/harbour/ada?as_of=2026-05-20T00:00:00.000Z": [".facts", ".timeline"],
  waiting: [".scroll tbody tr"],
  queues: [".scroll tbody tr", "section .scroll button"],
  plots: [".plot"],
  health: [".scroll tbody tr"],
} as const;
type Screen = keyof typeof SCREENS;
const NAMES = Object.keys(SCREENS) as Screen[];

/** Objects whose names are data. */
const BY_NAME = new Set(["held_back", "recall", "proposals", "cost_by_model", "cost_by_tenant", "parts"]);
const hostile: Twist = (answer) => madeHostile(answer, (name) => BY_NAME.has(name));
const isLeaf = (value: unknown) => typeof value !== "object" || value === null;
/** Every single value is not known. */
const unknown: Twist = (value) => {
  if (isLeaf(value)) return null;
  if (Array.isArray(value)) return value.map(unknown);
  return Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, unknown(each)]));
};
/** Nothing is there but the lists that a page of rows has. */
const bare: Twist = (answer) =>
  Object.fromEntries(
    Object.entries(answer as object).map(([name, each]) => [
      name,
      (name === "data" || name === "steps") && Array.isArray(each) ? [] : null,
    ]),
  );
/** As a server answers that keeps texts to itself. */
const withoutTexts: Twist = (value) => {
  if (isLeaf(value)) return value;
  if (Array.isArray(value)) return value.map(withoutTexts);
  const entries = Object.entries(value as object);
  const texts = new Set(entries.flatMap(([name]) => (name.endsWith("_chars") ? [name.slice(0, -"_chars".length)] : [])));
  return Object.fromEntries(entries.map(([name, each]) => [name, texts.has(name) || name === "content" ? null : withoutTexts(each)]));
};

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 120_000 });

needing("chromium")("Studio", () => {
  let studio: StudioStandIn;
  let axe: string;
  beforeAll(async () => {
    studio = await openStudio();
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  });
  afterEach(() => studio.leave());
  afterAll(() => studio.close());

  /** Goes to a screen and waits for what it shows. */
  async function show(page: Page, screen: string, wanted: readonly string[]): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${screen}`)}`);
    for (const each of wanted) await page.locator(each).first().waitFor({ state: "attached" });
  }
  async function violations(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    const found = (await page.evaluate("axe.run()")) as { readonly violations: readonly Violation[] };
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  }
  const isWhole = (page: Page) => page.evaluate("document.documentElement.scrollWidth <= innerWidth");
  /** All that is on the page, folded away or not. */
  const textOf = (page: Page) => page.evaluate("document.querySelector('#studio').textContent") as Promise<string>;

  describe("how it looks", () => {
    const looks = SIZES.flatMap(([width, height]) => (["light", "dark"] as const).map((scheme) => [width, height, scheme] as const));
    test.each(looks)(
      "at %i × %i in %s each screen is whole, axe finds nothing, and nothing complains",
      async (width, height, colorScheme) => {
        const { page, complaints } = await studio.operator("conversations", { viewport: { width, height }, colorScheme });
        for (const screen of NAMES) {
          await show(page, screen, SCREENS[screen]);
          expect([screen, await isWhole(page), await violations(page)]).toEqual([screen, true, []]);
        }
        expect(complaints).toEqual([]);
      },
    );

    test("signing in is whole, axe finds nothing, and a wrong token is told in words", async () => {
      const { page, complaints } = await studio.visitor({ viewport: { width: 390, height: 844 } });
      expect([await isWhole(page), await violations(page)]).toEqual([true, []]);
      await page.getByLabel("Operator's token").fill("not the token");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.getByRole("alert").textContent()).toContain("That is not the operator's token.");
      expect(await violations(page)).toEqual([]);
      // The browser's own line about an answer of 401, for the first look and for the wrong token.
      expect(complaints.filter((complaint) => !complaint.includes("401"))).toEqual([]);
    });

    test("in forced colours states keep their signs, and axe finds nothing", async () => {
      const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/3`, { forcedColors: "active" });
      await page.locator(".waterfall").waitFor();
      expect(await page.evaluate(`getComputedStyle(document.querySelector(".state.good"), "::before").content`)).toBe('"✓ "');
      expect(await violations(page)).toEqual([]);
    });

    test("the reader chooses light or dark, and the choice stays; plots follow it", async () => {
      const { page } = await studio.operator("plots", { colorScheme: "light" });
      await page.locator("canvas").first().waitFor();
      const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
      const first = await paper();
      await page.getByRole("button", { name: /Colours/ }).click();
      await page.getByRole("button", { name: /Colours/ }).click();
      expect(await paper()).not.toBe(first);
      const dark = await paper();
      await page.reload();
      await page.locator("canvas").first().waitFor();
      expect(await paper()).toBe(dark);
    });
  });

  describe("[studio-shows-text-as-text] whatever is in an answer", () => {
    test.each(SIZES)("is text on each screen at %i × %i: nothing of it runs, loads or breaks the page", async (width, height) => {
      studio.twist = hostile;
      const { page, complaints } = await studio.operator("conversations", { viewport: { width, height } });
      const shown = new Set<string>();
      for (const screen of NAMES) {
        await show(page, screen, ["h1", "#content:not(:has([role=status]:not(:empty)))"]);
        const text = await textOf(page);
        for (const each of HOSTILE_TEXTS) if (text.includes(each)) shown.add(each);
        const made = await page.evaluate(`[...document.querySelectorAll(
          "#studio :is(img, script, iframe, object, svg:not(.bar), [onerror], [onload], [style*=owned], a[href]:not([href^='#/']))")]
          .map((node) => node.outerHTML.slice(0, 200))`);
        expect([screen, made, await isWhole(page), await page.evaluate("window.owned ?? null")]).toEqual([screen, [], true, null]);
        expect([screen, text.match(/\[object Object\]|undefined|\bNaN\b/g)]).toEqual([screen, null]);
      }
      expect([...shown]).toHaveLength(HOSTILE_TEXTS.length);
      expect(complaints).toEqual([]);
    });

    test("names in addresses reach the server as they were", async () => {
      for (const name of HOSTILE_TEXTS.slice(0, 5)) {
        studio.twist = (answer) => ({
          data: [{ tenant: name, user: name, session_id: name, title: "this one" }],
          next_cursor: null,
          ...notAPage(answer),
        });
        const { page } = await studio.operator("conversations");
        await page.getByRole("link", { name: "this one" }).click();
        await page.locator(".facts").waitFor();
        expect(studio.asked.at(-1)?.path).toEqual(["conversations", name]);
        const query = new URLSearchParams(studio.asked.at(-1)?.query);
        expect([query.get("tenant"), query.get("user")]).toEqual([name, name]);
        await studio.leave();
      }
    });

    test("an address that somebody made up leads nowhere else", async () => {
      const { page, complaints } = await studio.operator("conversations");
      for (const address of [
        `#/<img src=x onerror=window.owned=1>`,
        "#/%E0%A4%A",
        "#//evil.example",
        "#/javascript:window.owned=1",
        "#/turns/a",
      ]) {
        await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
        await page.locator("h1").first().waitFor();
        expect(await page.evaluate("[location.origin, window.owned ?? null]")).toEqual([studio.url, null]);
      }
      expect(complaints).toEqual([]);
    });
  });

  describe("what is not known", () => {
    test.each(NAMES)("is called unknown, and is never 0: %s", async (screen) => {
      studio.twist = unknown;
      const { page, complaints } = await studio.operator(screen);
      await page.locator("#content:not(:has([role=status]:not(:empty)))").waitFor();
      const text = ((await page.evaluate("document.querySelector('#content').textContent")) as string).replaceAll(/turn \d+|Turn \d+/g, "");
      expect(text).toMatch(/unknown|no title/i);
      expect(text.match(/(?<![\d.,-])0(?![\d.,:-])|null|NaN|undefined|Invalid/g)).toBeNull();
      expect(await violations(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });

    test.each(NAMES)("is told in words where there is nothing at all: %s", async (screen) => {
      studio.twist = bare;
      const { page, complaints } = await studio.operator(screen);
      await page.locator("#content:not(:has([role=status]:not(:empty)))").waitFor();
      await page.locator(".empty, .unknown").first().waitFor();
      expect(complaints).toEqual([]);
    });

    test("texts that the server keeps to itself are told by their length", async () => {
      studio.twist = withoutTexts;
      const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/3`);
      await page.locator(".columns").waitFor();
      const text = await textOf(page);
      expect(text).toContain("hidden · 27 characters");
      expect(text).not.toContain("Anything good this weekend?");
      expect(text).toContain("A case needs the message, which is not shown.");
    });
  });

  test("a text that isn't kept is told apart from one that is hidden", async () => {
    studio.twist = (answer) => {
      const { prompt_blocks: blocks, ...rest } = answer as { prompt_blocks?: readonly object[] };
      return { ...rest, ...(blocks && { prompt_blocks: blocks.map((block) => ({ ...block, text: null })) }) };
    };
    const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/3`);
    await page.locator(".blocks").first().waitFor();
    expect(await page.locator("pre").first().textContent()).toBe("not kept · 91 characters");
  });

  describe("conversations", () => {
    test(`of ${CONVERSATIONS} some pages are held, and each is asked for once it is wanted`, async () => {
      const { page } = await studio.operator("conversations");
      const rows = page.locator(".conversation");
      await expect.poll(() => rows.count()).toBe(50);
      for (let pages = 2; pages <= 12; pages++) {
        const asked = studio.asked.length;
        await page.getByRole("button", { name: "Show older ones" }).click();
        await expect.poll(() => studio.asked.length).toBeGreaterThan(asked);
        await expect.poll(() => page.getByRole("button", { name: "One moment …" }).count()).toBe(0);
        expect(await rows.count()).toBeLessThanOrEqual(450);
      }
      await page.getByRole("button", { name: "Back to the newest" }).click();
      await expect.poll(() => rows.count()).toBe(50);
    });

    test("are opened wherever their row is clicked", async () => {
      const { page } = await studio.operator("conversations");
      await page.locator(".conversation").nth(1).click();
      await expect.poll(() => page.url()).toMatch(/#\/conversations\/[^?]+/);
    });

    test("are narrowed by what the address says, which the form makes", async () => {
      const { page } = await studio.operator("conversations");
      await page.getByLabel("Guest").fill("cleo");
      await page.getByLabel("Memory").selectOption("timeout");
      await expect.poll(() => page.url()).toContain("user=cleo&memory_status=timeout");
      await expect.poll(() => studio.asked.at(-1)?.query).toContain("user=cleo&memory_status=timeout&limit=50");
      await page.getByLabel("From").fill("2026-11-01");
      await expect.poll(() => studio.asked.at(-1)?.query).toContain("from=2026-10-31T23%3A00%3A00.000Z");
      await page.getByText("by cleo · since 2026-11-01 · memory: timeout").waitFor();
      await page.getByRole("button", { name: "Take all away" }).click();
      await expect.poll(() => page.locator(".conversation").count()).toBe(50);
    });

    test("are asked for again while somebody looks, and not where live is off", async () => {
      const { page } = await studio.operator("conversations");
      await page.clock.install();
      await page.reload();
      await expect.poll(() => page.locator(".conversation").count()).toBe(50);
      const asked = () => studio.asked.filter(({ path }) => path[0] === "conversations").length;
      const before = asked();
      await page.clock.runFor(11_000);
      await expect.poll(asked).toBeGreaterThan(before);
      await page.getByLabel("Live").uncheck();
      const last = asked();
      await page.clock.runFor(60_000);
      expect(asked()).toBe(last);
    });

    test("a failure is told, with the way to try again, and what was there stays", async () => {
      const { page } = await studio.operator("conversations");
      await expect.poll(() => page.locator(".conversation").count()).toBe(50);
      studio.failing = 503;
      await page.getByRole("button", { name: "Show older ones" }).click();
      await expect.poll(() => page.getByRole("alert").textContent()).toContain("The store is away.");
      expect(await page.locator(".conversation").count()).toBe(50);
      studio.failing = null;
      await page.getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => page.locator(".conversation").count()).toBe(100);
      expect(await page.getByRole("alert").count()).toBe(0);
    });
  });

  describe("a turn", () => {
    test("shows what it was given and what came of it, and its prompt beside the one before", async () => {
      const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/3`);
      await page.locator(".waterfall").waitFor();
      expect(await page.locator(".waterfall tbody tr").allTextContents()).toEqual([
        "windowfrom 0 ms4 ms",
        "recallfrom 4 ms61 ms",
        "modelfrom 66 ms720 ms",
        "search eventsfrom 790 ms38 ms",
        "gatefrom 830 ms9 ms",
        "modelfrom 842 ms1.06 s",
        "write backbehind the replyafter",
      ]);
      await page.getByText("send_postcard failed: TOOL_FAILED").waitFor();
      await page.getByText("1 · others come before it").waitFor();
      expect(await page.locator(".proposals .state").allTextContents()).toEqual(["kept", "asked", "refused"]);
      await page.getByLabel("Show what is another than in turn 2").check();
      await page.locator("ins").first().waitFor();
      expect(await page.locator("ins").allTextContents()).toContain("added: - Prefers jazz concerts (genre, since March)\n");
      expect(page.url()).toContain("compare=yes");
      await page.getByRole("link", { name: "← Turn before" }).click();
      await page.getByRole("heading", { name: "Turn 2", exact: true }).waitFor();
    });

    test("is saved as a line that the evaluation reads", async () => {
      const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/1`);
      const button = page.getByRole("button", { name: "Save as an evaluation case" });
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      expect(download.suggestedFilename()).toBe("turn-1.jsonl");
      const path = (await download.path()) ?? "";
      const { conversationSets } = await import("../../bench/eval/conversations.js");
      const own = conversationSets(path).find(({ name }) => name === "own");
      expect(own?.conversations).toEqual([
        expect.objectContaining({
          messages: ["I prefer jazz concerts, and I need step-free access."],
          expect: [
            expect.objectContaining({ text: "Prefers jazz", quote: "I prefer jazz concerts", category: "genre", hard: false, ask: false }),
            expect.objectContaining({ text: "Is allergic to nuts", ask: true }),
          ],
        }),
      ]);
    });

    test("is replayed as its form says, and both answers stand side by side", async () => {
      const { page, complaints } = await studio.operator(`turns/harbour/ada/${SESSION}/3`);
      await page.getByLabel("Model").fill("gpt-5-mini");
      await page.getByLabel("Without memory").check();
      await page.getByText("Another prompt").click();
      await page.getByLabel("In the place of the product's prompt").fill("You are a bell-boy of few words.");
      await page.getByRole("button", { name: "Replay" }).click();
      const [then, now] = [page.getByRole("region", { name: "As it was answered" }), page.getByRole("region", { name: "Replayed" })];
      await now.getByText("gpt-5-mini").waitFor();
      await then.getByText("I went by what I know of you.").waitFor();
      await then.getByText("Prefers jazz concerts").waitFor();
      await now.getByText("No memory was recalled.").waitFor();
      expect(await page.getByText("Difference:").textContent()).toMatch(/Difference: -58 tokens, cost -(€0\.0017|0\.0017)/);
      const asked = studio.asked.at(-1);
      expect([asked?.path, asked?.body]).toEqual([
        ["turns", SESSION, "3", "replay"],
        { tenant: "harbour", user: "ada", memory: false, model: "gpt-5-mini", prompt: "You are a bell-boy of few words." },
      ]);
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        expect([width, await isWhole(page), await violations(page)]).toEqual([width, true, []]);
      }
      studio.failing = 502;
      await page.getByRole("button", { name: "Replay" }).click();
      await expect.poll(() => page.getByRole("alert").textContent()).toContain("The store is away.");
      expect(complaints.filter((complaint) => !complaint.includes("502"))).toEqual([]);
    });

    test("[studio-shows-text-as-text] what a replay answers is text, its length where texts are hidden, unknown where it is", async () => {
      const replayed = async (twist: Twist) => {
        studio.twist = (answer) => (typeof answer === "object" && answer !== null && "replayed" in answer ? twist(answer) : answer);
        const { page, complaints } = await studio.operator(`turns/harbour/ada/${SESSION}/3`);
        await page.getByRole("button", { name: "Replay" }).click();
        await page.locator(".side-by-side").waitFor();
        const made = await page.evaluate(`document.querySelectorAll(".side-by-side :is(img, script, iframe, [onerror], a)").length`);
        expect([made, await isWhole(page), await page.evaluate("window.owned ?? null"), complaints]).toEqual([0, true, null, []]);
        return (await page.locator(".side-by-side").textContent()) ?? "";
      };
      const told = await replayed(hostile);
      expect(HOSTILE_TEXTS.some((each) => told.includes(each))).toBe(true);
      expect(await replayed(withoutTexts)).toContain("· 114 characters");
      const nothing = await replayed((answer) => ({ ...(unknown(answer) as object), recorded: null, replayed: {} }));
      expect(nothing).toContain("It was not answered.");
      expect(nothing.match(/(?<![\d.,-])0(?![\d.,:-])|null|NaN|undefined/g)).toBeNull();
    });

    test("that isn't there is told in words, as are a conversation and a guest", async () => {
      studio.failing = 404;
      const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/99`);
      await page.getByText("There is no such turn").waitFor();
      await show(page, `conversations/harbour/ada/${SESSION}`, []);
      await page.getByText("There is no such conversation").waitFor();
      await show(page, "guests/harbour/nobody", []);
      await page.getByText("Nothing is kept of this guest.").waitFor();
    });

    test("without a record shows what the journal has", async () => {
      const kept = new Set(["tenant", "user", "session_id", "turn", "at", "message", "message_chars", "answer", "answer_chars"]);
      studio.twist = (answer) =>
        Object.fromEntries(Object.entries(answer as object).map(([name, each]) => [name, kept.has(name) ? each : null]));
      const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/3`);
      await page.getByText("No record of this turn was kept").waitFor();
      expect(await textOf(page)).toContain("Anything good this weekend?");
    });
  });

  test("with the keyboard alone an operator signs in, finds a turn, goes back in a guest's time, and tries a turn again", async () => {
    const { page, complaints } = await studio.visitor();
    await page.keyboard.press("Tab");
    await page.keyboard.type(STUDIO_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
    await expect.poll(() => page.locator(".conversation").count()).toBe(50);
    const tabTo = async (words: string) => {
      for (let steps = 0; steps < 60; steps++) {
        await page.keyboard.press("Tab");
        const focused = `(({ tagName, textContent, id }) => (/^(A|BUTTON|INPUT)$/.test(tagName) ? textContent + id : ""))(document.activeElement)`;
        if (((await page.evaluate(focused)) as string).includes(words)) return;
      }
      throw new Error(`Nothing with "${words}" takes the focus.`);
    };
    await tabTo("Anything good this weekend?");
    await page.keyboard.press("Enter");
    await page.locator(".turns").waitFor();
    await tabTo("Turn 3");
    await page.keyboard.press("Enter");
    await page.locator(".waterfall").waitFor();
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");
    await tabTo("The guest, ada");
    await page.keyboard.press("Enter");
    await page.locator(".timeline").first().waitFor();
    await tabTo("as-of");
    await page.keyboard.press("Home");
    await page.getByText("New since (3)").waitFor();
    await page.getByText("Held then, and no longer (1)").waitFor();
    expect(page.url()).toContain("as_of=2025-10-24");
    await page.evaluate(`location.hash = "#/queues"`);
    await page.locator("section .scroll button").first().waitFor();
    await tabTo("Try again");
    await page.keyboard.press("Enter");
    await page.getByText("It is tried again.").waitFor();
    const retried = studio.asked.find(({ method }) => method === "POST");
    expect([retried?.path, retried?.body]).toEqual([
      ["queues", "write-back", "retry"],
      { tenant: "harbour", user: "ada", session_id: SESSION },
    ]);
    expect(complaints.filter((complaint) => !complaint.includes("401"))).toEqual([]);
  });

  test("plots have tables beside them, in which what isn't known is no 0", async () => {
    const { page } = await studio.operator("plots");
    await page.locator("canvas").first().waitFor();
    const plot = page.locator(".plot", { hasText: "Time to the first token" });
    await plot.getByText("As a table").click();
    expect(await plot.locator(".scroll tbody tr").count()).toBe(24);
    expect(await plot.locator(".scroll tbody tr").nth(7).locator("td").allTextContents()).toEqual(["unknown", "unknown"]);
    expect(await page.locator("canvas").count()).toBe(10);
  });

  test("a session that has ended asks for the token, and one is then where one was", async () => {
    const { page } = await studio.operator("health");
    await page.locator(".scroll").waitFor();
    await page.context().clearCookies();
    await page.evaluate(`location.hash = "#/waiting"`);
    await page.getByLabel("Operator's token").fill(STUDIO_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Waiting for a word" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Operator's token").waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  // No test but a tool: it writes files, and is there only where somebody asks for them.
  const pictures = TAKE_PICTURES ? test : () => {};
  pictures("the pictures of docs/studio.md", async () => {
    for (const [name, screen, colorScheme] of [
      ["turn", `turns/harbour/ada/${SESSION}/3?compare=yes`, "light"],
      ["conversations", "conversations", "light"],
      ["guest", "guests/harbour/ada", "light"],
      ["plots", "plots", "dark"],
    ] as const) {
      const { page } = await studio.operator(screen, { viewport: { width: 1180, height: 700 }, colorScheme });
      await page.waitForLoadState("networkidle");
      await page.screenshot({ path: `${DOCS}studio-${name}.png` });
    }
    const { page } = await studio.operator(`turns/harbour/ada/${SESSION}/3`, { viewport: { width: 1180, height: 700 } });
    await page.getByLabel("Model").fill("gpt-5-mini");
    await page.getByRole("button", { name: "Replay" }).click();
    await page.locator(".side-by-side").waitFor();
    await page.locator(".section", { has: page.locator(".side-by-side") }).screenshot({ path: `${DOCS}studio-replay.png` });
    const phone = await studio.operator("conversations", {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 1.5,
      colorScheme: "dark",
    });
    await phone.page.locator(".conversation").first().waitFor();
    await phone.page.screenshot({ path: `${DOCS}studio-phone.png` });
  });
});

/** What of an answer a page of rows doesn't have. */
function notAPage(answer: unknown): object {
  const given = answer as Record<string, unknown>;
  return "data" in given ? {} : { ...given, title: "this one" };
}
