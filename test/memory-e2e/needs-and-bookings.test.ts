import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "./world.js";

/** What a guest's words mean for bookings: a need that is told too late, and a budget that a quote is over. */

let world: World;
beforeEach(async () => {
  world = await World.open({});
});
afterEach(() => world.close());

/** Shellfish and fish can't be left out there; gluten can. */
const SEAFOOD = "Book two seats for Ash and Tide in Dublin on Friday";

async function withBooking() {
  const ada = world.guest();
  await ada.says(SEAFOOD);
  expect((await ada.says("Yes")).message.content).toMatch(/^Booked/);
  return ada;
}

test("is held against it in the same turn, and wherever the bookings are listed", async () => {
  const ada = await withBooking();
  const { content } = (await ada.says("By the way, I'm allergic to shellfish.")).message;
  expect(content).toMatch(/stands against it now:\n- Ash and Tide .*hellfish/);
  const later = ada.newSession();
  expect((await later.says("Show my bookings")).message.content).toMatch(/1\. Ash and Tide .*against what must hold: .*hellfish/);
});

test("says nothing of what it doesn't break, nor of a companion who isn't there", async () => {
  const ada = await withBooking();
  expect((await ada.says("I can't eat gluten.")).message.content).not.toContain("Ash and Tide");
  expect((await ada.says("My colleague Jon is allergic to shellfish.")).message.content).not.toContain("Ash and Tide");
});

test("what was passed over when it was booked is not held against it again", async () => {
  const ada = world.guest();
  await ada.says("I'm allergic to shellfish.");
  await ada.says(SEAFOOD);
  expect((await ada.says("book it anyway")).message.content).toMatch(/^Booked/);
  expect((await ada.says("Show my bookings")).message.content).not.toContain("against what must hold");
});

test.each(["My budget is 40 euros a ticket.", "Never more than 40 euros a seat.", "I don't spend more than €40."])(
  "a quote over the budget says so once, one within it says nothing: %s",
  async (told) => {
    const ada = world.guest();
    await ada.says(told);
    const later = ada.newSession();
    const { content } = (await later.says(SEAFOOD)).message;
    expect(content).toMatch(/You told me: .*40.* This is €76/);
    expect((await later.says("Yes")).message.content).toMatch(/^Booked/);
    const cheaper = (await later.says("Book two tickets for Night Shift Trio on Friday")).message.content;
    expect(cheaper).toMatch(/^I can book/);
    expect(cheaper).not.toContain("You told me");
  },
);

const CONCERT = "Book two tickets for Night Shift Trio on Friday";
test.each([
  ["For dinner never more than 10 euros.", SEAFOOD, CONCERT],
  ["My budget for restaurants is 10 euros.", SEAFOOD, CONCERT],
  ["My budget is 10 euros for a concert ticket.", CONCERT, SEAFOOD],
  ["My budget is 10 euros a ticket in Dublin.", SEAFOOD, CONCERT],
])("a budget holds what it is for, whether or not the message calls it to mind: %s", async (told, over, other) => {
  const ada = world.guest();
  await ada.says(told);
  const asked = (await ada.newSession().says(over)).message.content;
  expect(asked).toMatch(/You told me: .*10.* This is €\d+/);
  const unasked = (await ada.newSession().says(other)).message.content;
  expect(unasked).toMatch(/^I can book/);
  expect(unasked).not.toContain("You told me");
});

test("a budget for hotels holds nothing that is booked here", async () => {
  const ada = world.guest();
  await ada.says("My budget for hotels is 10 euros a night.");
  expect((await ada.newSession().says(SEAFOOD)).message.content).not.toContain("You told me");
});
