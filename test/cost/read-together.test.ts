import { expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { LlmReader } from "../../src/memories/llm-reader.js";
import { ScriptedModel, type ScriptedStep } from "../../src/testing/scripted-model.js";
import { messageOf, NEEDS } from "../reading/message.js";

const signal = new AbortController().signal;
const domain = { name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS };
const messages = [
  messageOf("Nut allergy!", { message_id: "a", context: [{ role: "assistant", content: "Very well." }] }),
  messageOf("I love jazz", { message_id: "b" }),
  messageOf("And I love opera", { message_id: "c" }),
];

async function readAll(...steps: readonly (unknown | ScriptedStep)[]) {
  const model = new ScriptedModel(steps.map((step) => ({ text: typeof step === "string" ? step : JSON.stringify(step) })));
  const readings = await new LlmReader(model, domain).readTogether(messages, { signal });
  model.assertDone();
  return { readings, model, quotes: readings.map((reading) => reading?.operations.map(({ quote }) => quote)) };
}

test("messages before the last stand in its document, each by an id and with what it answers, and the schema names them", async () => {
  const { model } = await readAll({ off_record: null, earlier_off_record: [], operations: [] });
  const [request] = model.requests;
  expect(JSON.parse(request?.messages[1]?.content ?? "")).toMatchObject({
    EARLIER: [
      { id: "e1", MESSAGE: "Nut allergy!", QUESTION: "Very well." },
      { id: "e2", MESSAGE: "I love jazz" },
    ],
    MESSAGE: "And I love opera",
  });
  expect(JSON.stringify(request?.json?.schema)).toContain('"earlier_off_record"');
});

test("a proposal belongs to the message that its quote stands in, whatever the model names", async () => {
  const { quotes } = await readAll({
    operations: [
      { op: "add", quote: "Nut allergy", message: "" },
      { op: "add", quote: "I love jazz", message: "e1" },
      { op: "add", quote: "love", message: "e2" },
      { op: "add", quote: "love opera" },
      { op: "add", quote: "nobody said this" },
    ],
  });
  expect(quotes).toEqual([["Nut allergy"], ["I love jazz", "love"], ["love opera", "nobody said this"]]);
});

test("each message may be off the record by itself", async () => {
  const { readings } = await readAll({ off_record: "this", earlier_off_record: [{ message: "e2", which: "previous" }], operations: [] });
  expect(readings.map((reading) => reading?.off_record)).toEqual([null, "previous", "this"]);
});

test("what stays unreadable is no reading of any of them", async () => {
  await expect(readAll("no idea", "none at all")).rejects.toMatchObject({ code: "EXTRACTION_FAILED" });
});

test("nor does an answer that was cut", async () => {
  const { readings, quotes } = await readAll('{"operations":[{"op":"add","quote":"love opera","text":"Loves opera"},{"op":"add","quo');
  expect(readings.slice(0, 2)).toEqual([null, null]);
  expect(quotes[2]).toEqual(["love opera"]);
});
