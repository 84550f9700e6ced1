import { expect, onTestFinished, test } from "vitest";
import { createMaitred } from "../../src/index.js";
import type { ModelRequest } from "../../src/ports/agent.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

const SAID = "Nut allergies run in the family. Find me dinner.";

async function worldOf(variables: Readonly<Record<string, string>> = {}) {
  const model = new TaskModel();
  model.read = readsNuts;
  const world = await startWorld(await tempDir(), variables, { model });
  const client = world.as("ada");
  const memories = async () =>
    (await client.get<{ data: { text: string; source: { turn: number; message_id: string; quote: string } }[] }>("/v1/memories")).body.data;
  const session = async () => (await client.get<{ data: { id: string }[] }>("/v1/sessions")).body.data[0]?.id ?? "";
  const flush = async () => (await client.post(`/v1/sessions/${await session()}/flush?timeout_ms=20000`)).body;
  const guestSaid = async () => {
    const { body } = await client.get<{ data: { id: string; role: string }[] }>(`/v1/sessions/${await session()}/messages`);
    return body.data.filter(({ role }) => role === "user").map(({ id }) => id);
  };
  return { world, model, client, memories, session, flush, guestSaid };
}

const unanswered = new Error("the model is gone");

test("[unanswered-not-lost] what was said in a turn that failed becomes a memory, from that message, once", async () => {
  const { model, client, memories, session, flush, guestSaid } = await worldOf();
  model.replies.push(unanswered);
  const failed = await client.post("/v1/chat", { message: SAID });
  expect(failed.status).toBeGreaterThanOrEqual(500);
  expect(await flush()).toEqual({ pending_turns: 0, failed_turns: 0 });
  const [messageId] = await guestSaid();
  expect(await memories()).toMatchObject([{ source: { turn: 1, message_id: messageId, quote: expect.stringContaining("Nut") } }]);
  await client.say("Somewhere near the opera house, please.", { session_id: await session() });
  expect(model.documents.map(({ MESSAGE, EARLIER }) => [MESSAGE, EARLIER])).toEqual([
    [SAID, undefined],
    ["Somewhere near the opera house, please.", undefined],
  ]);
  expect(await memories()).toHaveLength(1);
});

test("[unanswered-not-lost] history has no such turn until it is answered; the same request once more reads it no second time", async () => {
  const { model, client, memories, flush } = await worldOf();
  const key = { "Idempotency-Key": "dinner-for-two-once" };
  model.replies.push(unanswered);
  await client.post("/v1/chat", { message: SAID }, key);
  await flush();
  const search = async () => (await client.post<{ data: { content: string }[] }>("/v1/history/search", { query: SAID })).body.data;
  expect(await search()).toEqual([]);
  expect((await client.post("/v1/chat", { message: SAID }, key)).status).toBe(200);
  expect(await flush()).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect((await search()).map(({ content }) => content)).toContain(SAID);
  expect(model.documents).toHaveLength(1);
  expect(await memories()).toHaveLength(1);
});

test("[unanswered-not-lost] a turn that is answered before it was read is read once, as that", async () => {
  const { model, client, memories, flush } = await worldOf({ EXTRACTION_DELAY_MS: "3600000" });
  const key = { "Idempotency-Key": "dinner-for-two-late" };
  model.replies.push(unanswered);
  await client.post("/v1/chat", { message: SAID }, key);
  await client.post("/v1/chat", { message: SAID }, key);
  expect(await flush()).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect(model.documents).toHaveLength(1);
  expect(await memories()).toHaveLength(1);
});

test("[unanswered-not-lost] one that is answered while it is read goes to history, too", async () => {
  const { model, client, flush } = await worldOf();
  const key = { "Idempotency-Key": "dinner-for-two-both" };
  let answered: Promise<unknown> | null = null;
  model.read = async (document) => {
    answered ??= client.post("/v1/chat", { message: SAID }, key);
    await answered;
    return readsNuts(document);
  };
  model.replies.push(unanswered);
  await client.post("/v1/chat", { message: SAID }, key);
  expect(await flush()).toEqual({ pending_turns: 0, failed_turns: 0 });
  const found = await client.post<{ data: { content: string }[] }>("/v1/history/search", { query: SAID });
  expect(found.body.data.map(({ content }) => content)).toContain(SAID);
  expect(model.documents).toHaveLength(1);
});

test("[unanswered-not-lost] what was said instead stands for it, whether it was read before or not", async () => {
  for (const EXTRACTION_DELAY_MS of ["0", "3600000"]) {
    const { model, client, memories, session, flush, guestSaid } = await worldOf({ EXTRACTION_DELAY_MS });
    model.replies.push(unanswered);
    await client.post("/v1/chat", { message: SAID });
    if (EXTRACTION_DELAY_MS === "0") await flush();
    const [edit_of] = await guestSaid();
    await client.say("No allergies at all, find me dinner.", { session_id: await session(), edit_of });
    expect(await memories()).toEqual([]);
    expect(model.documents.at(-1)).toMatchObject({ MESSAGE: "No allergies at all, find me dinner." });
  }
});

test("[unanswered-not-lost] nothing of a turn is read that was to be kept out of memory", async () => {
  const { model, client, memories, flush } = await worldOf();
  model.replies.push(unanswered);
  await client.post("/v1/chat", { message: SAID, incognito: true });
  expect(await flush()).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect([model.documents, await memories()]).toEqual([[], []]);
});

async function opened(model: TaskModel) {
  const maitred = await createMaitred({ model, prompt: "You help.", shortTermBackend: "memory", embeddingProvider: "hashing" });
  onTestFinished(() => maitred.close());
  return maitred;
}

/** Says a little, and goes on when it is broken off. */
class SlowModel extends TaskModel {
  override async *stream(request: ModelRequest) {
    if (request.task === undefined || request.task === "chat") yield { type: "text" as const, delta: "Let me " };
    yield* super.stream(request);
  }
}

test("[unanswered-not-lost] what was said in a turn whose answer nobody read to its end becomes a memory", async () => {
  const model = new SlowModel();
  model.read = readsNuts;
  const ada = (await opened(model)).for({ user: "ada" });
  let sessionId = "";
  for await (const event of ada.stream(SAID)) {
    if (event.type === "session") sessionId = event.session_id;
    if (event.type === "token") break;
  }
  expect(await ada.sessions.flush(sessionId, { timeoutMs: 20_000 })).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect((await ada.memories.list()).data).toMatchObject([{ source: { turn: 1, quote: expect.stringContaining("Nut") } }]);
});

test("[unanswered-not-lost] a turn that waits for its caller's tools is read once, whether it goes on or not", async () => {
  const model = new TaskModel();
  model.read = readsNuts;
  const maitred = await opened(model);
  const owner = await maitred.owner("ada");
  const tools = [{ name: "weather", description: "The weather of a place.", parameters: { type: "object", properties: {} } }];
  model.replies.push({ name: "weather", arguments: { city: "Rome" } });
  const waiting = await maitred.chat.chat({ owner, message: SAID, externalId: "talk", tools });
  const ada = maitred.for({ user: "ada" });
  const flush = () => ada.sessions.flush(waiting.session_id, { timeoutMs: 20_000 });
  await flush();
  expect((await ada.memories.list()).data).toHaveLength(1);
  const results = (waiting.calls ?? []).map(({ id }) => ({ callId: id, output: "sunny" }));
  expect(await maitred.chat.resume({ owner, externalId: "talk", tools, results })).toMatchObject({ turn: 1 });
  expect(await flush()).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect(model.documents).toHaveLength(1);
  expect((await ada.memories.list()).data).toHaveLength(1);
});
