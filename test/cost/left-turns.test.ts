import { expect, test } from "vitest";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { TestClock } from "../support/session-world.js";
import { readsJazz, TaskModel } from "../support/task-model.js";

const ASIDE = "I'd like something with jazz, please.";

async function worldOf() {
  const model = new TaskModel();
  model.read = readsJazz;
  const clock = new TestClock();
  const world = await startWorld(await tempDir(), {}, { model, clock });
  const client = world.as("ada");
  const { worker } = world.application.parts;
  const settled = async () => expect(await worker.drain(20_000, { left: "stays" })).toBe(true);
  const say = async (message: string, session_id?: string) => {
    const { status, body } = await client.post<ChatAnswer>("/v1/chat", { message, session_id });
    expect(status).toBe(200);
    await settled();
    return body.session_id;
  };
  const memories = async () => (await client.get<{ data: { source: { session_id: string; turn: number } }[] }>("/v1/memories")).body.data;
  const writeBack = async (id: string) => (await client.get<{ write_back: object }>(`/v1/sessions/${id}`)).body.write_back;
  return { model, clock, client, say, settled, memories, writeBack };
}

const PENDING = { pending_turns: 1, failed_turns: 0 };
const DONE = { pending_turns: 0, failed_turns: 0 };

test("[aside-not-lost] a message that waits for the next one is told as pending, and a flush has it read", async () => {
  const { client, say, memories, writeBack } = await worldOf();
  const id = await say(ASIDE);
  expect(await writeBack(id)).toEqual(PENDING);
  expect(await memories()).toEqual([]);
  expect((await client.post(`/v1/sessions/${id}/flush?timeout_ms=20000`)).body).toEqual(DONE);
  expect(await memories()).toMatchObject([{ source: { session_id: id, turn: 1 } }]);
});

test("[aside-not-lost] with the first turn of another session it is read, so that the next turn knows it", async () => {
  const { model, client, say, settled, memories, writeBack } = await worldOf();
  const id = await say(ASIDE);
  const second = await say("Hello");
  await settled();
  expect(await memories()).toMatchObject([{ source: { session_id: id } }]);
  expect(await writeBack(id)).toEqual(DONE);
  expect(model.documents.map(({ MESSAGE }) => MESSAGE)).toContain(ASIDE);
  const { body } = await client.post<ChatAnswer>("/v1/chat", { message: "Which concerts are on tonight?", session_id: second });
  expect(body.memory.recalled).toMatchObject([{ text: "Likes jazz" }]);
});

test("[aside-not-lost] the first turn of another session is told it in the guest's words, as it is not read yet; the next one no more", async () => {
  const { model, client, say, settled } = await worldOf();
  await say(ASIDE);
  const told = () => model.of("chat").at(-1)?.messages.at(-1)?.content ?? "";
  let goOn = () => {};
  const answered = new Promise<void>((resolve) => (goOn = resolve));
  model.read = (document) => answered.then(() => readsJazz(document));
  const { body } = await client.post<ChatAnswer>("/v1/chat", { message: "What do you have tonight?" });
  goOn();
  await settled();
  const second = body.session_id;
  expect(told()).toContain(`Said shortly before in another conversation, being noted now:\n- ${ASIDE}\n`);
  await say("Which of them is quiet?", second);
  expect(told()).not.toContain("being noted now");
  expect(told()).toContain("Likes jazz");
  await client.post("/v1/chat", { message: "Thanks!" });
  expect(told()).not.toContain(ASIDE);
});

test("[aside-not-lost] what is forgotten, off the record or in an incognito conversation is told in no other", async () => {
  const { model, client, say } = await worldOf();
  const told = () => model.of("chat").at(-1)?.messages.at(-1)?.content ?? "";
  await client.post("/v1/chat", { message: ASIDE, incognito: true });
  await say("Hello!");
  expect(told()).not.toContain(ASIDE);
  const id = await say("Could you find us a play?");
  await client.post("/v1/chat", { message: "Good evening!", incognito: true });
  expect(told()).not.toContain("a play");
  expect((await client.delete(`/v1/sessions/${id}?purge=true`)).status).toBeLessThan(300);
  await say("Good evening!");
  expect(told()).not.toContain("a play");
});

test("[aside-not-lost] an agent elsewhere is told it too", async () => {
  const { client, say } = await worldOf();
  const id = await say(ASIDE);
  const { body } = await client.post<{ text: string }>("/v1/context", { query: "What is on tonight?" });
  expect(body.text).toContain(`being noted now:\n- ${ASIDE}`);
  const own = await client.post<{ text: string }>("/v1/context", { query: "What is on tonight?", session_id: id });
  expect(own.body.text).not.toContain("being noted now");
});

test("[aside-not-lost] whoever asks for what is known has it read with what came before it, but for what the session that it asks about holds", async () => {
  const { model, client, say, settled, memories } = await worldOf();
  const id = await say("Good evening!");
  await say(ASIDE, id);
  await client.post("/v1/context", { session_id: id });
  await settled();
  expect(await memories()).toEqual([]);
  expect((await client.post("/v1/context", {})).status).toBe(200);
  await expect.poll(memories, { timeout: 20_000 }).toMatchObject([{ source: { session_id: id } }]);
  expect(model.documents).toMatchObject([{ MESSAGE: ASIDE, EARLIER: [{ MESSAGE: "Good evening!" }] }]);
});

test("[aside-not-lost] where nothing follows it is read by itself after EXTRACTION_IDLE_MS, 5 minutes", async () => {
  const { clock, say, settled, memories, writeBack } = await worldOf();
  const id = await say(ASIDE);
  clock.seconds(298);
  await settled();
  expect(await memories()).toEqual([]);
  clock.seconds(3);
  await settled();
  expect(await memories()).toMatchObject([{ source: { session_id: id } }]);
  expect(await writeBack(id)).toEqual(DONE);
});

test("[aside-not-lost] several in a row wait together, and are read by one call", async () => {
  const { model, clock, say, settled, memories, writeBack } = await worldOf();
  const id = await say(ASIDE);
  await say("Thanks!", id);
  await say("Bye!", id);
  expect(await writeBack(id)).toEqual(PENDING);
  clock.seconds(301);
  await settled();
  expect(model.documents).toMatchObject([{ MESSAGE: "Bye!", EARLIER: [{ MESSAGE: ASIDE }, { MESSAGE: "Thanks!" }] }]);
  expect(await memories()).toMatchObject([{ source: { turn: 1 } }]);
  expect(await writeBack(id)).toEqual(DONE);
});

test("[aside-not-lost] one whose reading fails for good is told as failed", async () => {
  const { model, clock, say, settled, writeBack } = await worldOf();
  model.read = () => "no idea";
  const id = await say(ASIDE);
  for (let tries = 0; tries < 10; tries++) {
    clock.days(1);
    await settled();
  }
  expect(await writeBack(id)).toEqual({ pending_turns: 0, failed_turns: 1 });
});
