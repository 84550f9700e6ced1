import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { HandClock } from "../sessions-e2e/models.js";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask, lastAnswer } from "../support/sample-page.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const ATTACK = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
/** Longer than a forgetting is held back, in milliseconds. */
const HELD_MS = 11_000;

needing("chromium")("the memory panel in a browser", () => {
  let house: PageWorld;
  const clock = new HandClock("2026-03-02T10:00:00.000Z");
  beforeAll(async () => {
    house = await openPageWorld({}, { clock });
  });
  afterEach(() => house.leave());
  afterAll(() => house.close());

  const remember = async (user: string, memory: Record<string, unknown>) =>
    (await house.world.as(user).post<Memory>("/v1/memories", memory)).body;
  const known = async (user: string) => {
    const { body } = await house.world.as(user).get<{ data: Memory[] }>("/v1/memories?limit=200");
    return body.data.map(({ text }) => text).sort();
  };
  const opened = async (user: string, options = {}) => {
    const guest = await house.guest(user, options);
    await guest.page.click("#memory-chip");
    await guest.page.locator("#memory-list > *").first().waitFor();
    return guest;
  };
  const rowOf = (page: Page, text: string) => page.locator("#memory-list .memory", { has: page.getByText(text, { exact: true }) });
  const focused = (page: Page) => page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id");

  test("what is known stands in its part: what must hold, companions, this trip, what one likes", async () => {
    await remember("parts", { text: "No nuts", strength: "hard" });
    await remember("parts", { text: "Ida needs a step-free way", strength: "hard", subject: "companion:Ida" });
    await remember("parts", { text: "Stays at the Miramar", scope: "trip" });
    await remember("parts", { text: "Likes jazz", category: "genre" });
    const { page, complaints } = await opened("parts");
    const partOf = async (text: string) => page.locator("#memory-list section", { hasText: text }).locator("h3").textContent();
    expect(await partOf("No nuts")).toBe("Must always hold");
    expect(await partOf("Ida needs")).toBe("The people with you");
    expect(await partOf("Miramar")).toBe("This trip");
    expect(await partOf("Likes jazz")).toBe("What you like");
    await page.getByText("Knows 4 things").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a memory is added, about somebody and until a day; a secret is refused in words, and stays in the field", async () => {
    const { page } = await opened("adder");
    await page.fill("#memory-text", "Eats no fish");
    await page.check("#memory-hard");
    await page.getByLabel("About whom").fill("Ida");
    await page.getByLabel("Until, if it ends").fill("2027-01-31");
    await page.getByRole("button", { name: "Remember", exact: true }).click();
    await rowOf(page, "Eats no fish").waitFor();
    const { body } = await house.world.as("adder").get<{ data: Memory[] }>("/v1/memories");
    expect(body.data[0]).toMatchObject({ strength: "hard", subject: "companion:Ida", scope: "trip" });
    await page.fill("#memory-text", "My password is hunter2secret");
    await page.press("#memory-text", "Enter");
    await page.locator(".toast.error").waitFor();
    expect(await page.inputValue("#memory-text")).toContain("hunter2");
    expect(await known("adder")).toEqual(["Eats no fish"]);
  });

  test("a memory is changed in its place, strength included; the focus stays, and the change is told by its history", async () => {
    await remember("editor", { text: "Likes the balcony" });
    const { page, complaints } = await opened("editor");
    await page.getByRole("button", { name: "Edit Likes the balcony" }).click();
    const form = page.getByRole("form", { name: "Edit: Likes the balcony" });
    await form.getByLabel("What is true").fill("Needs the aisle");
    await form.getByLabel("It must always hold").check();
    await form.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => focused(page)).toBe("Edit Needs the aisle");
    expect(await page.locator("#memory-list section", { hasText: "Needs the aisle" }).locator("h3").textContent()).toBe("Must always hold");
    await page.getByRole("button", { name: "Changes Needs the aisle" }).click();
    await rowOf(page, "Needs the aisle").locator(".changes li", { hasText: "Likes the balcony" }).first().waitFor();
    await page.getByText("What changed").click();
    await page.locator(".part .past", { hasText: "Likes the balcony" }).waitFor();
    await page.getByText("now: Needs the aisle").waitFor();
    expect(complaints).toEqual([]);
  });

  test("Escape leaves an edit as it was", async () => {
    await remember("leaver", { text: "Likes the balcony" });
    const { page } = await opened("leaver");
    await page.getByRole("button", { name: "Edit Likes the balcony" }).click();
    await page.keyboard.type("x");
    await page.keyboard.press("Escape");
    expect(await focused(page)).toBe("Edit Likes the balcony");
    expect(await known("leaver")).toEqual(["Likes the balcony"]);
  });

  test("[why-exact] why marks the sentence in the guest's own words, and leads to where they were said", async () => {
    const guest = house.world.as("asker");
    const answer = await guest.say("Good evening! I am allergic to nuts. What is on?");
    for (let n = 0; n < 6; n++) await guest.say(`What is on in Vienna, part ${n}?`, { session_id: answer.session_id });
    const { page, complaints } = await opened("asker");
    await page.locator("#memory-list").getByRole("button", { name: "Why?" }).first().click();
    await page.locator("#memory-list blockquote", { hasText: "Good evening! I am allergic to nuts. What is on?" }).waitFor();
    expect(await page.locator("#memory-list mark").textContent()).toContain("allergic to nuts");
    await page.getByRole("link", { name: "Show it in the conversation" }).click();
    const said = page.locator(".turn.user", { hasText: "Good evening!" });
    await said.waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Good evening!");
    expect(complaints).toEqual([]);
  });

  test("[page-forget-undo] [forgotten-stays-forgotten] a forgetting can be undone while its notice stands", async () => {
    await remember("forgetter", { text: "Likes opera" });
    await remember("forgetter", { text: "Likes ballet" });
    const { page, complaints } = await opened("forgetter");
    await page.clock.install();
    await page.getByRole("button", { name: "Forget Likes opera" }).click();
    await rowOf(page, "Likes opera").waitFor({ state: "detached" });
    expect(await focused(page)).toContain("Likes ballet");
    expect(await known("forgetter")).toEqual(["Likes ballet", "Likes opera"]);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await rowOf(page, "Likes opera").waitFor();
    await page.getByRole("button", { name: "Forget Likes opera" }).click();
    await rowOf(page, "Likes opera").waitFor({ state: "detached" });
    await page.clock.fastForward(HELD_MS);
    await expect.poll(() => known("forgetter")).toEqual(["Likes ballet"]);
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("[page-forget-undo] who leaves the page has forgotten at once", async () => {
    await remember("quitter", { text: "Likes opera" });
    const { page } = await opened("quitter");
    await page.getByRole("button", { name: "Forget Likes opera" }).click();
    await page.goto("about:blank");
    await expect.poll(() => known("quitter")).toEqual([]);
  });

  test("a search finds words and what is near, and nothing where nothing fits", async () => {
    await remember("seeker", { text: "Prefers jazz concerts" });
    await remember("seeker", { text: "Likes cafés" });
    const { page } = await opened("seeker");
    await page.fill("#memory-query", "jazz");
    await rowOf(page, "Likes cafés").waitFor({ state: "detached" });
    await rowOf(page, "Prefers jazz concerts").waitFor();
    await page.fill("#memory-query", "CAFE");
    await rowOf(page, "Likes cafés").waitFor();
    await page.fill("#memory-query", "zzzz");
    await page.getByText("Nothing fits “zzzz”.").waitFor();
    expect(await page.locator("#memory-list .memory").count()).toBe(0);
  });

  test("looking back shows what was known on a day, to be read only", async () => {
    const { id } = await remember("historian", { text: "Lives in Vienna" });
    clock.passDays(10);
    await house.world.as("historian").request("PATCH", `/v1/memories/${id}`, { text: "Lives in Porto" });
    clock.passDays(1);
    const { page } = await opened("historian");
    await rowOf(page, "Lives in Porto").waitFor();
    await page.getByText("Look back").click();
    await page.getByLabel("What I knew at the end of").fill("2026-03-05");
    await rowOf(page, "Lives in Vienna").waitFor();
    expect(await page.locator("#memory-list .memory").count()).toBe(1);
    expect(await page.locator("#memory-list button").count()).toBe(0);
    await page.getByLabel("What I knew at the end of").fill("");
    await rowOf(page, "Lives in Porto").waitFor();
  });

  test("what waits for the guest's word is settled in the panel", async () => {
    await house.world.as("waiter").say("Maybe I'm allergic to shellfish");
    const { page } = await opened("waiter");
    await page.locator("#memory-list section", { hasText: "Waits for your word" }).getByRole("button", { name: /^Yes/ }).click();
    await page.locator("#memory-list section", { hasText: "Must always hold" }).getByText("allergic to shellfish").waitFor();
    await expect.poll(() => page.locator("#memory-list .asks").count()).toBe(0);
  });

  test("where one takes another's place, the question names both, in the panel and under the answers", async () => {
    const { page, complaints } = await house.guest("pescatarian");
    await ask(page, "I'm vegetarian.");
    await ask(page, "I'm no longer vegetarian, I'm pescatarian");
    const question = "Is pescatarian (instead of: Is vegetarian)?";
    await lastAnswer(page).getByRole("group", { name: question }).waitFor();
    await ask(page, "Jazz in Vienna");
    await lastAnswer(page).getByRole("group", { name: question }).waitFor();
    await page.click("#memory-chip");
    await page
      .locator("#memory-list .asks")
      .getByRole("button", { name: `Yes. ${question}` })
      .click();
    await page.locator("#memory-list section", { hasText: "Must always hold" }).getByText("Is pescatarian").waitFor();
    await expect.poll(() => known("eats-fish")).not.toContain("Is vegetarian");
    expect(complaints).toEqual([]);
  });

  test("while memory is paused nothing is kept, the conversation stays; a reload leaves it paused", async () => {
    const { page } = await opened("pauser");
    await page.getByRole("switch", { name: "Remember what I say" }).click();
    await page.getByText("Paused: I keep nothing").waitFor();
    await page.reload();
    await page.locator(".welcome").waitFor();
    expect(await page.getByRole("switch", { name: "Remember what I say", includeHidden: true }).getAttribute("aria-checked")).toBe("false");
    await page.fill("#message", "I prefer jazz concerts");
    await page.press("#message", "Enter");
    await page.locator(".turn.assistant.complete").waitFor();
    const { body } = await house.world.as("pauser").get<{ data: { id: string; metadata: object; expires_at: string }[] }>("/v1/sessions");
    expect(body.data).toMatchObject([{ metadata: {} }]);
    await house.world.as("pauser").post(`/v1/sessions/${body.data[0]?.id}/flush`);
    expect(await known("pauser")).toEqual([]);
  });

  test("a temporary conversation is kept out as a whole", async () => {
    const { page } = await opened("passer");
    await page.getByRole("button", { name: "Start a temporary conversation" }).click();
    const looks = () => page.evaluate("getComputedStyle(document.querySelector('.field')).borderTopStyle");
    const told = page.locator("#temporary");
    expect([await told.isVisible(), await looks()]).toEqual([true, "dashed"]);
    await page.fill("#message", "I prefer jazz concerts");
    await page.press("#message", "Enter");
    await page.locator(".turn.assistant.complete").waitFor();
    expect([await told.isVisible(), await looks()]).toEqual([true, "dashed"]);
    await page.reload();
    await page.locator(".turn.assistant.complete").waitFor();
    expect([await told.isVisible(), await looks()]).toEqual([true, "dashed"]);
    await page.click("#new-session");
    expect([await told.isVisible(), await looks()]).toEqual([false, "solid"]);
    const { body } = await house.world.as("passer").get<{ data: { metadata: object }[] }>("/v1/sessions");
    expect(body.data).toMatchObject([{ metadata: { incognito: true } }]);
    expect(await known("passer")).toEqual([]);
  });

  test("[export-complete] data is downloaded, erased by name with a receipt that can be kept, and brought back", async () => {
    await remember("mover", { text: "Likes opera" });
    await house.world.as("mover").say("What is on?");
    const { page, complaints } = await opened("mover");
    await page.getByText("Your data").click();
    const saved = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return { name: download.suggestedFilename(), path: await download.path() };
    };
    const taken = await saved("Download everything");
    expect(taken.name).toBe("maitred-export.json");
    await page.getByRole("button", { name: "Erase everything about me" }).click();
    const dialog = page.getByRole("dialog", { name: "Erase everything about mover?" });
    await dialog.getByRole("button", { name: "Erase everything" }).click();
    await page.getByText("Erased for mover").waitFor();
    expect(await known("mover")).toEqual([]);
    const receipt = JSON.parse(await readFile((await saved("Download the receipt for mover")).path, "utf8")) as object;
    expect(receipt).toMatchObject({ verified: true, receipt_id: expect.any(String) as string });
    await page.setInputFiles("#import-file", { name: taken.name, mimeType: "application/json", buffer: await readFile(taken.path) });
    await rowOf(page, "Likes opera").waitFor();
    await page.locator("#session-list .session-title", { hasText: "What is on?" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("forgetting all asks first, by number and name", async () => {
    await remember("cleaner", { text: "Likes opera" });
    await remember("cleaner", { text: "Likes ballet" });
    const { page } = await opened("cleaner");
    await page.getByText("Your data").click();
    await page.getByRole("button", { name: "Forget all memories" }).click();
    await page.getByRole("dialog", { name: "Forget all 2 things I know about cleaner?" }).getByRole("button", { name: "Cancel" }).click();
    expect(await known("cleaner")).toHaveLength(2);
    await page.getByRole("button", { name: "Forget all memories" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget all" }).click();
    await page.getByText("Nothing yet.").waitFor();
    expect(await known("cleaner")).toEqual([]);
  });

  test("[hostile-input] what a memory holds never becomes markup that acts", async () => {
    await remember("attacker", { text: ATTACK, category: "<b>", subject: `companion:${ATTACK.slice(0, 60)}` });
    const { page, complaints } = await opened("attacker");
    await page.locator("#memory-list .memory").waitFor();
    for (const name of [/^Changes/, /^Why/, /^Edit/]) await page.locator("#memory-list").getByRole("button", { name }).click();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("#memory-panel :is(img, script, b)").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
