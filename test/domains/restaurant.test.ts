import { expect, test } from "vitest";
import restaurant from "../../examples/domains/restaurant.js";
import { openDesk } from "./desk.js";

const HEARD = [
  { about: "nuts", need: "no_nuts", text: "Is allergic to nuts" },
  { about: "gluten", need: "no_gluten", text: "Eats no gluten" },
  { about: "vegetariana", need: "vegetarian", text: "Is vegetarian" },
];
const { says, leaves } = openDesk(restaurant, HEARD, { "my husband": "husband" });
const tasting = { id: "fri-tasting" };
const harbour = { id: "sat-harbour" };

test("[gate-of-every-domain] a need told in passing marks tables in the next session, and stops the one that would break it", async () => {
  await says("The window seat was lovely, and thank you for minding that I am allergic to nuts.");
  await leaves();
  const [found] = await says("What do you have on Friday?", ["find_tables", {}]);
  expect(found).toMatchObject([{ id: "fri-tasting", breaks: ["Is allergic to nuts"] }, { id: "fri-garden" }, { id: "sat-harbour" }]);
  expect(await says("The tasting menu", ["book_table", tasting])).toMatchObject([
    { status: "stopped", conflicts: [expect.stringContaining("Is allergic to nuts")] },
  ]);
});

test("a need told in another language of the domain stops as well", async () => {
  await says("Soy vegetariana.");
  await leaves();
  expect(await says("El menú del puerto", ["book_table", harbour])).toMatchObject([{ status: "stopped" }]);
});

test("a companion's need stops a table for both", async () => {
  await says("my husband is allergic to nuts");
  await leaves();
  expect(await says("The tasting menu for us two", ["book_table", { ...tasting, guests: ["husband"] }])).toMatchObject([
    { status: "stopped", conflicts: [expect.stringContaining("husband: Is allergic to nuts")] },
  ]);
});

test("what the kitchen doesn't say is told once, and then booked", async () => {
  await says("I eat no gluten");
  await leaves();
  const [shown] = await says("The harbour menu", ["book_table", harbour]);
  expect(shown).toMatchObject({ status: "shown", reminders: [expect.stringContaining("Eats no gluten")] });
  expect(await says("yes, I will ask there", ["book_table", { ...harbour, agreed: "yes" }])).toMatchObject([[{ id: "sat-harbour" }]]);
});

test("a cancellation by a wrong name cancels nothing, by the right one what was shown", async () => {
  await says("Saturday", ["book_table", harbour]);
  expect(await says("yes", ["book_table", { ...harbour, agreed: "yes" }])).toMatchObject([[{ id: "sat-harbour" }]]);
  expect(await says("cancel the brunch", ["cancel_table", { words: "brunch" }])).toMatchObject([{ status: "not_found" }]);
  expect(await says("cancel the harbour menu", ["cancel_table", { words: "harbour" }])).toMatchObject([{ status: "shown" }]);
  expect(await says("yes please", ["cancel_table", { words: "harbour", agreed: "yes please" }])).toEqual([[]]);
});

test("a need that is told after the booking is marked where tables are listed", async () => {
  await says("The tasting menu", ["book_table", tasting]);
  await says("yes", ["book_table", { ...tasting, agreed: "yes" }]);
  expect(await says("I am allergic to nuts, you know", ["list_bookings", {}])).toMatchObject([
    [{ id: "fri-tasting", breaks: ["Is allergic to nuts"] }],
  ]);
});
