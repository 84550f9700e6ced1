import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import dentist from "../../examples/domains/dentist.js";
import { partsOf } from "../../src/domain/answer-part.js";
import type { Element } from "../../src/domain/session.js";
import { defineTool } from "../../src/index.js";
import type { ChatEvent } from "../../src/ports/application.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { openDoor } from "../support/door.js";
import { parseEvents } from "../support/http-client.js";

function element(id: string, type: string, display: Element["display"] = "inline"): Element {
  return { id, type, name: id, content: "{}", display };
}

const TYPES = ["event_card", "booking_quote", "approval", "booking_receipt", "constraint", "seat_map", "text"];

describe("the parts of an answer", () => {
  test("follow the elements' types; what is beside the answer is no part of it", () => {
    const elements = [
      ...TYPES.map((type) => element(type, type)),
      element("cited", "text", "side"),
      element("toString", "toString", "side"),
    ];
    expect(partsOf({ content: "", elements, placed: [{ after: 0, elements: elements.map(({ id }) => id) }] })).toEqual([
      { type: "cards", elements: ["event_card"] },
      { type: "quote", elements: ["booking_quote", "approval"] },
      { type: "ticket", elements: ["booking_receipt"] },
      { type: "warning", elements: ["constraint"] },
      { type: "cards", elements: ["seat_map", "text"] },
    ]);
  });

  test("of an answer that was kept without places: its text, then what it showed, then what it asked", () => {
    const elements = [element("message:1", "text", "side"), element("a", "event_card"), element("q", "booking_quote")];
    expect(partsOf({ content: "Two.", elements, toConfirm: [{ id: "m" }, { id: "m" }] })).toEqual([
      { type: "text", text: "Two." },
      { type: "cards", elements: ["a"] },
      { type: "quote", elements: ["q"] },
      { type: "question", memory_id: "m" },
    ]);
  });

  test("one that came twice stands where it came first, in the answer's order of them; one that is gone, nowhere", () => {
    const elements = [element("b", "event_card"), element("a", "event_card")];
    const placed = [
      { after: 4, elements: ["a", "b"] },
      { after: 8, elements: ["b", "gone"] },
    ];
    expect(partsOf({ content: "One.Two.", elements, placed })).toEqual([
      { type: "text", text: "One." },
      { type: "cards", elements: ["b", "a"] },
      { type: "text", text: "Two." },
    ]);
  });

  test("[parts-say-all] the texts are the answer, byte for byte, and each element stands in one part, wherever they came", () => {
    const ids = fc.array(fc.nat({ max: 9 }).map(String), { maxLength: 8 });
    const places = fc.array(fc.record({ after: fc.nat({ max: 60 }), elements: ids }), { maxLength: 6 });
    const shown = fc.array(fc.tuple(fc.nat({ max: 9 }).map(String), fc.constantFrom(...TYPES)), { maxLength: 8 });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), places, shown, (content, placed, given) => {
        const elements = given.map(([id, type]) => element(id, type));
        const parts = partsOf({ content, elements, placed });
        expect(parts.map((part) => (part.type === "text" ? part.text : "")).join("")).toBe(content);
        const listed = parts.flatMap((part) => ("elements" in part ? part.elements : []));
        expect([...listed].sort()).toEqual([...new Set(elements.map(({ id }) => id))].sort());
      }),
    );
  });
});

const FOUND =
  "Let me tell you first what I will look for: an evening near the river, with seats that can be reached without a single stair. ".repeat(
    2,
  );
const OFFERED =
  "There is one, and it has no lift to the balcony, mind you; its kitchen is not nut-free either, and it can't be given back. ".repeat(2);
const DONE = "Shall I take it? It costs nothing yet.";

const find = defineTool({
  name: "find",
  description: "Finds.",
  parameters: z.object({ count: z.number() }),
  run: ({ count }) => ({ count }),
  elements: ({ count }) => Array.from({ length: count }, (_, at) => element(`event:${at + 1}`, "event_card")),
  used: () => ["memory-of-find"],
});
const offer = defineTool({
  name: "offer",
  description: "Offers.",
  parameters: z.object({}),
  run: () => "offered",
  elements: () => [element("quote:1", "booking_quote"), element("constraint:1", "constraint", "side")],
});
const call = (name: string, args: object = {}) => ({ name, arguments: args });

const SAYING_ALL = [
  { text: FOUND.match(/.{1,7}/g) ?? [], calls: [call("find", { count: 1 }), call("find", { count: 2 })] },
  { text: OFFERED, calls: [call("offer")] },
  { text: DONE },
];
const EXPECTED = [
  { type: "text", text: FOUND },
  { type: "cards", elements: ["event:1", "event:2"] },
  { type: "text", text: `\n\n${OFFERED}` },
  { type: "quote", elements: ["quote:1"] },
  { type: "warning", elements: ["constraint:1"] },
  { type: "text", text: `\n\n${DONE}` },
];

async function post(url: string, path: string, body: object, user = "ada"): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-User-Id": user },
    body: JSON.stringify(body),
  });
}

describe("an answer in parts", () => {
  test("[parts-say-all] every sentence is in the text parts, in order, with the cards where they came, wherever it is told", async () => {
    const { url, maitred } = await openDoor(SAYING_ALL, { tools: [find, offer] });
    const answer = (await (await post(url, "/chat", { message: "An evening, please." })).json()) as ChatAnswer;
    expect(answer.parts).toEqual(EXPECTED);
    expect(answer.memory.used).toEqual(["memory-of-find"]);
    const ada = maitred.for({ user: "ada" });
    const { steps } = await ada.sessions.thread(answer.session_id);
    expect(steps.at(-1)).toMatchObject({ parts: EXPECTED, memory: { used: ["memory-of-find"] } });
    const { data } = await ada.sessions.messages(answer.session_id);
    expect(data.map(({ parts }) => parts)).toEqual([undefined, EXPECTED]);
    let exported = "";
    for await (const chunk of ada.export()) exported += chunk;
    // Kept once: parts refer to the text and to the elements.
    expect(exported.split("without a single stair").length - 1).toBe(2);
    const imported = await post(url, "/import", JSON.parse(exported), "bob");
    expect(imported.status).toBe(200);
    const bob = maitred.for({ user: "bob" });
    const [session] = (await bob.sessions.list()).data;
    expect((await bob.sessions.thread(session?.id ?? "")).steps.at(-1)).toMatchObject({ parts: EXPECTED });
  });

  test("[parts-say-all] a stream tells each part that shows something when it is known, with what it shows", async () => {
    const { url } = await openDoor(SAYING_ALL, { tools: [find, offer] });
    const events = parseEvents(await (await post(url, "/chat", { message: "An evening, please.", stream: true })).text());
    const told = events.flatMap(({ event, data }) =>
      event === "part" ? [data as { index: number; part: object; elements: Element[] }] : [],
    );
    expect(told.map(({ index, part }) => [index, part])).toEqual([
      [1, { type: "cards", elements: ["event:1"] }],
      [1, { type: "cards", elements: ["event:1", "event:2"] }],
      [3, { type: "quote", elements: ["quote:1"] }],
      [4, { type: "warning", elements: ["constraint:1"] }],
    ]);
    expect(told[1]?.elements.map(({ id }) => id)).toEqual(["event:1", "event:2"]);
    const order = events.map(({ event }) => event);
    expect(order.indexOf("part")).toBeGreaterThan(order.indexOf("token"));
    expect(order.lastIndexOf("token")).toBeGreaterThan(order.lastIndexOf("part"));
  });

  test("what an answer had shown when it was stopped is there where the conversation is opened again", async () => {
    const { maitred, thread } = await openDoor(SAYING_ALL, { tools: [find, offer] });
    const stop = new AbortController();
    let session = "";
    const onEvent = (event: ChatEvent) => {
      if (event.type === "session") session = event.session_id;
      if (event.type === "part" && event.part.type === "quote") stop.abort();
    };
    const chat = { owner: await maitred.owner("ada"), message: "An evening, please." };
    await expect(maitred.chat.chat(chat, { signal: stop.signal, onEvent })).rejects.toMatchObject({ code: "CLIENT_CLOSED_REQUEST" });
    const steps = await thread(session);
    expect(steps.at(-1)).toMatchObject({ parts: EXPECTED.slice(0, 5), outcome: "interrupted" });
  });

  test("OpenAI's formats have it beside them", async () => {
    const { openai } = await openDoor([...SAYING_ALL, ...SAYING_ALL, ...SAYING_ALL], { tools: [find, offer] });
    const headers = { "X-Maitred-Tools": "domain" };
    const ask = { model: "maitred", messages: [{ role: "user" as const, content: "An evening, please." }] };
    expect(await openai().chat.completions.create(ask, { headers })).toMatchObject({ maitred: { parts: EXPECTED } });
    const chunks: object[] = [];
    for await (const chunk of await openai("eve").chat.completions.create({ ...ask, stream: true }, { headers })) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ maitred: { parts: EXPECTED, memory: { used: ["memory-of-find"] } } });
    expect(await openai("bob").responses.create({ model: "maitred", input: "An evening, please." }, { headers })).toMatchObject({
      maitred: { parts: EXPECTED },
    });
  });
});

test("[used-is-what-shaped] used is what the gate checked and a tool found, not all that was recalled", async () => {
  const steps = [
    { calls: [call("find_slots")] },
    { text: "Three." },
    { calls: [call("book_slot", { slot_id: "mon-9" })] },
    { text: "It has latex." },
    { calls: [call("search_memories", { query: "music" })] },
    { text: "You like jazz." },
    { text: "Good evening." },
  ];
  const { maitred } = await openDoor(steps, { domain: dentist });
  const ada = maitred.for({ user: "ada" });
  const needs = { category: "other", strength: "hard" as const };
  const latex = await ada.memories.add("Is allergic to latex", needs);
  const jazz = await ada.memories.add("Prefers jazz in the waiting room");
  const used = async (message: string) => (await ada.chat(message)).memory.used.toSorted();
  expect(await used("What is free?")).toEqual([latex.id]);
  expect(await used("Monday at nine, please.")).toEqual([latex.id]);
  expect(await used("Which music do I like?")).toEqual(expect.arrayContaining([jazz.id]));
  expect(await used("Good evening.")).toEqual([]);
});
