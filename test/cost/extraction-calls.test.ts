import { expect, onTestFinished, test } from "vitest";
import { Catalogue } from "../../packages/concierge/src/catalogue.js";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import type { ChatAnswer } from "../../src/ports/application.js";
import { type Client, openWorld, startWorld, tempDir, type World } from "../e2e/world.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

const ada = ownerOf("default", "ada");
const signal = new AbortController().signal;

async function worldOf(variables: Readonly<Record<string, string>> = {}) {
  const model = new TaskModel();
  model.read = readsNuts;
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
      expect(await world.application.parts.worker.drain(20_000)).toBe(true);
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

test("[extraction-calls] thanks after an answer that asks nothing costs no call: it waits for the next message, and is told as pending", async () => {
  const { model, client } = await worldOf();
  const { session_id } = await client.say("What is on at the opera on Friday?");
  await client.say("Thanks!", { session_id });
  expect(model.documents.map(({ MESSAGE }) => MESSAGE)).toEqual(["What is on at the opera on Friday?"]);
  const left = async () => (await client.get<{ write_back: object }>(`/v1/sessions/${session_id}`)).body.write_back;
  expect(await left()).toEqual({ pending_turns: 1, failed_turns: 0 });
  await client.say("Is anything on at the ballet on Sunday?", { session_id });
  expect(model.documents).toHaveLength(2);
  expect(await left()).toEqual({ pending_turns: 0, failed_turns: 0 });
});

test("it can be found in history all the same", async () => {
  const { client } = await worldOf();
  const { session_id } = await client.say("Splendid indeed!");
  const { body } = await client.post<{ data: { content: string; session_id: string }[] }>("/v1/history/search", {
    query: "Splendid indeed",
  });
  expect(body.data).toContainEqual(expect.objectContaining({ content: "Splendid indeed!", session_id }));
});

test("[extraction-calls] a short answer to a question is read", async () => {
  const { model, client } = await worldOf();
  model.replies.push("Does anyone have an allergy?");
  const { session_id } = await client.say("A table for two on Friday, please.");
  await client.say("Nut allergy", { session_id });
  expect(model.documents.map(({ MESSAGE, EARLIER }) => [MESSAGE, EARLIER])).toEqual([
    ["A table for two on Friday, please.", undefined],
    ["Nut allergy", undefined],
  ]);
});

test("[aside-not-lost] an allergy in two words is read along with the next message, by one call, from its own turn", async () => {
  const { model, client, memories } = await worldOf();
  const { session_id } = await client.say("Find me a table for Friday night.");
  await client.say("Nut allergy!", { session_id });
  expect(await memories()).toEqual([]);
  await client.say("Somewhere near the opera house, please.", { session_id });
  expect(model.documents).toHaveLength(2);
  expect(model.documents[1]).toMatchObject({
    MESSAGE: "Somewhere near the opera house, please.",
    EARLIER: [{ id: "e1", MESSAGE: "Nut allergy!", QUESTION: "Very well." }],
  });
  expect(await memories()).toMatchObject([{ source: { turn: 2, quote: "Nut allergy" } }]);
  await client.say("And a quiet corner if there is one.", { session_id });
  expect(model.documents[2]?.EARLIER).toBeUndefined();
});

test("[aside-not-lost] and in whichever session the next message is, also after a restart", async () => {
  const dir = await tempDir();
  const before = new TaskModel();
  const first = await openWorld(dir, {}, { model: before });
  const { session_id } = await talking(first).say("Which operas are on this week?");
  await talking(first).say("Nut allergy!");
  await first.stop();
  const model = new TaskModel();
  model.read = readsNuts;
  const world = await startWorld(dir, {}, { model });
  await talking(world).say("Good evening, what is on this Saturday?", { session_id });
  expect(before.documents).toHaveLength(1);
  expect(model.documents).toMatchObject([{ EARLIER: [{ MESSAGE: "Nut allergy!" }] }]);
  expect((await world.as("ada").get<{ data: unknown[] }>("/v1/memories")).body.data).toHaveLength(1);
});

test("[aside-not-lost] a booking has it read first, and is stopped by it", async () => {
  const { model, client } = await worldOf();
  const { session_id } = await client.say("Nut allergy!");
  const dinner = new Catalogue().onSale(new Date()).find(({ id }) => id.startsWith("plum-tasting"));
  model.replies.push({ name: "book_tickets", arguments: { event_id: dinner?.id, quantity: 2 } }, "Two seats. Shall I book them?");
  await client.say("Two for dinner", { session_id });
  expect(model.documents).toEqual([]);
  model.replies.push({ name: "book_tickets", arguments: { event_id: dinner?.id, agreed: "yes" } }, "I have not booked it.");
  const { steps } = await client.say("yes", { session_id });
  expect(steps.map(({ output }) => output)).toMatchObject([{ status: "stopped" }]);
  expect(model.documents).toMatchObject([{ MESSAGE: "yes", EARLIER: [{ MESSAGE: "Nut allergy!" }, { MESSAGE: "Two for dinner" }] }]);
});

test("what was left is read at once where that is asked for, the newest with all that came before it", async () => {
  const { model, client, world } = await worldOf();
  const { session_id } = await client.say("Good evening!");
  await client.say("Nut allergy!", { session_id });
  const { longTerm } = world.application.parts;
  await longTerm.readLeft(ada, { now: new Date(), signal });
  await longTerm.readLeft(ada, { now: new Date(), signal });
  expect(model.documents).toMatchObject([{ MESSAGE: "Nut allergy!", EARLIER: [{ MESSAGE: "Good evening!" }] }]);
});

test("what was said again differently is not read", async () => {
  const { model, client } = await worldOf();
  const { session_id, ...answer } = await client.say("Nut allergy!");
  const { body } = await client.get<{ data: { id: string; role: string }[] }>(`/v1/sessions/${session_id}/messages`);
  const edited = body.data.find(({ role }) => role === "user")?.id;
  await client.say("No allergy at all, forgive me for that.", { session_id, edit_of: edited });
  expect(answer.turn).toBe(1);
  expect(model.documents).toMatchObject([{ MESSAGE: "No allergy at all, forgive me for that." }]);
  expect(model.documents[0]?.EARLIER).toBeUndefined();
});

test("a request in three words not to keep the message before is followed when it is read", async () => {
  const { model, client } = await worldOf();
  model.read = ({ MESSAGE, EARLIER = [] }) => ({
    off_record: null,
    earlier_off_record: EARLIER.map(({ id }) => ({ message: id, which: "previous" })),
    operations: MESSAGE.startsWith("I love")
      ? [{ op: "add", quote: "I love jazz clubs", text: "Loves jazz clubs", category: "genre" }]
      : [],
  });
  const { session_id } = await client.say("I love jazz clubs in old cellars.");
  await client.say("Don't keep that", { session_id });
  expect((await client.get<{ data: unknown[] }>("/v1/memories")).body.data).toHaveLength(1);
  await client.say("What else is on this Friday night?", { session_id });
  expect((await client.get<{ data: unknown[] }>("/v1/memories")).body.data).toEqual([]);
});

test("a refusal of what was read along costs the new message nothing", async () => {
  const { model, client } = await worldOf();
  model.read = (document) => {
    if (document.EARLIER !== undefined) throw new AppError("MODEL_CONTENT_FILTER");
    return readsNuts(document);
  };
  const { session_id } = await client.say("Something foul!");
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
  const second = (await post("Which concerts are on this Saturday?")).body.session_id;
  const { worker } = world.application.parts;
  expect(await worker.written(ada, AbortSignal.timeout(20_000))).toBe(true);
  expect(model.documents.map(({ MESSAGE }) => MESSAGE).sort()).toEqual([
    "Nut allergies run in the family.",
    "Which concerts are on this Saturday?",
  ]);
  await post("And which of them are outdoors, in a park?", second);
  expect((await worker.drain(20_000)) && model.documents).toHaveLength(3);
});

test("[aside-not-lost] more than fit into one call are read by two, each once", async () => {
  const { model, client } = await worldOf();
  const { session_id } = await client.say("Aside 1");
  for (let aside = 2; aside <= 15; aside++) await client.say(`Aside ${aside}`, { session_id });
  await client.say("What is on at the opera on Friday?", { session_id });
  const read = model.documents.map(({ MESSAGE, EARLIER = [] }) => [...EARLIER.map((each) => each.MESSAGE), MESSAGE]);
  expect(read.map(({ length }) => length)).toEqual([12, 4]);
  expect(read.flat()).toEqual([...Array.from({ length: 15 }, (_, index) => `Aside ${index + 1}`), "What is on at the opera on Friday?"]);
});

test("[aside-not-lost] what one call reads along, no other reads while it runs", async () => {
  const { model, client, world } = await worldOf();
  const sessions = [await client.say("Which operas are on this week?"), await client.say("Which operas are on next week?")];
  await client.say("Nut allergy!");
  const begun = deferred();
  const ends = deferred();
  model.read = async (document) => {
    begun.resolve();
    await ends.promise;
    return readsNuts(document);
  };
  const asked = ["What is on at the opera on Friday?", "Is there anything on at the opera on Sunday?"];
  for (const [place, message] of asked.entries()) {
    await client.post("/v1/chat", { message, session_id: sessions[place]?.session_id });
    await begun.promise;
  }
  ends.resolve();
  expect(await world.application.parts.worker.drain(20_000)).toBe(true);
  expect(model.documents.flatMap(({ EARLIER = [] }) => EARLIER.map((each) => each.MESSAGE))).toEqual(["Nut allergy!"]);
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
