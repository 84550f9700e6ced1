import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { needing } from "../support/needing.js";
import { openPageWorld, type PageWorld } from "../support/page-world.js";
import { ask } from "../support/sample-page.js";

// A browser takes its time where the machine has much to do.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const ATTACK = '<img src=x onerror="window.hacked=1">';
const BOOKING = {
  id: "b-1",
  reference: "MTR-1",
  eventId: "e",
  title: "Aoife Brannock Trio",
  venue: "Liffey Lane",
  city: "Dublin",
  startsAt: "2031-05-01T19:00:00.000Z",
  section: "Stalls",
  quantity: 2,
  totalCents: 4200,
  companions: ["Ida"],
  status: "confirmed",
  createdAt: "2026-03-01T10:00:00.000Z",
  cancelledAt: null,
};

needing("chromium")("the conversations in a browser", () => {
  let house: PageWorld;
  beforeAll(async () => {
    house = await openPageWorld();
  });
  afterEach(() => house.leave());
  afterAll(() => house.close());

  const say = async (user: string, message: string) => (await house.world.as(user).say(message)).session_id;
  const row = (page: Page, title: string) => page.locator("#session-list li", { hasText: title });
  const titles = (page: Page) => page.locator("#session-list .session-title").allTextContents();
  const focused = (page: Page) => page.evaluate("document.activeElement.textContent");
  const choose = async (page: Page, title: string, action: string) => {
    await row(page, title).hover();
    await page.getByRole("button", { name: `Options for ${title}` }).click();
    await page.getByRole("button", { name: `${action} ${title}` }).click();
  };

  test("a search looks into titles and into what was said, and finds nothing where nothing fits", async () => {
    const named = await say("searcher", "What is on in Vienna?");
    await house.world.as("searcher").request("PATCH", `/v1/sessions/${named}`, { title: "Our May trip" });
    const talk = await say("searcher", "Which plays are there?");
    await house.world.as("searcher").say("My grandmother collects porcelain owls", { session_id: talk });
    const { page, complaints } = await house.guest("searcher");
    await page.fill("#session-query", "may trip");
    await expect.poll(() => titles(page)).toEqual(["Our May trip"]);
    await page.fill("#session-query", "porcelain");
    await expect.poll(() => titles(page)).toEqual(["Which plays are there?"]);
    await row(page, "porcelain owls").locator(".open").click();
    await page.locator(".turn.user", { hasText: "porcelain owls" }).waitFor();
    await expect.poll(() => focused(page)).toContain("porcelain");
    await page.fill("#session-query", "zzzz");
    await page.getByText("Nothing fits “zzzz”.").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a conversation is renamed in its place, and the focus stays there", async () => {
    await say("namer", "What is on in Vienna?");
    const { page } = await house.guest("namer");
    await choose(page, "What is on in Vienna?", "Rename");
    await page.locator("#session-list").getByLabel("Title").fill("Our May trip");
    await page.keyboard.press("Enter");
    await row(page, "Our May trip").waitFor();
    await expect.poll(() => focused(page)).toContain("Our May trip");
    await choose(page, "Our May trip", "Rename");
    await page.keyboard.press("Escape");
    expect(await titles(page)).toEqual(["Our May trip"]);
  });

  test("archived, brought back, deleted, restored from the bin, and deleted for good", async () => {
    await say("keeper", "What is on in Vienna?");
    await say("keeper", "What is on in Porto?");
    const { page, complaints } = await house.guest("keeper");
    await choose(page, "What is on in Vienna?", "Archive");
    await expect.poll(() => titles(page)).toEqual(["What is on in Porto?"]);
    await page.getByRole("button", { name: "Archived" }).click();
    await row(page, "What is on in Vienna?").locator(".open").click();
    const note = page.locator("#log .put-away", { hasText: "This conversation is archived." });
    await note.getByRole("button", { name: "Bring back" }).click();
    await page.getByText("Nothing is archived.").waitFor();
    expect(await note.count()).toBe(0);
    await page.getByRole("button", { name: "Current" }).click();
    await choose(page, "What is on in Porto?", "Delete");
    await expect.poll(() => titles(page)).toEqual(["What is on in Vienna?"]);
    await page.getByRole("button", { name: "Bin", exact: true }).click();
    await page.getByRole("button", { name: "Restore What is on in Porto?" }).click();
    await page.getByText("The bin is empty.").waitFor();
    await page.getByRole("button", { name: "Current" }).click();
    await choose(page, "What is on in Porto?", "Delete");
    await page.getByRole("button", { name: "Bin", exact: true }).click();
    await page.getByRole("button", { name: "Delete What is on in Porto? for good" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete “What is on in Porto?” for good?" });
    await dialog.getByRole("button", { name: "Delete for good" }).click();
    await page.getByText("The bin is empty.").waitFor();
    expect((await house.world.as("keeper").get<{ data: object[] }>("/v1/sessions?status=deleted")).body.data).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("two of the same name are told apart", async () => {
    await say("twin", "What is on in Vienna?");
    await say("twin", "What is on in Vienna?");
    const { page } = await house.guest("twin");
    const lines = await page.locator("#session-list .open").allTextContents();
    expect(lines).toHaveLength(2);
    expect(new Set(lines).size).toBe(2);
  });

  test("a conversation has an address and a title; Back goes to the one before", async () => {
    const first = await say("linker", "What is on in Vienna?");
    const second = await say("linker", "What is on in Porto?");
    const { page } = await house.guest("linker", { path: `#${first}` });
    await page.locator(".turn.user", { hasText: "Vienna" }).waitFor();
    await expect.poll(() => page.title()).toBe("What is on in Vienna? · Maitred");
    await row(page, "Porto").locator(".open").click();
    await page.locator(".turn.user", { hasText: "Porto" }).waitFor();
    expect(page.url()).toBe(`${house.url}/#${second}`);
    await page.goBack();
    await page.locator(".turn.user", { hasText: "Vienna" }).waitFor();
    await expect.poll(() => page.title()).toBe("What is on in Vienna? · Maitred");
    await page.goForward();
    await page.locator(".turn.user", { hasText: "Porto" }).waitFor();
  });

  test("[page-in-step] two tabs are in step: what is said, remembered, renamed in one is seen in the other", async () => {
    const session = await say("stepper", "What is on in Vienna?");
    const { page, tab, complaints } = await house.guest("stepper", { path: `#${session}` });
    const other = await tab(`#${session}`);
    await other.click("#memory-chip");
    await page.fill("#message", "I prefer jazz concerts");
    await page.press("#message", "Enter");
    await other.locator(".turn.user", { hasText: "I prefer jazz concerts" }).waitFor();
    await other.locator("#memory-list .memory", { hasText: "jazz" }).waitFor();
    await choose(page, "What is on in Vienna?", "Rename");
    await page.locator("#session-list").getByLabel("Title").fill("Our May trip");
    await page.keyboard.press("Enter");
    await row(other, "Our May trip").waitFor();
    await expect.poll(() => other.title()).toBe("Our May trip · Maitred");
    expect(complaints).toEqual([]);
  });

  test("[page-in-step] what is done through another door is seen on the page, by the server's events", async () => {
    const session = await say("remote", "What is on in Vienna?");
    const { page, tab, complaints } = await house.guest("remote", { path: `#${session}` });
    const other = await tab(`#${session}`);
    for (const each of [page, other]) await each.click("#memory-chip");
    await house.world.as("remote").say("I prefer jazz concerts", { session_id: session });
    for (const each of [page, other]) {
      await each.locator(".turn.user", { hasText: "I prefer jazz concerts" }).waitFor();
      await each.locator("#memory-list .memory", { hasText: "jazz" }).waitFor();
    }
    await house.world.as("remote").delete(`/v1/sessions/${session}`);
    await expect.poll(() => titles(other)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("an archived conversation is found by its title, says what it is, and is gone on with once it is brought back", async () => {
    await say("archivist", "What is on in Vienna?");
    const { page, complaints } = await house.guest("archivist");
    await row(page, "What is on in Vienna?").locator(".open").click();
    await choose(page, "What is on in Vienna?", "Archive");
    await page.locator("#log .put-away").waitFor();
    await page.reload();
    await page.locator("#log .put-away").waitFor();
    await page.fill("#session-query", "Vienna");
    await row(page, "What is on in Vienna?").getByText("· archived").waitFor();
    await choose(page, "What is on in Vienna?", "Bring back");
    await expect.poll(() => page.locator("#log .put-away").count()).toBe(0);
    await ask(page, "And on Sunday?");
    expect(complaints).toEqual([]);
  });

  test("bookings are listed, the guest's own", async () => {
    await house.world.application.parts.domain.records?.restore(ownerOf("default", "booker"), [BOOKING]);
    const { page, complaints } = await house.guest("booker");
    await page.getByRole("button", { name: "My bookings" }).click();
    const dialog = page.getByRole("dialog", { name: "My bookings" });
    await dialog.getByText("Aoife Brannock Trio").waitFor();
    expect(await dialog.locator(".booking").textContent()).toMatch(/2 × Stalls.*42.00.*with Ida.*MTR-1/);
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await focused(page)).toBe("My bookings");
    expect(complaints).toEqual([]);
    const stranger = await house.guest("stranger");
    await stranger.page.getByRole("button", { name: "My bookings" }).click();
    await stranger.page.getByText("You have booked nothing yet.").waitFor();
  });

  test("a booking has the day and the time of its own city, wherever the guest's device is", async () => {
    await house.world.application.parts.domain.records?.restore(ownerOf("default", "far-away"), [
      { ...BOOKING, id: "b-2", reference: "MTR-2" },
    ]);
    const { page } = await house.guest("far-away", { timezoneId: "Asia/Tokyo", locale: "en-GB" });
    await page.getByRole("button", { name: "My bookings" }).click();
    await page.locator(".booking", { hasText: "Aoife" }).getByText("1 May 2031, 20:00 · Liffey Lane, Dublin").waitFor();
  });

  test("[owner-reserved] a name that can't be one is refused where it is typed, and nobody is changed", async () => {
    await say("speaker", "What is on in Vienna?");
    const { page } = await house.guest("speaker");
    await page.click("#user-button");
    const dialog = page.getByRole("dialog", { name: "Who is speaking?" });
    for (const name of ["*", "two words"]) {
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByRole("button", { name: "Continue" }).click();
      await dialog.getByText(`“${name}” can't be a name here`).waitFor();
    }
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await page.textContent("#user-name")).toBe("speaker");
    await page.reload();
    await row(page, "Vienna").waitFor();
    await page.click("#user-button");
    await dialog.getByLabel("Name").fill("Zoë");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.locator("#user-name", { hasText: "Zoë" }).waitFor();
    await expect.poll(() => titles(page)).toEqual([]);
  });

  test("About tells which model and stores answer, and which keys are set, never their text", async () => {
    const { page, complaints } = await house.guest("curious");
    await page.getByRole("button", { name: "About", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "About" });
    await dialog.getByText("by rules, no language model").waitFor();
    await dialog.getByText(house.world.dir, { exact: true }).waitFor();
    await dialog.getByText("OPENAI_API_KEY is not set").waitFor();
    await dialog.getByText("How it is").waitFor();
    expect(complaints).toEqual([]);
  });

  test("[hostile-input] a title never becomes markup that acts", async () => {
    const id = await say("attacker", "What is on in Vienna?");
    await house.world.as("attacker").request("PATCH", `/v1/sessions/${id}`, { title: ATTACK });
    const { page, complaints } = await house.guest("attacker", { path: `#${id}` });
    await row(page, ATTACK).waitFor();
    await page.fill("#session-query", "onerror");
    await row(page, ATTACK).waitFor();
    await choose(page, ATTACK, "Delete");
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("img").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
