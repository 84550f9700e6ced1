import { afterEach, beforeEach, expect, test } from "vitest";
import dentist from "../../examples/domains/dentist.js";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";
import { tempDir } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";

/** A practice over the public API, with a model that does what a model could do, wrong things too. */

let maitred: Maitred;
let model: TaskModel;
let patient: MaitredUser;
let patients = 0;

beforeEach(async () => {
  model = new TaskModel();
  maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain: dentist, model, recallDeadlineMs: 30_000 });
  patients += 1;
  patient = maitred.for({ user: `patient-${patients}` });
  // As a model reads: each need of the domain that a message names.
  model.read = ({ MESSAGE }) => ({
    off_record: null,
    operations: [
      ["latex", "no_latex"],
      ["penicillin", "no_penicillin"],
      ["stairs", "step_free"],
    ].flatMap(([about = "", need = ""]) =>
      MESSAGE.includes(about)
        ? [
            {
              op: "add",
              quote: MESSAGE,
              text: need === "step_free" ? "Can't climb stairs" : `Is allergic to ${about}`,
              about,
              category: "needs",
              need,
              strength: "hard",
              type: "constraint",
              stance: "stated",
              subject: MESSAGE.includes("my son") ? "companion:son" : "self",
            },
          ]
        : [],
    ),
  });
});
afterEach(() => maitred.close());

async function says(message: string, ...calls: readonly (readonly [name: string, input: object])[]) {
  model.replies.push(...calls.map(([name, input]) => ({ name, arguments: input })), "Done as I can.");
  const answer = await patient.chat(message, sessionId === undefined ? {} : { sessionId });
  sessionId = answer.session_id;
  return answer.steps.map(({ output, error }) => output ?? error);
}
let sessionId: string | undefined;
beforeEach(() => {
  sessionId = undefined;
});

test("[gate-of-every-domain] two needs told in passing are two, and stop the appointment that would break one", async () => {
  await says("I am allergic to penicillin and latex, by the way.");
  await patient.sessions.flush(sessionId ?? "");
  sessionId = undefined;
  const [found] = await says("What is free?", ["find_slots", {}]);
  expect(found).toMatchObject([{ id: "mon-9", breaks: ["Is allergic to latex"] }, { id: "tue-10" }, { id: "wed-11" }]);
  const [stopped] = await says("Monday at nine", ["book_slot", { slot_id: "mon-9" }]);
  expect(stopped).toMatchObject({ status: "stopped", conflicts: [expect.stringContaining("Is allergic to latex")] });
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
