import { expect, test } from "vitest";
import dentist from "../../examples/domains/dentist.js";
import { openDesk } from "./desk.js";

const HEARD = [
  { about: "latex", need: "no_latex", text: "Is allergic to latex" },
  { about: "penicillin", need: "no_penicillin", text: "Is allergic to penicillin" },
  { about: "stairs", need: "step_free", text: "Can't climb stairs" },
];
const { says, leaves } = openDesk(dentist, HEARD, { "my son": "son" });

test("[gate-of-every-domain] two needs told in passing are two, and stop the appointment that would break one", async () => {
  await says("I am allergic to penicillin and latex, by the way.");
  await leaves();
  const [found] = await says("What is free?", ["find_slots", {}]);
  expect(found).toMatchObject([{ id: "mon-9", breaks: ["Is allergic to latex"] }, { id: "tue-10" }, { id: "wed-11" }]);
  const [stopped] = await says("Monday at nine", ["book_slot", { slot_id: "mon-9" }]);
  expect(stopped).toMatchObject({ status: "stopped", conflicts: [expect.stringContaining("Is allergic to latex")] });
});

test("a need that the look-up's own message tells is marked", async () => {
  const [found] = await says("I am allergic to latex. What is free?", ["find_slots", {}]);
  expect(found).toMatchObject([{ id: "mon-9", breaks: ["Is allergic to latex"] }, { id: "tue-10" }, { id: "wed-11" }]);
});

test("a need that is told with the yes stops what was shown without it", async () => {
  expect(await says("Tuesday at ten", ["book_slot", { slot_id: "tue-10" }])).toMatchObject([{ status: "shown" }]);
  const told = "yes, and I can't do stairs any more";
  expect(await says(told, ["book_slot", { slot_id: "tue-10", agreed: "yes" }])).toMatchObject([
    { status: "stopped", conflicts: [expect.stringContaining("Can't climb stairs")] },
  ]);
});

test("a companion's need stops what is for them too", async () => {
  await says("my son is allergic to latex");
  expect(await says("Monday for me and my son", ["book_slot", { slot_id: "mon-9", patients: ["son"] }])).toMatchObject([
    { status: "stopped" },
  ]);
});

test("a cancellation by a wrong name cancels nothing, by the right one what was shown", async () => {
  await says("Wednesday", ["book_slot", { slot_id: "wed-11" }]);
  expect(await says("yes", ["book_slot", { slot_id: "wed-11", agreed: "yes" }])).toMatchObject([{ booked: "wed-11" }]);
  expect(await says("cancel my root canal", ["cancel_appointment", { words: "root canal" }])).toMatchObject([{ status: "not_found" }]);
  expect(await says("cancel the cleaning", ["cancel_appointment", { words: "Cleaning" }])).toMatchObject([{ status: "shown" }]);
  expect(await says("yes please", ["cancel_appointment", { words: "Cleaning", agreed: "yes please" }])).toMatchObject([
    { cancelled: "Cleaning" },
  ]);
});

test("a need that is told after the appointment is marked where appointments are listed", async () => {
  await says("Monday", ["book_slot", { slot_id: "mon-9" }]);
  await says("yes", ["book_slot", { slot_id: "mon-9", agreed: "yes" }]);
  expect(await says("I am allergic to latex, you know", ["list_appointments", {}])).toMatchObject([
    [{ id: "mon-9", breaks: ["Is allergic to latex"] }],
  ]);
});
