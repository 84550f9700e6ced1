import { expect, test } from "vitest";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { openConcierge } from "../../packages/concierge/src/open-concierge.js";
import type { Memory } from "../../src/domain/memory.js";
import { ConstraintGate } from "../../src/gate/constraint-gate.js";
import { asksNotToKeep, offTheRecord } from "../../src/memories/off-record.js";
import { silentLogger } from "../../src/platform/logger.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";

const { offRecord = [] } = await openConcierge({
  engine: new MemoryEngine(),
  gate: new ConstraintGate({ needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger }),
});

test.each([
  "Don't write this down, but I'm recovering from an operation.",
  "don’t keep that anywhere please: we are splitting up",
  "Off the record, I can't stand his mother.",
  "Please do not store any of this.",
  "This isn't for your notes: I lost my job.",
  "Keep it between us, I'm expecting.",
  "Ich erhole mich von einer OP, schreib das bitte nicht auf.",
  "Merken Sie sich das bitte nicht.",
  "Ne notez pas ça, s'il vous plaît.",
  "No lo apuntes, por favor.",
  "Non scriverlo, per favore.",
  "Onthoud dit niet.",
  "Não anote isso, por favor.",
])("a message is off the record by its plain form: %s", (message) => {
  expect(asksNotToKeep(message, offRecord)).toBe(true);
});

test.each([
  "Don't write the name on the cake.",
  "We split the bill between us.",
  "Don't forget that I am vegan.",
  "I wrote it down on the record sleeve.",
  "> Don't write this down, she said in her mail\n\nI love jazz.",
  'The sign said "do not record this concert" and I laughed.',
  "Schreib bitte zwei Plätze auf.",
  "Keep that table for us.",
])("and is not by words that only look like one: %s", (message) => {
  expect(asksNotToKeep(message, offRecord)).toBe(false);
});

test("a need that it names is asked about by its name, though nobody read it", () => {
  const nothing = { reader: "scripted", operations: [], off_record: null, dropped: {} };
  const { off_record, operations } = offTheRecord("Don't write this down, but nuts make me ill", nothing, CONCIERGE_NEEDS);
  expect([off_record, operations.map(({ waits, quote, statement }) => [waits, quote, statement?.need])]).toEqual([
    "this",
    [["off_record", "", "no_nuts"]],
  ]);
});

test("[off-record-unsaid] what is told off the record is recited nowhere, whatever a model makes of it", async () => {
  const model = new TaskModel();
  model.read = ({ MESSAGE }) => ({
    off_record: null,
    operations: /zirbel/.test(MESSAGE)
      ? [
          {
            op: "add",
            quote: MESSAGE,
            text: "Recovers from zirbel surgery",
            about: "zirbel surgery",
            category: "accessibility",
            strength: "hard",
            need: "other",
          },
          {
            op: "add",
            quote: "I use a wheelchair since",
            text: "Uses a wheelchair since the zirbel surgery",
            about: "wheelchair",
            category: "accessibility",
            strength: "hard",
            need: "step_free",
          },
          { op: "add", quote: MESSAGE, text: "Had zirbel surgery", category: "other" },
        ]
      : [],
  });
  const world = await startWorld(await tempDir(), { RATE_LIMIT_PER_MINUTE: "0" }, { model });
  const ada = world.as("ada");
  await ada.say("Don't write this down, but after the zirbel surgery I use a wheelchair since.");
  const waiting = await ada.get<{ data: Memory[] }>("/v1/memories?status=review");
  expect(waiting.body.data.map(({ text, need }) => [text, need]).sort()).toEqual([
    ["Accessibility", "other"],
    ["Step free", "step_free"],
  ]);
  expect((await ada.get("/v1/memories")).body).toMatchObject({ data: [] });
  expect((await ada.post("/v1/history/search", { query: "zirbel surgery" })).text).not.toMatch(/zirbel/i);
  await ada.say("Two tickets for the opera, please.");
  const last = JSON.stringify(model.of("chat").at(-1)?.messages.at(-1));
  expect(last).toMatch(/Step free/);
  expect(last).not.toMatch(/zirbel/i);
});
