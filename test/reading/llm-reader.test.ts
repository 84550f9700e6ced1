import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { LlmReader } from "../../src/memories/llm-reader.js";
import { promptFor } from "../../src/memories/prompts/read-message-prompt.js";
import type { MessageToRead, Reading } from "../../src/ports/extraction.js";
import { ScriptedModel, type ScriptedStep } from "../../src/testing/scripted-model.js";
import { sampleMemory } from "../support/samples.js";
import { messageOf, NEEDS } from "./message.js";

const signal = new AbortController().signal;
const known = [sampleMemory({ id: "0190-nuts", text: "Is allergic to nuts" })];

async function read(
  steps: readonly (string | ScriptedStep)[],
  more: Partial<MessageToRead> = {},
): Promise<{ reading: Reading; model: ScriptedModel }> {
  const model = new ScriptedModel(steps.map((step) => (typeof step === "string" ? { text: step } : step)));
  const reader = new LlmReader(model, { name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS });
  const reading = await reader.read(messageOf("I love jazz", { known, ...more }), { signal });
  model.assertDone();
  return { reading, model };
}

const JAZZ = { op: "add", quote: "I love jazz", text: "Loves jazz", category: "genre" };

describe("what the model is given", () => {
  test("is one document of data beside a prompt that is the domain's and the same for every guest", async () => {
    const context = [{ role: "assistant" as const, content: "Anything else?" }];
    const { model } = await read(['{"operations":[]}'], { context });
    const [system, user] = model.requests[0]?.messages ?? [];
    expect(system?.content).toBe(promptFor({ name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS }));
    expect(system?.content).toContain("no_nuts: nothing with nuts");
    expect(JSON.parse(user?.content ?? "")).toMatchObject({
      NOW: expect.stringMatching(/^Wednesday 11 March 2026, 11:00 \(Europe\/Berlin\)/),
      KNOWN: [{ id: "m1", text: "Is allergic to nuts" }],
      QUESTION: "Anything else?",
      MESSAGE: "I love jazz",
    });
  });

  test("tells the answer before once: as the question, and in the context only where that doesn't hold it whole", async () => {
    const said = { role: "user" as const, content: "Two for Saturday" };
    const given = async (question: string) => {
      const context = [said, { role: "assistant" as const, content: question }];
      const { model } = await read(['{"operations":[]}'], { context });
      return JSON.parse(model.requests[0]?.messages[1]?.content ?? "");
    };
    expect(await given("Anything else?")).toMatchObject({ CONTEXT: [said], QUESTION: "Anything else?" });
    expect((await given("y".repeat(700))).CONTEXT).toHaveLength(2);
  });

  test("knows no other domain's words", () => {
    const prompt = promptFor({ name: "garage", categories: [], needs: [{ name: "towing", description: "must be towed" }] });
    expect(prompt).toContain("(garage)");
    expect(prompt).toContain("towing: must be towed");
    expect(prompt).not.toMatch(/\{(?:name|needs|categories)\}/);
  });
});

describe("a target", () => {
  const end = (target: string) => JSON.stringify({ operations: [{ op: "end", target, quote: "I love jazz" }] });
  const targetOf = async (target: string, more: Partial<MessageToRead> = {}) =>
    (await read([end(target)], more)).reading.operations[0]?.target_id;

  test("is known by its short name, or by its whole text where one alone has it", async () => {
    expect(await targetOf("m1")).toBe("0190-nuts");
    expect(await targetOf("Is allergic to nuts")).toBe("0190-nuts");
    expect(await targetOf("nuts")).toBeNull();
    const twice = [...known, sampleMemory({ id: "0190-son", text: "Is allergic to nuts", subject: "companion:son" })];
    expect(await targetOf("Is allergic to nuts", { known: twice })).toBeNull();
  });
});

describe("an answer is understood", () => {
  test.each([
    ["bare", JSON.stringify({ operations: [JAZZ] })],
    ["in a fence with words around it", `Sure!\n\`\`\`json\n${JSON.stringify({ operations: [JAZZ] }, null, 2)}\n\`\`\`\nDone {ok}.`],
    ["as a list", JSON.stringify([JAZZ])],
    ["alone", JSON.stringify(JAZZ)],
    [
      "in the older form",
      JSON.stringify({ operations: [{ op: "add", quote: "I love jazz", statement: { text: "Loves jazz", category: "genre" } }] }),
    ],
    [
      "with numbers as strings",
      JSON.stringify({ operations: [{ ...JAZZ, confidence: "0.8", explicit: "true", entities: "jazz", mood: 3 }] }),
    ],
    ["with a comma too many", `{"operations": [${JSON.stringify(JAZZ)},], }`],
    [
      "with null for what is missing",
      JSON.stringify({ operations: [{ ...JAZZ, need: null, valid_until: "null", aspect: null, subject: null }] }),
    ],
    ["within data", JSON.stringify({ data: { operations: [JAZZ] } })],
    ["within result", JSON.stringify({ ok: true, result: { operations: [JAZZ] } })],
    ["called create", JSON.stringify({ operations: [{ ...JAZZ, op: "create" }] })],
    ["called insert", JSON.stringify({ operations: [{ ...JAZZ, op: "insert" }] })],
    ["called new", JSON.stringify({ operations: [{ ...JAZZ, op: "New" }] })],
  ])("%s", async (_form, text) => {
    const { reading } = await read([text]);
    expect(reading).toMatchObject({
      unreadable: 0,
      operations: [{ op: "add", quote: "I love jazz", text: "Loves jazz", category: "genre", stance: "stated" }],
    });
  });

  test("cut off: what was whole is kept, the rest counted", async () => {
    const { reading } = await read([`{"operations": [${JSON.stringify(JAZZ)}, {"op": "add", "quote": "I lo`]);
    expect(reading).toMatchObject({ unreadable: 1, operations: [{ text: "Loves jazz" }] });
  });

  test("with one operation that can't be read: the others are kept, and nothing is asked again", async () => {
    const { reading } = await read([JSON.stringify({ operations: [{ op: "dance", quote: "x" }, 7, JAZZ] })]);
    expect(reading).toMatchObject({ unreadable: 2, operations: [{ text: "Loves jazz" }] });
  });

  test("with targets by their short names alone", async () => {
    const ends = (target: string) => JSON.stringify({ operations: [{ op: "END", quote: "no more", target }] });
    expect((await read([ends("M1")])).reading.operations[0]?.target_id).toBe("0190-nuts");
    expect((await read([ends("0190-other")])).reading.operations[0]?.target_id).toBeNull();
  });

  test("a stance that nobody knows is not taken for meant", async () => {
    const { reading } = await read([JSON.stringify([{ ...JAZZ, stance: "whimsical" }])]);
    expect(reading.operations[0]?.stance).toBe("unsure");
  });

  test.each(["this", "previous"] as const)("off the record: %s", async (off_record) => {
    expect((await read([JSON.stringify({ off_record, operations: [] })])).reading.off_record).toBe(off_record);
  });
});

describe("an answer that can't be read at all", () => {
  test.each(["", "I found nothing.", '{"operations": 7}', '{"operations": [{"op": "dance"}]}'])(
    "is asked for once more, in short and without it: %s",
    async (bad) => {
      const { reading, model } = await read([bad, JSON.stringify([JAZZ])]);
      expect(reading.operations).toHaveLength(1);
      const [first, second] = model.requests.map(({ messages }) => messages);
      expect(second?.[1]).toEqual(first?.[1]);
      expect(second).toHaveLength(2);
      expect(second?.[0]?.content.length).toBeLessThan((first?.[0]?.content.length ?? 0) / 2);
    },
  );

  test.each(["nonsense", "", '{"operations": [{"op": "add", "quo', '{"operations": [{"op": "dance"}]}'])(
    "twice fails the reading: %s",
    async (bad) => {
      await expect(read([bad, bad])).rejects.toMatchObject({ code: "EXTRACTION_FAILED" });
    },
  );

  test("a model that fails is the turn's failure", async () => {
    await expect(read([{ fail: new Error("down") }])).rejects.toThrow("down");
  });
});

describe("[reading-bounded] what a message has cost", () => {
  const readerOf = (...answers: readonly string[]) => {
    const model = new ScriptedModel(answers.map((text) => ({ text })));
    return { model, reader: new LlmReader(model, { name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS }) };
  };
  const message = () => messageOf("I love jazz", { calls: { left: 2 } });

  test("is not counted where its reading was lost to something else: it is read again as often as that takes, in full", async () => {
    const { reader, model } = readerOf(...Array<string>(4).fill(JSON.stringify([JAZZ])));
    const again = message();
    for (let tries = 0; tries < 4; tries += 1) expect((await reader.read(again, { signal })).operations).toHaveLength(1);
    expect(new Set(model.requests.map(({ messages }) => messages[0]?.content)).size).toBe(1);
  });

  test("leaves no second look where the first took a repair, and nothing where both failed", async () => {
    const { reader, model } = readerOf("?", JSON.stringify([JAZZ]), "?", "?");
    const repaired = message();
    await reader.read(repaired, { signal });
    await expect(reader.readNeeds(repaired, ["no_nuts"], { signal })).rejects.toMatchObject({ code: "EXTRACTION_FAILED" });
    const lost = message();
    for (let tries = 0; tries < 3; tries += 1)
      await expect(reader.read(lost, { signal })).rejects.toMatchObject({ code: "EXTRACTION_FAILED" });
    expect(model.requests).toHaveLength(4);
  });
});

describe("[need-told] a second look, for needs alone", () => {
  const look = async (answer: string) => {
    const model = new ScriptedModel([{ text: answer }]);
    const reader = new LlmReader(model, { name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS });
    const reading = reader.readNeeds(messageOf("Nut-free? No nuts on the wheelchair ramp"), ["no_nuts", "step_free"], { signal });
    return { reading: await reading.catch((error: unknown) => error), model };
  };

  test("names them behind the same prompt, and tells those that nobody has", async () => {
    const { reading, model } = await look('{"off_record":null,"operations":[],"nobodys":["step_free"]}');
    expect(reading).toMatchObject({ operations: [], nobodys: ["step_free"] });
    const [system, document] = model.requests[0]?.messages ?? [];
    expect(system?.content).toBe(promptFor({ name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS }));
    expect(JSON.parse(document?.content ?? "")).toMatchObject({ AGAIN: ["no_nuts", "step_free"] });
  });

  test("of an answer that names none nobody's, none is", async () => {
    expect((await look('{"operations":[]}')).reading).toMatchObject({ operations: [], nobodys: [] });
  });

  test("is one call, also where its answer can't be read", async () => {
    const { reading, model } = await look("I see no nuts.");
    expect(reading).toMatchObject({ code: "EXTRACTION_FAILED" });
    expect(model.requests).toHaveLength(1);
  });
});
