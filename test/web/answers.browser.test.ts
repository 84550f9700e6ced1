import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import { needing } from "../support/needing.js";
import { gate, problem } from "../support/page-faults.js";
import type { SampleReply } from "../support/sample-application.js";
import { ask, lastAnswer, openSamplePage, type SamplePage, say } from "../support/sample-page.js";
import { MEMORY_ID, sampleMemory } from "../support/samples.js";

const ATTACK =
  '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[x](javascript:window.hacked=1)<svg/onload=window.hacked=1><a href="data:text/html,x">y</a>';

const card = (id: string, title: string, more: object = {}) => ({
  id,
  type: "event_card",
  name: title,
  content: JSON.stringify({
    event_id: id,
    title,
    venue: "Nebelhorn",
    city: "Hamburg",
    date: "2999-11-22",
    day: "Friday 22 November",
    time: "19:00",
    from_price_eur: 20,
    ...more,
  }),
  display: "inline" as const,
});
const recalled = (id: string, text: string, more: object = {}) => ({
  id,
  text,
  category: "genre",
  strength: "soft" as const,
  score: 0.9,
  source: null,
  created_at: "2026-03-02T10:00:00Z",
  ...more,
});

const JAZZ_IN_TOKYO = "今週末に東京でジャズのコンサートはありますか";

/** What a model may say around what it shows: each line stands on the page. */
const SENTENCES = [
  ["Cellar Night plays on two evenings at the Nebelhorn in Hamburg, from €20.", "There is no lift."],
  ["Cellar Night, Friday 27 November, 19:00.", "It is not refundable.", "The kitchen is not nut-free."],
  ["Shall I book it anyway?"],
];
const TEXTS = SENTENCES.map((lines) => lines.join("\n\n"));
const PARTS: SampleReply = {
  content: TEXTS.join("\n\n"),
  elements: [
    card("n27", "Cellar Night", { date: "2998-11-27", day: "Friday 27 November" }),
    card("d4", "Cellar Night", { date: "2998-12-04", day: "Friday 4 December" }),
    {
      id: "quote:1",
      type: "booking_quote",
      name: "Cellar Night",
      content: JSON.stringify({ status: "stopped", token: "77", title: "Cellar Night", quantity: 2 }),
      display: "inline",
    },
    ...["Needs step-free access", "Is allergic to nuts"].map((name, at) => ({
      id: `constraint:${at}`,
      type: "constraint",
      name,
      content: JSON.stringify({ memory_id: `m${at}`, because: "It has no lift.", token: at === 0 ? "77" : "of another offer" }),
      display: "side" as const,
    })),
  ],
  placed: [
    { after: TEXTS[0]?.length ?? 0, elements: ["n27", "d4"] },
    { after: `${TEXTS[0]}\n\n${TEXTS[1]}`.length, elements: ["quote:1", "constraint:0", "constraint:1"] },
  ],
};

const REPLIES: Record<string, SampleReply> = {
  parts: PARTS,
  used: {
    content: "Jazz, then.",
    recalled: [recalled("m1", "Prefers jazz"), recalled("m3", "Likes Rome"), recalled("m4", "Plays chess")],
    used: ["m1"],
  },
  plain: { content: "**Bold** and [a link](https://example.org/)." },
  rich: {
    content:
      "# Heading\n\n- [x] done\n- [ ] open\n\n> said\n\n| a | b |\n|---|---|\n| Donaudampfschifffahrt | x |\n\n```\nlet x = 1;\n```\n\nשלום עולם",
  },
  attack: {
    content: ATTACK,
    elements: [
      { id: "e1", type: "text", name: ATTACK, content: ATTACK, display: "side" },
      card("e2", ATTACK, {
        ...{ venue: ATTACK, day: ATTACK, date: ATTACK, fit: [{ memory_id: ATTACK, label: ATTACK, met: false }] },
        // What a component would take for its own.
        ...{ ref: ATTACK, key: ATTACK, children: ATTACK, dangerouslySetInnerHTML: { __html: ATTACK } },
      }),
      {
        id: "e3",
        type: "booking_quote",
        name: ATTACK,
        content: JSON.stringify({ title: ATTACK, status: "stopped", token: ATTACK }),
        display: "inline",
      },
      { id: "e4", type: "booking_receipt", name: ATTACK, content: JSON.stringify({ title: ATTACK, reference: ATTACK }), display: "inline" },
    ],
    steps: [
      { id: "s", type: "tool_call", name: ATTACK, input: { [ATTACK]: ATTACK }, output: { status: ATTACK }, duration_ms: 1, error: null },
    ],
    recalled: [recalled(MEMORY_ID, ATTACK, { strength: "hard", subject: `companion:${ATTACK}` })],
    learns: ATTACK,
  },
  image: { content: "![look](https://example.org/p.png?words=secret)" },
  refused: {
    content: "",
    failsOnce: new AppError("MODEL_REFUSED_REQUEST", { hint: "Whoever runs this server: check the key (OPENAI_API_KEY)." }),
  },
  away: { content: "", failsOnce: new AppError("MODEL_UNAVAILABLE") },
  filtered: { content: "", failsOnce: new AppError("MODEL_CONTENT_FILTER") },
  late: { content: "You are welcome.", status: "timeout" },
  "late cards": { content: "One evening.", status: "timeout", elements: [card("e1", "Evening 1")] },
  rtl: {
    content: "בבקשה",
    elements: [
      card("r", "ערב 2 של ג׳אז", { venue: "נבל", city: "המבורג" }),
      {
        id: "quote:r",
        type: "booking_quote",
        name: "ערב",
        content: JSON.stringify({
          status: "needs_confirmation",
          token: "9",
          quantity: 2,
          section: "יציע",
          price_each: "€23",
          total: "€46",
        }),
        display: "inline",
      },
    ],
  },
  [JAZZ_IN_TOKYO]: {
    content: "この週末は東京で三つのジャズのコンサートがあります。どの会場も段差がなく、車椅子でもお入りいただけます。".repeat(4),
    elements: [
      card("c1", "東京フィルハーモニー交響楽団と若い演奏家たちによる真夏の夜のジャズと管弦楽の夕べ", {
        ...{ venue: "東京文化会館大ホール", city: "東京", day: "11月22日金曜日" },
        fit: [{ memory_id: MEMORY_ID, label: "ジャズ", met: true }],
      }),
    ],
    recalled: [recalled(MEMORY_ID, "ジャズのコンサートが好き")],
    used: [MEMORY_ID],
    learns: "窓際の席が好き",
  },
  slow: { content: "From this conversation alone.", status: "degraded" },
  learn: { content: "Gladly.", learns: "Likes the balcony" },
  wait: { content: "Is that so?", waits: "No peanuts" },
  many: {
    content: "A long list.",
    elements: [1, 2, 3, 3, 4, 5, 6, 7].map((n) => card(`e${n}`, `Evening ${n}`)),
  },
  found: {
    content:
      "Two for you:\n\n1. The Foghorn Five — Friday 22 November, 19:00, Hamburg, from €20: a voice like the one in March\n" +
      "2. Cellar Night · Friday 22 November, 19:00 · Nebelhorn, Hamburg · from €20 · menus: vegan\n\nShall I look at seats?",
    elements: [
      card("a", "The Foghorn Five", { fit: [{ memory_id: "m1", label: "jazz", met: true }] }),
      card("b", "Cellar Night", {
        fit: [
          { memory_id: "m1", label: "jazz", met: true },
          { memory_id: "m2", label: "not step-free", met: false },
        ],
        seats: 3,
        menus: ["vegan"],
      }),
    ],
    recalled: [recalled("m1", "Prefers jazz"), recalled("m2", "Needs step-free access", { strength: "hard", category: "accessibility" })],
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
      display: "inline" as const,
    })),
  },
  approval: {
    content: "Shall I?",
    elements: [
      { token: "0011", question: "Cleaning, Wednesday", conflicts: [] },
      { token: "0022", question: "Cleaning, Monday", conflicts: ["Is allergic to latex. It is done with latex gloves."] },
    ].map((data, n) => ({
      id: `approval:${n}`,
      type: "approval",
      name: "book_slot",
      content: JSON.stringify(data),
      display: "inline" as const,
    })),
  },
  recall: { content: "As you like it.", recalled: [recalled(MEMORY_ID, "Likes the quiet rows at the back")] },
};

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000 });

needing("chromium")("answers on the chat page", () => {
  let on: SamplePage;

  beforeAll(async () => {
    on = await openSamplePage((message) => REPLIES[message] ?? { content: `You said: ${message}` });
  });
  afterEach(() => on.leave());
  afterAll(() => on.close());

  test("an answer is streamed and rendered as markdown; the conversation is listed; nothing complains", async () => {
    const { page, complaints } = await on.guest("plain");
    await ask(page, "plain");
    await lastAnswer(page).locator("strong", { hasText: "Bold" }).waitFor();
    const link = lastAnswer(page).locator("a");
    expect(await link.getAttribute("href")).toBe("https://example.org/");
    expect(await link.getAttribute("rel")).toContain("noopener");
    await page.locator(".sessions .session-title", { hasText: "plain" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("tables, code, tasks and quotations are shown as such; headings follow the page's own, and each block has its direction", async () => {
    const { page } = await on.guest("rich");
    await ask(page, "rich");
    const answer = lastAnswer(page);
    expect(await answer.locator("h3", { hasText: "Heading" }).count()).toBe(1);
    expect(await answer.locator("li.task").allTextContents()).toEqual([expect.stringContaining("☑"), expect.stringContaining("☐")]);
    expect(await answer.locator("blockquote").textContent()).toContain("said");
    expect(await answer.locator(".wide[tabindex='0'] > table, .wide[tabindex='0'] > pre").count()).toBe(2);
    expect((await answer.locator("td").first().boundingBox())?.height).toBeLessThan(60);
    expect(await answer.locator("p", { hasText: "שלום" }).getAttribute("dir")).toBe("auto");
  });

  test("[hostile-input] nothing that the server sends becomes markup that acts: answer, cards, tools, memories, titles", async () => {
    const { page, complaints } = await on.guest("attack");
    await ask(page, "attack");
    await page.locator(".noted").waitFor();
    await lastAnswer(page).getByRole("button", { name: "How I found this" }).click();
    await lastAnswer(page).locator(".pill").click();
    await page.click("#memory-chip");
    await ask(page, ATTACK);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("#log img, #log svg, #log script, #memory-panel img, .sessions img").count()).toBe(0);
    expect(await page.locator('#log a[href^="javascript:"], #log a[href^="data:"]').count()).toBe(0);
    expect(await page.locator(".bubble").last().textContent()).toBe(ATTACK);
    expect(complaints.filter((line) => !line.includes("404"))).toEqual([]);
  });

  test("an image in an answer is not fetched: its address could carry words away", async () => {
    const { page } = await on.guest("image");
    const fetched: string[] = [];
    page.on("request", (request) => fetched.push(request.url()));
    await ask(page, "image");
    expect(await lastAnswer(page).locator("a", { hasText: "look" }).getAttribute("href")).toBe("https://example.org/p.png?words=secret");
    expect(fetched.filter((url) => url.includes("example.org"))).toEqual([]);
  });

  test("[parts-say-all] every sentence of the model stands on the page, in its order, with what it showed where that came", async () => {
    const { page, complaints } = await on.guest("parts");
    const check = async () => {
      const body = lastAnswer(page).locator(".parts");
      expect(await body.locator("> *").evaluateAll((nodes) => nodes.map((node) => node.className))).toEqual([
        "prose",
        "cards",
        "prose",
        "cards",
        "cards",
        "prose",
      ]);
      const said = await body.locator(".prose").allInnerTexts();
      expect(said.map((text) => text.replaceAll("\n\n", "\n").split("\n"))).toEqual(SENTENCES);
      expect(await body.locator(".event h3").allTextContents()).toEqual(["1 Cellar Night", "2 Cellar Night"]);
      expect(await body.locator(".event .event-where").allTextContents()).toEqual([
        expect.stringContaining("27 November"),
        expect.stringContaining("4 December"),
      ]);
      // Beside the offer, in sight, before the button that passes over it.
      const quote = body.locator(".quote.stopped");
      expect(await quote.locator(".against").allTextContents()).toEqual([
        expect.stringContaining("Needs step-free access. It has no lift."),
      ]);
      expect(await quote.locator(".against").isVisible()).toBe(true);
      expect(await body.locator(".constraint").allTextContents()).toEqual([expect.stringContaining("Is allergic to nuts")]);
    };
    await ask(page, "parts");
    await check();
    await page.reload();
    await lastAnswer(page).locator(".quote").waitFor();
    await check();
    expect(complaints).toEqual([]);
  });

  test("[used-is-what-shaped] only what shaped the answer stands above it; what else was known is folded away, after a reload too", async () => {
    const { page } = await on.guest("used");
    await ask(page, "used");
    for (const step of ["live", "again"]) {
      if (step === "again") await page.reload();
      await lastAnswer(page).locator(".because-label").waitFor();
      expect(await lastAnswer(page).locator(".pill").allInnerTexts()).toEqual(["prefers jazz"]);
      const toggle = lastAnswer(page).getByRole("button", { name: "Also known: 2" });
      await toggle.click();
      expect(await lastAnswer(page).locator(".pill").allInnerTexts()).toEqual(["prefers jazz", "likes Rome", "plays chess"]);
      await toggle.click();
      expect(await lastAnswer(page).locator(".pill").count()).toBe(1);
    }
  });

  test("cards have the numbers and facts of what was found, and the words of the answer stay as they were said", async () => {
    const { page } = await on.guest("found");
    await ask(page, "found");
    expect(await lastAnswer(page).locator(".prose").textContent()).toContain("a voice like the one in March");
    const first = lastAnswer(page).locator(".event").first();
    expect(await first.locator(".event-where").textContent()).toContain("19:00 · Nebelhorn, Hamburg");
    expect(await first.locator("h3").textContent()).toBe("1 The Foghorn Five");
    expect(await lastAnswer(page).locator(".book").allTextContents()).toEqual(["Book for 2", "Book for 3"]);
  });

  test("marks say how an event suits what is known, and lead to the memory; what stands against it comes first", async () => {
    const { page } = await on.guest("marks");
    await ask(page, "found");
    const second = lastAnswer(page).locator(".event").nth(1);
    expect(await second.locator(".mark-of").allTextContents()).toEqual(["✗ not step-free", "✓ jazz"]);
    await second.getByRole("button", { name: "✗ not step-free" }).click();
    const pill = lastAnswer(page).locator(".pill.hard");
    expect(await pill.getAttribute("aria-expanded")).toBe("true");
    expect(await page.evaluate("document.activeElement.dataset.memory")).toBe("m2");
  });

  test("numbers keep their place beside words that are read from right to left", async () => {
    const { page } = await on.guest("rtl");
    await ask(page, "rtl");
    const lefts = async (texts: readonly string[], within: string) =>
      Promise.all(
        texts.map(async (text) => (await lastAnswer(page).locator(within).getByText(text, { exact: true }).boundingBox())?.x ?? -1),
      );
    for (const [within, texts] of [
      [".event-where", ["19:00", "נבל, המבורג"]],
      [".event h3", ["1", "ערב 2 של ג׳אז"]],
      [".quote dd", ["2 seats, יציע", "€23 each"]],
    ] as const) {
      const places = await lefts(texts, within);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(Math.min(...places)).toBeGreaterThan(0);
    }
  });

  test("a conversation without blanks between its words is typed, answered, wrapped, listed and found", async () => {
    const { page, complaints } = await on.guest("cjk");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.fill("#message", JAZZ_IN_TOKYO);
    // The first Enter chooses the word.
    await page.locator("#message").dispatchEvent("keydown", { key: "Enter", isComposing: true });
    expect(await page.locator(".turn").count()).toBe(0);
    await ask(page, JAZZ_IN_TOKYO);
    await lastAnswer(page).locator(".noted", { hasText: "窓際の席が好き" }).waitFor();
    expect(await lastAnswer(page).locator(".pill").textContent()).toBe("ジャズのコンサートが好き");
    expect(await lastAnswer(page).locator(".mark-of").textContent()).toBe("✓ ジャズ");
    const wide =
      await page.evaluate(`[document.documentElement, ...document.querySelectorAll(".exchange, .prose p, .event, .event h3, .bubble")]
      .filter((node) => node.scrollWidth > node.clientWidth && node.clientWidth > 0).map((node) => node.className)`);
    expect(wide).toEqual([]);
    const linesOf = async (selector: string) => ((await page.locator(selector).last().boundingBox())?.height ?? 0) > 40;
    expect([await linesOf(".prose p"), await linesOf(".event h3"), await linesOf(".bubble")]).toEqual([true, true, true]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.fill("#session-query", "東京");
    await expect.poll(() => page.locator("#session-list .session-title").allTextContents()).toEqual([JAZZ_IN_TOKYO]);
    await page.reload();
    await lastAnswer(page).locator(".event h3", { hasText: "真夏の夜のジャズ" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("each card is shown once, and a few at first", async () => {
    const { page } = await on.guest("many");
    await ask(page, "many");
    expect(await lastAnswer(page).locator(".card").count()).toBe(5);
    await lastAnswer(page).getByRole("button", { name: "Show 2 more" }).click();
    expect(await lastAnswer(page).locator(".card").count()).toBe(7);
  });

  test("a card's button waits while an answer is under way, says why, and can be pressed after it", async () => {
    const { page } = await on.guest("presses");
    await ask(page, "found");
    const book = page.getByRole("button", { name: "Book for 2: The Foghorn Five" });
    const held = gate();
    await page.route("**/v1/chat", async (route) => {
      await held.opened;
      await route.continue();
    });
    await say(page, "plain");
    await expect.poll(() => book.getAttribute("aria-disabled")).toBe("true");
    await book.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.locator(".toast", { hasText: "I am still answering" }).waitFor();
    expect(await page.locator(".toast").count()).toBe(1);
    await say(page, "typed meanwhile");
    await page.locator(".toast", { hasText: "Your words stay here" }).waitFor();
    expect(await page.inputValue("#message")).toBe("typed meanwhile");
    expect(await page.locator(".turn.user").count()).toBe(2);
    held.open();
    await lastAnswer(page).locator("strong", { hasText: "Bold" }).waitFor();
    await expect.poll(() => book.getAttribute("aria-disabled")).toBe(null);
    await book.click();
    await lastAnswer(page).getByText("You said: Book 2 seats for The Foghorn Five").waitFor();
  });

  test("whoever presses a button that says something by keyboard goes on at what was said, wherever the button was", async () => {
    const { page } = await on.guest("keys");
    const focused = () => page.evaluate("document.activeElement.querySelector('.bubble')?.textContent ?? document.activeElement.id");
    await page.locator(".suggestion").first().focus();
    await page.keyboard.press("Enter");
    const first = await page.locator(".suggestion, .bubble").first().textContent();
    await expect.poll(focused).toBe(first);
    await page.locator(".turn.assistant.complete").waitFor();
    await ask(page, "quote");
    expect(await focused()).toBe("message");
    await page.getByRole("button", { name: "Confirm: Evening 0" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Yes, book it, please.");
    await lastAnswer(page).getByText("You said: Yes, book it, please.").waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => page.evaluate("document.activeElement.closest('.exchange') !== null")).toBe(true);
  });

  test("a quote's button sends the guest's words with its token, and an answered quote has none any more", async () => {
    const { page, complaints } = await on.guest("quote");
    await ask(page, "quote");
    await lastAnswer(page).getByRole("button", { name: "Book anyway: Evening 1" }).click();
    await lastAnswer(page).getByText("You said: Book it anyway, please.").waitFor();
    expect(on.sample.consents.at(-1)).toEqual({ message: "Book it anyway, please.", consent: "44556677" });
    expect(await page.locator(".offer").count()).toBe(0);
    await page.reload();
    await page.locator(".quote").first().waitFor();
    expect(await page.locator(".offer").count()).toBe(0);
    await ask(page, "quote");
    await lastAnswer(page).getByRole("button", { name: "Confirm: Evening 0" }).click();
    await lastAnswer(page).getByText("You said: Yes, book it, please.").waitFor();
    expect(on.sample.consents.at(-1)).toEqual({ message: "Yes, book it, please.", consent: "00112233" });
    expect(complaints).toEqual([]);
  });

  test("what any domain's tool showed has a button that is the guest's word to just that, and what stands against it beside it", async () => {
    const { page, complaints } = await on.guest("approval");
    await ask(page, "approval");
    await lastAnswer(page).getByText("✗ Is allergic to latex. It is done with latex gloves.").waitFor();
    await lastAnswer(page).getByRole("button", { name: "Do it anyway: Cleaning, Monday" }).click();
    await lastAnswer(page).getByText("You said: Do it anyway, please.").waitFor();
    expect(on.sample.consents.at(-1)).toEqual({ message: "Do it anyway, please.", consent: "0022" });
    expect(await page.locator(".offer").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test.each([
    ["refused", "something in the house has to be mended", /It is nothing that you said.*check the key \(OPENAI_API_KEY\)/],
    ["away", "I can't answer right now", /which is not your doing/],
    ["filtered", "I can't answer this", /say it differently/],
  ])("a failure says whose it is: %s", async (message, title, hint) => {
    const { page } = await on.guest(`fails-${message}`);
    await say(page, message);
    const told = lastAnswer(page).locator(".problem");
    await told.getByText(title).waitFor();
    expect(await told.textContent()).toMatch(hint);
  });

  test("a slow memory is named where something was chosen by it, and not where nothing was", async () => {
    const { page } = await on.guest("late");
    await ask(page, "late");
    expect(await lastAnswer(page).getByText("My memory was slow").count()).toBe(0);
    await ask(page, "late cards");
    await lastAnswer(page).getByText("My memory was slow").waitFor();
  });

  test("a memory out of reach is said in words", async () => {
    const { page } = await on.guest("slow");
    await ask(page, "slow");
    await lastAnswer(page).getByText("My memory is out of reach").waitFor();
  });

  test("what an answer went by opens with its reason, is edited in place, and forgotten with a way back", async () => {
    const owner = ownerOf("default", "recall");
    on.sample.memories.set(MEMORY_ID, { ...sampleMemory({ source: null, text: "Likes the quiet rows at the back" }), owner });
    const { page } = await on.guest("recall");
    await ask(page, "recall");
    const pill = lastAnswer(page).locator(".pill", { hasText: "likes the quiet rows at the back" });
    await pill.click();
    await lastAnswer(page).getByText("You added this yourself").waitFor();
    await lastAnswer(page).locator(".because-actions").getByRole("button", { name: "Edit" }).click();
    let sent = 0;
    page.on("request", (request) => {
      if (request.method() === "PATCH") sent += 1;
    });
    await page.getByRole("textbox", { name: "What is true" }).fill("Likes the front rows");
    await page.evaluate(`for (const form of [document.activeElement.form, document.activeElement.form]) form.requestSubmit()`);
    await lastAnswer(page).locator(".pill", { hasText: "likes the front rows" }).waitFor();
    expect([...on.sample.memories.values()].find((memory) => memory.owner === owner)?.text).toBe("Likes the front rows");
    expect(sent).toBe(1);
    await lastAnswer(page).locator(".pill").click();
    await lastAnswer(page).locator(".because-actions").getByRole("button", { name: "Forget" }).click();
    await lastAnswer(page).locator(".pill.gone").waitFor();
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await lastAnswer(page).locator(".pill:not(.gone)").waitFor();
    expect(on.sample.memories.has(MEMORY_ID)).toBe(true);
  });

  test("what was learnt is named under the answer, and can be forgotten there", async () => {
    const { page } = await on.guest("learn");
    await ask(page, "learn");
    const noted = page.locator(".noted", { hasText: "Noted: Likes the balcony" });
    await noted.getByRole("button", { name: "Forget: Likes the balcony" }).click();
    await page.locator(".noted.gone").waitFor();
    expect(await page.evaluate("document.activeElement.matches('.noted.gone')")).toBe(true);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await noted.getByRole("button", { name: "Forget" }).waitFor();
  });

  test.each([
    ["Yes", "active", "Kept: No peanuts"],
    ["No", "superseded", "Not kept."],
  ])("what waits for the guest's word is asked under the answer: %s settles it, and the question is gone", async (word, status, told) => {
    const user = `wait-${word}`;
    const { page, complaints } = await on.guest(user);
    await ask(page, "wait");
    const question = "Shall I keep “No peanuts”?";
    const chip = lastAnswer(page).getByRole("group", { name: question });
    await chip.getByRole("button", { name: `${word}. ${question}` }).click();
    const settled = lastAnswer(page).getByRole("status").getByText(told);
    await settled.waitFor();
    const mine = [...on.sample.memories.values()].filter((memory) => memory.owner === ownerOf("default", user));
    expect(mine.map((memory) => memory.status)).toEqual([status]);
    expect(await page.getByRole("button", { name: question }).count()).toBe(0);
    await page.reload();
    await page.locator(".turn.assistant", { hasText: "Is that so?" }).waitFor();
    expect(await page.locator(".confirm").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("a question that was answered elsewhere meanwhile goes, and whoever types on is left where they are", async () => {
    const { page } = await on.guest("wait-elsewhere");
    await ask(page, "wait");
    const held = gate();
    await page.route("**/approve", async (route) => {
      await held.opened;
      await route.fulfill(problem(400, "INVALID_REQUEST"));
    });
    await lastAnswer(page).getByRole("button", { name: "Yes. Shall I keep “No peanuts”?" }).click();
    await page.locator("#message").focus();
    held.open();
    await page.locator(".toast", { hasText: "That was answered already." }).waitFor();
    // The sample still has it waiting, and asks anew.
    await page.unroute("**/approve");
    const yes = gate();
    await page.route("**/approve", async (route) => {
      await yes.opened;
      await route.continue();
    });
    await lastAnswer(page).getByRole("button", { name: "Yes. Shall I keep “No peanuts”?" }).click();
    await page.locator("#message").focus();
    yes.open();
    await lastAnswer(page).getByRole("status").getByText("Kept: No peanuts").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("message");
  });

  test("a resumed conversation has its cards and what it went by under the answers that showed them", async () => {
    const { page } = await on.guest("again");
    await ask(page, "many");
    await ask(page, "plain");
    await page.reload();
    await page.locator(".turn.assistant", { hasText: "Bold" }).waitFor();
    const answers = page.locator(".turn.assistant");
    expect(await answers.nth(0).locator(".card").count()).toBe(5);
    expect(await answers.nth(0).getByRole("button", { name: "Show 2 more" }).count()).toBe(1);
    expect(await answers.nth(1).locator(".card").count()).toBe(0);
  });

  test("an answer is copied as it was given", async () => {
    const { page } = await on.guest("copy", (context) => context.grantPermissions(["clipboard-read", "clipboard-write"]));
    await ask(page, "found");
    await lastAnswer(page).getByRole("button", { name: "Copy" }).click();
    await page.locator(".toast", { hasText: "Copied." }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain("2. Cellar Night · Friday 22 November");
  });

  test("everything can be reached by keyboard, and every control has a name", async () => {
    const { page } = await on.guest("keys");
    await ask(page, "found");
    const nameless = await page.evaluate(`[...document.querySelectorAll("button, input, textarea, a")]
      .filter((node) => node.offsetParent !== null)
      .filter((node) => !(node.textContent.trim() || node.getAttribute("aria-label") || document.querySelector('label[for="' + node.id + '"]')))
      .map((node) => node.outerHTML)`);
    expect(nameless).toEqual([]);
    await page.keyboard.press("Alt+n");
    await page.locator(".welcome").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("message");
    await say(page, "");
    expect(await page.locator(".turn").count()).toBe(0);
  });
});
