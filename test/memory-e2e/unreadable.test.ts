import { expect, test } from "vitest";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { TestClock } from "../support/session-world.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

const SAID = "Nut allergies run in the family. Find me dinner.";

async function worldOf() {
  const model = new TaskModel();
  const clock = new TestClock();
  const world = await startWorld(await tempDir(), {}, { model, clock });
  const client = world.as("ada");
  const chat = async (message: string, session_id?: string) => {
    const { status, body } = await client.post<{ session_id: string }>("/v1/chat", { message, session_id });
    expect(status).toBe(200);
    return body.session_id;
  };
  const memories = async () =>
    (await client.get<{ data: { source: { turn: number; quote: string } | null; text: string }[] }>("/v1/memories")).body.data;
  return { world, model, clock, client, chat, memories };
}

/** Lets every try come that backoff puts off, until no turn is pending. */
async function untilGivenUp({ application: { parts } }: World, clock: TestClock): Promise<void> {
  while ((await parts.store.turns.counts()).pending > 0) {
    clock.days(1);
    await parts.worker.drain(20_000);
  }
}

const UNREADABLE = ["I found nothing of note.", { said: "nothing" }, { operations: [{ op: "dance" }] }];

test.each(UNREADABLE)(
  "[unreadable-not-lost] a reading that stays unreadable is visible as failed, and can be retried: %j",
  async (answer) => {
    const { world, model, clock, client, chat, memories } = await worldOf();
    model.read = () => answer;
    const id = await chat(SAID);
    await untilGivenUp(world, clock);
    expect((await client.get(`/v1/sessions/${id}`)).body).toMatchObject({ write_back: { pending_turns: 0, failed_turns: 1 } });
    const { data: events } = await world.application.events.list("all", { limit: 200 });
    expect(events.filter(({ type }) => type === "write_back.failed")).toMatchObject([
      { data: { session_id: id, turn: 1, error_code: "EXTRACTION_FAILED" } },
    ]);
    model.read = readsNuts;
    expect((await client.post(`/v1/sessions/${id}/write-back/retry`)).status).toBe(202);
    expect((await client.post(`/v1/sessions/${id}/flush?timeout_ms=20000`)).body).toEqual({ pending_turns: 0, failed_turns: 0 });
    expect(await memories()).toMatchObject([{ source: { turn: 1 } }]);
  },
);

test("[unreadable-not-lost] one whose repair can be read needs nobody's help", async () => {
  const { world, model, clock, chat, memories } = await worldOf();
  model.read = (document) => (model.documents.length <= 1 ? "no idea" : readsNuts(document));
  await chat(SAID);
  await untilGivenUp(world, clock);
  expect(await memories()).toMatchObject([{ source: { turn: 1 } }]);
});

test("[unreadable-not-lost] of a message that can't be read with others, the others are read all the same", async () => {
  const { world, model, clock, chat, memories } = await worldOf();
  model.read = (document) =>
    [document.MESSAGE, ...(document.EARLIER ?? []).map((each) => each.MESSAGE)].includes("Odd!") ? "?" : readsNuts(document);
  const id = await chat("Odd!");
  await chat(SAID, id);
  await untilGivenUp(world, clock);
  expect(await memories()).toMatchObject([{ source: { turn: 2 } }]);
});

test("[unreadable-not-lost] what the guest has the model keep is kept where the message can't be read", async () => {
  const { model, client, chat, memories } = await worldOf();
  model.read = () => "no idea";
  const call = { quote: "I love old jazz clubs", text: "Loves old jazz clubs", category: "genre" };
  model.replies.push({ name: "remember", arguments: call }, "Noted.");
  const id = await chat("Remember: I love old jazz clubs.");
  expect(await memories()).toMatchObject([{ text: "Loves old jazz clubs" }]);
  expect((await client.get(`/v1/sessions/${id}`)).body).toMatchObject({ write_back: { failed_turns: 0 } });
});
