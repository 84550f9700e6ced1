import { expect, test } from "vitest";
import dentist from "../../examples/domains/dentist.js";
import { domainScript } from "../../packages/offline/src/script/domain-script.js";
import { scriptView } from "../support/script-view.js";

/** What the script of any domain says to what a guest tells of themselves. */

const VIEW = scriptView({ tools: new Set(["list_memories"]) });

const said = (message: string, tools: readonly string[]) =>
  domainScript(dentist).next({ ...VIEW, message, request: message, tools: new Set(tools) });

test.each([
  ["I am allergic to latex", "I've noted for this conversation: is allergic to latex. Ask me"],
  ["I am allergic to latex, just kidding", "I keep what I understand of this. Ask me"],
  ["I am allergic to latex, my card is 4111 1111 1111 1111", "I keep what I understand of this. Ask me"],
])("%s: %s", (message, reply) => {
  expect(said(message, ["list_memories"])).toEqual({ type: "say", text: expect.stringContaining(reply) });
});

test("where memory is switched off, nothing is said to be noted", () => {
  expect(said("I am allergic to latex", ["book"])).toEqual({ type: "say", text: expect.stringMatching(/^Memory is switched off/) });
});

test.each(["cancel the brunch", "Please storniere das Abendessen", "annule mon dîner"])(
  "%s: cancelled by the tool that does it",
  (message) => {
    expect(said(message, ["find_times", "cancel_appointment"])).toMatchObject({ type: "call", calls: [{ name: "cancel_appointment" }] });
    expect(said(message, ["find_times"])).toMatchObject({ type: "say", text: expect.stringMatching(/^Nothing is cancelled/) });
  },
);

const ALL = ["find_slots", "list_appointments", "book_slot", "cancel_appointment"];

test.each([
  "My flight was cancelled, do you have any free times?",
  "What slots are free? My other dentist cancelled",
  "My other dentist had to cancel, so what is free?",
])("%s: what is asked for goes before a cancellation that is told in passing", (message) => {
  expect(said(message, ALL)).toMatchObject({ type: "call", calls: [{ name: "find_slots" }] });
});

test.each(["Don't cancel my appointment", "N'annule pas mon rendez-vous", "Storniere meinen Termin nicht", "No cancele mi cita"])(
  "%s: nothing is cancelled, and that is said",
  (message) => {
    expect(said(message, ALL)).toEqual({ type: "say", text: "Understood, nothing is cancelled." });
  },
);

test("what is told or asked of a cancellation cancels nothing", () => {
  for (const message of ["Is my appointment cancelled?", "My cleaning was cancelled", "Mon rendez-vous est annulé"])
    expect(said(message, ALL)).toMatchObject({ type: "say" });
});

test.each(["I can't come, cancel my appointment", "I want to cancel my appointment", "Annule mon rendez-vous"])(
  "%s: cancelled by the tool that does it",
  (message) => {
    expect(said(message, ALL)).toMatchObject({ type: "call", calls: [{ name: "cancel_appointment" }] });
  },
);
