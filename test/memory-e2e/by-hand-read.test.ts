import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { type MessageReader, proposedOperationSchema } from "../../src/ports/extraction.js";
import { startWorld, tempDir } from "../e2e/world.js";

/** Reads as it is told to, and keeps what it was given. */
function reader(read: (text: string) => Promise<readonly Record<string, unknown>[]>): MessageReader & { readonly texts: string[] } {
  const texts: string[] = [];
  return {
    name: "scripted",
    texts,
    read: async ({ text }) => {
      texts.push(text);
      const operations = (await read(text)).map((each) => proposedOperationSchema.parse({ op: "add", quote: text, text, ...each }));
      return { operations, off_record: null, unreadable: 0 };
    },
  };
}

const NUTS = { category: "dietary", need: "no_nuts", strength: "hard", about: "nuts" };

describe("a memory by hand that names no category", () => {
  test("[by-hand-read] is read: an allergy must hold, whoever adds it, in its own words", async () => {
    const { as } = await startWorld(await tempDir());
    const ada = as("ada");
    const { body } = await ada.post<Memory>("/v1/memories", { text: "My wife is allergic to nuts" });
    expect(body).toMatchObject({
      text: "My wife is allergic to nuts",
      category: "dietary",
      need: "no_nuts",
      strength: "hard",
      type: "constraint",
    });
    expect(body.subject).toMatch(/^companion:/u);
  });

  test("by the reader of messages, where there is one; what was said of it stands", async () => {
    const scripted = reader(async () => [
      { category: "seating", text: "Sits on the aisle", about: "aisle" },
      { ...NUTS, text: "No nuts" },
    ]);
    const { as } = await startWorld(await tempDir(), {}, { reader: scripted });
    const ada = as("ada");
    const add = async (more: object) => (await ada.post<Memory>("/v1/memories", { text: "No nuts, and the aisle", ...more })).body;
    expect(await add({})).toMatchObject({ category: "dietary", strength: "hard", need: "no_nuts" });
    expect(await add({ strength: "soft", subject: "companion:Ida" })).toMatchObject({ strength: "soft", subject: "companion:Ida" });
    expect(scripted.texts).toHaveLength(2);
    expect(await add({ text: "Sits at the back", category: "seating" })).toMatchObject({ category: "seating" });
    expect(scripted.texts).toHaveLength(2);
  });

  test("is kept as `other` where nobody can read it; what can't be stored is read by nobody", async () => {
    const scripted = reader(() => Promise.reject(new Error("broken")));
    const { as } = await startWorld(await tempDir(), {}, { reader: scripted });
    const ada = as("ada");
    const { body, status } = await ada.post<Memory>("/v1/memories", { text: "Likes jazz" });
    expect(status).toBe(201);
    expect(body).toMatchObject({ category: "other", strength: "soft" });
    expect((await ada.post("/v1/memories", { text: "My password is hunter2hunter2" })).status).toBe(422);
    expect(scripted.texts).toEqual(["Likes jazz"]);
  });

  test("in a batch, each in its place", async () => {
    const scripted = reader(async (text) => (text.includes("nuts") ? [NUTS] : []));
    const { as } = await startWorld(await tempDir(), {}, { reader: scripted });
    const memories = [{ text: "Likes jazz" }, { text: "No nuts" }, { text: "Sits in the stalls", category: "seating" }, { text: "" }];
    const { body } = await as("ada").post<{ data: { status: number; memory?: Memory }[] }>("/v1/memories/batch", { memories });
    expect(body.data.map(({ status, memory }) => [status, memory?.category, memory?.strength])).toEqual([
      [201, "other", "soft"],
      [201, "dietary", "hard"],
      [201, "seating", "soft"],
      [400, undefined, undefined],
    ]);
  });

  test("a repetition under the same key is answered without being read again, one by one and in a batch", async () => {
    const scripted = reader(async (text) => (text.includes("nuts") ? [NUTS] : []));
    const { as } = await startWorld(await tempDir(), {}, { reader: scripted });
    const ada = as("ada");
    const once = { "Idempotency-Key": "a-key-of-ada" };
    const add = async () => (await ada.request<Memory>("POST", "/v1/memories", { text: "No nuts" }, once)).body;
    const { id } = await add();
    expect(await add()).toMatchObject({ id, need: "no_nuts", strength: "hard" });
    expect(scripted.texts).toEqual(["No nuts"]);
    const memories = [{ text: "Likes jazz" }, { text: "No nuts at breakfast" }];
    const batch = () => ada.request("POST", "/v1/memories/batch", { memories }, { "Idempotency-Key": "a-batch-of-ada" });
    const { body } = await batch();
    expect((await batch()).body).toEqual(body);
    expect(scripted.texts.toSorted()).toEqual(["Likes jazz", "No nuts", "No nuts at breakfast"]);
  });

  test("so is one whose category is none of the table's, and one that must hold without a need by name", async () => {
    const { as } = await startWorld(await tempDir());
    const ada = as("ada");
    const add = async (more: object) => (await ada.post<Memory>("/v1/memories", more)).body;
    expect(await add({ text: "Allergic to nuts", category: "medical" })).toMatchObject({
      category: "dietary",
      need: "no_nuts",
      strength: "hard",
    });
    expect(await add({ text: "Allergic to shellfish", category: "dietary" })).toMatchObject({ need: "no_shellfish", strength: "hard" });
  });

  test("an edit to another substance is that need, and to an allergy one that must hold", async () => {
    const { as } = await startWorld(await tempDir());
    const ada = as("ada");
    const edited = async (text: string, to: string) => {
      const { body } = await ada.post<Memory>("/v1/memories", { text });
      return (await ada.request<Memory>("PATCH", `/v1/memories/${body.id}`, { text: to })).body;
    };
    expect(await edited("I'm allergic to nuts", "I'm allergic to shellfish")).toMatchObject({ need: "no_shellfish", strength: "hard" });
    expect(await edited("Likes jazz", "I'm allergic to nuts")).toMatchObject({ need: "no_nuts", strength: "hard", category: "dietary" });
  });

  test("[need-ahead] a need that begins later is listed, recalled with its day, and known to a booking", async () => {
    const now = new Date("2026-05-01T12:00:00Z");
    const scripted = reader(async () => [{ ...NUTS, text: "No nuts", valid_from: "2026-05-20" }]);
    const { as, application } = await startWorld(await tempDir(), {}, { reader: scripted, clock: { now: () => now } });
    const ada = as("ada");
    const { body: session } = await ada.post<{ id: string }>("/v1/sessions", {});
    await ada.post(`/v1/sessions/${session.id}/messages`, { messages: [{ role: "user", content: "From 20 May on no nuts, please" }] });
    await ada.post(`/v1/sessions/${session.id}/flush`, {});
    const listed = (await ada.get<{ data: Memory[] }>("/v1/memories")).body.data;
    expect(listed.map(({ text, valid_from }) => [text, valid_from.slice(0, 10)])).toEqual([["No nuts", "2026-05-20"]]);
    const { body } = await ada.post<{ text: string; memory: { recalled: { valid_from?: string }[] } }>("/v1/context", { query: "dinner" });
    expect(body.text).toContain("No nuts (dietary, must hold from 20 May)");
    expect(body.memory.recalled.map(({ valid_from }) => valid_from?.slice(0, 10))).toEqual(["2026-05-20"]);
    const needs = await application.parts.longTerm.needs(ownerOf("default", "ada"), { now });
    expect(needs.map(({ need }) => need)).toEqual(["no_nuts"]);
  });
});

describe("[by-hand-read] what must hold is not lost by the reader", () => {
  test.each([
    ["fails", () => Promise.reject(new Error("broken"))],
    ["sees nothing", async () => []],
  ] as const)("that %s: the rules read it; a taste they leave as it came", async (_, read) => {
    const { as } = await startWorld(await tempDir(), {}, { reader: reader(read) });
    const ada = as("ada");
    const { body: allergy } = await ada.post<Memory>("/v1/memories", { text: "I am allergic to shellfish" });
    expect(allergy).toMatchObject({ text: "I am allergic to shellfish", category: "dietary", strength: "hard", need: "no_shellfish" });
    const { body: taste } = await ada.post<Memory>("/v1/memories", { text: "I love the opera" });
    expect(taste).toMatchObject({ category: "other", strength: "soft" });
  });
});

test("[by-hand-read] what is written by hand stands as it was written, also where its need was known in other words", async () => {
  const { as } = await startWorld(await tempDir(), {}, { reader: reader(async () => [NUTS]) });
  const ada = as("ada");
  const add = async (text: string) => (await ada.post<Memory>("/v1/memories", { text })).body.text;
  expect(await add("Allergic to peanuts")).toBe("Allergic to peanuts");
  expect(await add("Allergic to walnuts")).toBe("Allergic to walnuts");
  expect(await add("Allergic to walnuts")).toBe("Allergic to walnuts");
  const { body } = await ada.get<{ data: Memory[] }>("/v1/memories");
  expect(body.data.map(({ text }) => text).sort()).toEqual(["Allergic to peanuts", "Allergic to walnuts"]);
});
