import { expect, onTestFinished, test } from "vitest";
import { Catalogue } from "../../packages/concierge/src/catalogue.js";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { type Client, openWorld, startWorld, tempDir, type World } from "../e2e/world.js";
import { readsJazz, readsNuts, TaskModel } from "../support/task-model.js";

const ada = ownerOf("default", "ada");

async function worldOf(variables: Readonly<Record<string, string>> = {}, read: TaskModel["read"] = readsNuts) {
  const model = new TaskModel();
  model.read = read;
  const world = await startWorld(await tempDir(), variables, { model });
  const memories = async () =>
    (await world.as("ada").get<{ data: { text: string; source: { turn: number; quote: string } }[] }>("/v1/memories")).body.data;
  return { world, model, client: talking(world), memories };
}

/** Says one thing after another: whatever needs no call waits for the next, as nobody flushes. */
function talking(world: World): Client {
  const client = world.as("ada");
  return {
    ...client,
    say: async (message, more = {}) => {
      const { status, body, text } = await client.post<ChatAnswer>("/v1/chat", { message, ...more });
      expect(status, text).toBe(200);
      expect(await world.application.parts.worker.drain(20_000, { left: "stays" })).toBe(true);
      return body;
    },
  };
}

function deferred() {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test("[extraction-calls] thanks after an answer that asks nothing costs no call: it waits for the next message", async () => {
  const { model, client } = await worldOf();
  const { session_id } = await client.say("We sit at the back of the opera.");
  await client.say("Thanks!", { session_id });
  expect(model.documents.map(({ MESSAGE }) => MESSAGE)).toEqual(["We sit at the back of the opera."]);
  await client.say("We sit in front at the ballet.", { session_id });
  expect(model.documents).toHaveLength(2);
});

test("it can be found in history all the same", async () => {
  const { client } = await worldOf();
  const { session_id } = await client.say("Splendid indeed!");
  const { body } = await client.post<{ data: { content: string; session_id: string }[] }>("/v1/history/search", {
    query: "Splendid indeed",
  });
  expect(body.data).toContainEqual(expect.objectContaining({ content: "Splendid indeed!", session_id }));
});

test("[extraction-calls] what could wait by itself is read where it answers a question", async () => {
  const { model, client } = await worldOf();
  model.replies.push("Does anyone have an allergy?");
  const { session_id } = await client.say("We sit at the back of the opera.");
  await client.say("yes", { session_id });
  expect(model.documents).toMatchObject([
    { MESSAGE: "We sit at the back of the opera." },
    { MESSAGE: "yes", QUESTION: "Does anyone have an allergy?" },
  ]);
});

test("[needs-read-at-once] an allergy in two words is read at once", async () => {
  const { model, client, memories } = await worldOf();
  await client.say("Nut allergy!");
  expect(model.documents).toMatchObject([{ MESSAGE: "Nut allergy!" }]);
  expect(await memories()).toMatchObject([{ source: { turn: 1, quote: "Nut allergy" } }]);
});

test("[aside-not-lost] what is told in passing is read along with the next message, by one call, from its own turn", async () => {
  const { model, client, memories } = await worldOf({}, readsJazz);
  const { session_id } = await client.say("I'd like something with jazz.");
  expect(await memories()).toEqual([]);
  await client.say("We sit at the back of the opera.", { session_id });
  expect(model.documents).toMatchObject([
    { MESSAGE: "We sit at the back of the opera.", EARLIER: [{ id: "e1", MESSAGE: "I'd like something with jazz.", QUESTION: null }] },
  ]);
  expect(await memories()).toMatchObject([{ source: { turn: 1, quote: "I'd like something with jazz" } }]);
  await client.say("And a quiet corner if there is one.", { session_id });
  expect(model.documents[1]?.EARLIER).toBeUndefined();
});

test("[extraction-calls] whatever the assistant answers, what can wait does so up to twelve messages", async () => {
  const { model, client, memories } = await worldOf({}, readsJazz);
  const { session_id } = await client.say("I'd like something with jazz.");
  for (let place = 2; place <= 12; place++) await client.say(`Could you show me number ${place}?`, { session_id });
  expect(model.documents).toEqual([]);
  await client.say("Could you show me the last one?", { session_id });
  expect(model.documents.map(({ EARLIER = [] }) => EARLIER.length)).toEqual([12]);
  expect(await memories()).toHaveLength(1);
});

test("[aside-not-lost] and in whichever session the next message is, also after a restart", async () => {
  const dir = await tempDir();
  const before = new TaskModel();
  const first = await openWorld(dir, {}, { model: before });
  const { session_id } = await talking(first).say("We sit at the back of the opera.");
  await talking(first).say("I'd like something with jazz.");
  await first.stop();
  const model = new TaskModel();
  model.read = readsJazz;
  const world = await startWorld(dir, {}, { model });
  await talking(world).say("We sit in front at the ballet.", { session_id });
  expect(before.documents).toHaveLength(1);
  expect(model.documents).toMatchObject([{ EARLIER: [{ MESSAGE: "I'd like something with jazz." }] }]);
  expect((await world.as("ada").get<{ data: unknown[] }>("/v1/memories")).body.data).toHaveLength(1);
});

test("[aside-not-lost] a booking has it read first, and is stopped by it", async () => {
  const { model, client } = await worldOf();
  // "Nut" by its letters alone, as the model reads it here: what a guest tells in words that nobody knows.
  const { session_id } = await client.say("Could you show us the Nutcracker, please?");
  const dinner = new Catalogue().onSale(new Date()).find(({ id }) => id.startsWith("plum-tasting"));
  model.replies.push({ name: "book_tickets", arguments: { event_id: dinner?.id, quantity: 2 } }, "Two seats. Shall I book them?");
  await client.say("Could you find two seats for dinner?", { session_id });
  expect(model.documents).toEqual([]);
  model.replies.push({ name: "book_tickets", arguments: { event_id: dinner?.id, agreed: "yes" } }, "I have not booked it.");
  const { steps } = await client.say("yes", { session_id });
  expect(steps.map(({ output }) => output)).toMatchObject([{ status: "stopped" }]);
  expect(model.documents).toMatchObject([
    {
      MESSAGE: "yes",
      EARLIER: [{ MESSAGE: "Could you show us the Nutcracker, please?" }, { MESSAGE: "Could you find two seats for dinner?" }],
    },
  ]);
});

test("what was said again differently is not read", async () => {
  const { model, client } = await worldOf();
  const { session_id, ...answer } = await client.say("I'd like something with jazz.");
  const { body } = await client.get<{ data: { id: string; role: string }[] }>(`/v1/sessions/${session_id}/messages`);
  const edited = body.data.find(({ role }) => role === "user")?.id;
  await client.say("No allergy at all, forgive me for that.", { session_id, edit_of: edited });
  expect(answer.turn).toBe(1);
  expect(model.documents).toMatchObject([{ MESSAGE: "No allergy at all, forgive me for that." }]);
  expect(model.documents[0]?.EARLIER).toBeUndefined();
});

test("[needs-read-at-once] a request in three words not to keep the message before is read at once, and followed", async () => {
  const { model, client, memories } = await worldOf();
  model.read = ({ MESSAGE, EARLIER = [] }) => ({
    off_record: MESSAGE === "Don't keep that" ? "previous" : null,
    earlier_off_record: [],
    operations: [MESSAGE, ...EARLIER.map((each) => each.MESSAGE)].flatMap((text) =>
      text.includes("jazz") ? [{ op: "add", quote: text, text: "Likes jazz clubs", category: "genre" }] : [],
    ),
  });
  const { session_id } = await client.say("I'd like jazz clubs in old cellars.");
  await client.say("Don't keep that", { session_id });
  expect(model.documents).toHaveLength(1);
  expect(await memories()).toEqual([]);
});

test("a refusal of what was read along costs the new message nothing", async () => {
  const { model, client } = await worldOf();
  model.read = (document) => {
    if (document.EARLIER !== undefined) throw new AppError("MODEL_CONTENT_FILTER");
    return readsNuts(document);
  };
  const { session_id } = await client.say("Could you find something foul?");
  const answer = await client.post<{ session_id: string }>("/v1/chat", { message: "A table for two, Nut free, please.", session_id });
  expect(answer.status).toBe(200);
  const flushed = await client.post(`/v1/sessions/${session_id}/flush?timeout_ms=20000`);
  expect(flushed.body).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect(model.documents.map(({ EARLIER = [] }) => EARLIER.length)).toEqual([1, 0]);
});

test("[extraction-calls] turns that come quickly are read by one call, each from its own message; flush doesn't wait", async () => {
  const { model, client, memories } = await worldOf({ EXTRACTION_DELAY_MS: "3600000" });
  const post = (message: string, session_id?: string) => client.post<{ session_id: string }>("/v1/chat", { message, session_id });
  const session_id = (await post("I'd like a table for Friday night.")).body.session_id;
  await post("Nut allergies run in the family.", session_id);
  await post("Somewhere quiet would be best of all.", session_id);
  const { body } = await client.get<{ write_back: { pending_turns: number } }>(`/v1/sessions/${session_id}`);
  expect(body.write_back.pending_turns).toBe(3);
  expect(model.documents).toEqual([]);
  const flushed = await client.post(`/v1/sessions/${session_id}/flush?timeout_ms=20000`);
  expect(flushed.body).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect(model.documents).toMatchObject([
    {
      MESSAGE: "Somewhere quiet would be best of all.",
      EARLIER: [{ MESSAGE: "I'd like a table for Friday night." }, { MESSAGE: "Nut allergies run in the family." }],
    },
  ]);
  expect(await memories()).toMatchObject([{ source: { turn: 2 } }]);
});

test("[extraction-calls] nor does a new session of the same user, nor a booking's look at what is written", async () => {
  const { model, client, world } = await worldOf({ EXTRACTION_DELAY_MS: "3600000" });
  const post = (message: string, session_id?: string) => client.post<{ session_id: string }>("/v1/chat", { message, session_id });
  await post("Nut allergies run in the family.");
  expect(model.documents).toEqual([]);
  const second = (await post("We sit at the back of the opera.")).body.session_id;
  const { worker } = world.application.parts;
  expect(await worker.written(ada, AbortSignal.timeout(20_000))).toBe(true);
  expect(model.documents.map(({ MESSAGE }) => MESSAGE).sort()).toEqual([
    "Nut allergies run in the family.",
    "We sit at the back of the opera.",
  ]);
  await post("We sit in front at the ballet.", second);
  expect((await worker.drain(20_000)) && model.documents).toHaveLength(3);
});

test("[aside-not-lost] more than fit into one call are read by two, each once", async () => {
  const { model, client } = await worldOf({ EXTRACTION_DELAY_MS: "3600000" });
  const post = (message: string, session_id?: string) => client.post<{ session_id: string }>("/v1/chat", { message, session_id });
  const session_id = (await post("We sit in row 1.")).body.session_id;
  for (let row = 2; row <= 16; row++) await post(`We sit in row ${row}.`, session_id);
  await client.post(`/v1/sessions/${session_id}/flush?timeout_ms=20000`);
  const read = model.documents.map(({ MESSAGE, EARLIER = [] }) => [...EARLIER.map((each) => each.MESSAGE), MESSAGE]);
  expect(read.map(({ length }) => length)).toEqual([13, 3]);
  expect(read.flat()).toEqual(Array.from({ length: 16 }, (_, index) => `We sit in row ${index + 1}.`));
});

test("[aside-not-lost] what one call reads along, no other reads while it runs", async () => {
  const { model, client, world } = await worldOf({}, readsJazz);
  const sessions = [await client.say("We sit at the back of the opera."), await client.say("We sit in front at the ballet.")];
  await client.say("I'd like something with jazz.");
  const begun = deferred();
  const ends = deferred();
  model.read = async (document) => {
    begun.resolve();
    await ends.promise;
    return readsJazz(document);
  };
  const asked = ["We come at seven on Fridays.", "We come at eight on Sundays."];
  for (const [place, message] of asked.entries()) {
    await client.post("/v1/chat", { message, session_id: sessions[place]?.session_id });
    await begun.promise;
  }
  ends.resolve();
  expect(await world.application.parts.worker.drain(20_000)).toBe(true);
  expect(model.documents.flatMap(({ EARLIER = [] }) => EARLIER.map((each) => each.MESSAGE))).toEqual(["I'd like something with jazz."]);
  expect(
    model.documents
      .slice(2)
      .map(({ MESSAGE }) => MESSAGE)
      .sort(),
  ).toEqual(asked.toSorted());
});

test("[extraction-calls] a crash between the call and its record reads what was read once more, and remembers it once", async () => {
  const dir = await tempDir();
  const model = new TaskModel();
  model.read = readsNuts;
  const first = await openWorld(dir, { EXTRACTION_DELAY_MS: "3600000" }, { model });
  onTestFinished(() => first.application.close({ drainMs: 0 }));
  const client = first.as("ada");
  const { session_id } = (await client.post<{ session_id: string }>("/v1/chat", { message: "Nut allergies run in the family." })).body;
  await client.post("/v1/chat", { message: "Somewhere quiet would be best of all.", session_id });
  await first.application.close({ drainMs: 0 });
  const world = await startWorld(dir, {}, { model });
  await world.application.parts.worker.drain(20_000);
  await talking(world).say("A table by the window, if there is one.", { session_id });
  expect((await world.as("ada").get<{ data: unknown[] }>("/v1/memories")).body.data).toHaveLength(1);
});
