import { expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { AlongWithReading } from "../../src/after-turn/along-with-reading.js";
import { ownerOf } from "../../src/domain/owner.js";
import { LlmReader } from "../../src/memories/llm-reader.js";
import { promptFor } from "../../src/memories/prompts/read-message-prompt.js";
import type { AlsoAsked, AlsoDue } from "../../src/ports/extraction.js";
import { ScriptedModel } from "../../src/testing/scripted-model.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { messageOf, NEEDS } from "../reading/message.js";
import { readsJazz, TaskModel } from "../support/task-model.js";

const ada = ownerOf("default", "ada");
const signal = new AbortController().signal;
const domain = { name: "concierge", categories: CONCIERGE_CATEGORIES, needs: NEEDS };
const EMPTY = { off_record: null, operations: [] };
const TITLE: AlsoAsked = { task: "title", how: "Name it.", of: '{"user":"Hello"}', maxOutputTokens: 200 };
const SUMMARY: AlsoAsked = { task: "summary", how: "Write the record.", of: '{"turn":1}', maxOutputTokens: 400 };

function due(...asked: readonly AlsoAsked[]): AlsoDue & { readonly given: [string, string][] } {
  const given: [string, string][] = [];
  return { asked, answered: ({ task }, text) => void given.push([task, text]), given };
}

/** What a model does that may or may not do what else it is asked for. */
class AlsoModel extends TaskModel {
  also: Readonly<Record<string, string>> = { title: "Jazz in May", summary: "They like jazz." };

  constructor() {
    super();
    this.read = (document) => {
      const { ALSO = {} } = document as { readonly ALSO?: object };
      const made = Object.keys(ALSO).map((task) => [task, this.also[task] ?? null]);
      return { ...readsJazz(document), ...Object.fromEntries(made) };
    };
  }
}

async function worldOf(model: TaskModel, variables: Readonly<Record<string, string>> = {}) {
  const world = await startWorld(await tempDir(), variables, { model });
  const client = world.as("ada");
  const settled = async () => expect(await world.application.parts.worker.drain(20_000, { left: "stays" })).toBe(true);
  const say = async (message: string, session_id?: string) => {
    const { status, body } = await client.post<{ session_id: string }>("/v1/chat", { message, session_id });
    expect(status).toBe(200);
    await settled();
    return body.session_id;
  };
  const session = async (id: string) => (await client.get<{ title: string; summary: string | null }>(`/v1/sessions/${id}`)).body;
  return { world, client, say, session };
}

test("[reading-same-bytes] prompt and schema are the same for one message, for several, for a second look, and with other work beside it", async () => {
  const model = new ScriptedModel([EMPTY, EMPTY, EMPTY, EMPTY].map((answer) => ({ text: JSON.stringify(answer) })));
  const reader = new LlmReader(model, domain);
  await reader.read(messageOf("I love jazz"), { signal });
  await reader.readTogether([messageOf("I love jazz", { message_id: "a" }), messageOf("And opera", { message_id: "b" })], { signal });
  await reader.readNeeds(messageOf("No nuts for me"), ["no_nuts"], { signal });
  await reader.read(messageOf("I love jazz", { also: due(TITLE, SUMMARY) }), { signal });
  const fixed = model.requests.map(({ messages, json }) => JSON.stringify([messages[0], json]));
  expect(fixed).toHaveLength(4);
  expect(new Set(fixed).size).toBe(1);
  expect(model.requests[0]?.messages[0]?.content).toBe(promptFor(domain));
});

test("[one-call] what is due is asked for as data beside the message, with room for it, and told when it is there", async () => {
  const model = new ScriptedModel([{ text: JSON.stringify({ ...EMPTY, title: "A night out", summary: "They like jazz." }) }]);
  const also = due(TITLE, SUMMARY);
  await new LlmReader(model, domain).read(messageOf("Hello", { also }), { signal });
  const [request] = model.requests;
  expect(JSON.parse(request?.messages[1]?.content ?? "")).toMatchObject({
    ALSO: { title: { how: "Name it.", of: '{"user":"Hello"}' }, summary: { how: "Write the record.", of: '{"turn":1}' } },
    MESSAGE: "Hello",
  });
  expect(request?.maxOutputTokens).toBeGreaterThan(1_100);
  expect(also.given).toEqual([
    ["title", "A night out"],
    ["summary", "They like jazz."],
  ]);
});

test.each([
  ["of an answer that was cut", '{"off_record":null,"operations":[],"title":"A night out","summary":"They like'],
  ["of one that says nothing of it", JSON.stringify(EMPTY)],
  ["of nulls", JSON.stringify({ ...EMPTY, title: null, summary: null })],
])("[one-call] nothing is told of it %s", async (_, text) => {
  const also = due(TITLE, SUMMARY);
  const model = new ScriptedModel([{ text }, { text: JSON.stringify(EMPTY) }]);
  await new LlmReader(model, domain).read(messageOf("Hello", { also }), { signal });
  expect(also.given).toEqual([]);
});

test("[one-call] of a model whose window has no room for it, the message is read without", async () => {
  const model = new ScriptedModel([{ text: JSON.stringify(EMPTY) }]);
  const small = Object.assign(model, { measured: () => ({ contextTokens: 6_000 }) as never });
  await new LlmReader(small, domain).read(messageOf("Hello", { also: due({ ...SUMMARY, of: "long ".repeat(6_000) }) }), { signal });
  expect(JSON.parse(model.requests[0]?.messages[1]?.content ?? "").ALSO).toBeUndefined();
});

test("[one-call] what a reading gave is for the very same alone, and once", async () => {
  const along = new AlongWithReading();
  const asked = along.ask(ada, "s1", { title: TITLE, summary: { ...SUMMARY, overdue: true } });
  expect(asked?.overdue).toBe(true);
  for (const each of asked?.asked ?? []) asked?.answered(each, "made");
  expect(along.take(ada, "s2", TITLE)).toBeNull();
  expect(along.take(ownerOf("default", "ben"), "s1", TITLE)).toBeNull();
  expect(along.take(ada, "s1", { ...SUMMARY, of: "what was forgotten is not in it any more" })).toBeNull();
  expect(along.take(ada, "s1", SUMMARY)).toBeNull();
  expect([along.take(ada, "s1", TITLE), along.take(ada, "s1", TITLE)]).toEqual(["made", null]);
});

test("[one-call] a session is named by the call that reads its first messages, whichever that is", async () => {
  const model = new AlsoModel();
  const { say, session } = await worldOf(model);
  const id = await say("Hello!");
  expect((await session(id)).title).toBe("Hello!");
  expect(model.requests.map(({ task }) => task)).toEqual(["chat"]);
  await say("I always sit on the aisle.", id);
  expect((await session(id)).title).toBe("Jazz in May");
  expect([model.of("title").length, model.of("extraction").length]).toEqual([0, 1]);
});

test("[one-call] a summary is written by the call that reads; what it tells is what the window left out", async () => {
  const model = new AlsoModel();
  const { say, session } = await worldOf(model, { SHORT_TERM_ROUNDS: "1" });
  const id = await say("What is on tonight?");
  for (const day of ["Saturday", "Sunday"]) await say(`Is there more on ${day}?`, id);
  expect((await session(id)).summary).toBe("They like jazz.");
  expect(model.of("summary")).toEqual([]);
  const documents = model.documents as readonly { readonly ALSO?: { readonly summary?: { readonly of: string } } }[];
  expect(documents.at(-1)?.ALSO?.summary?.of).toContain("What is on tonight?");
});

test("[one-call] a model that leaves it out is asked by calls of their own", async () => {
  const model = new AlsoModel();
  model.also = {};
  const { say, session } = await worldOf(model, { SHORT_TERM_ROUNDS: "1" });
  const id = await say("I always sit on the aisle.");
  for (const day of ["Saturdays", "Sundays"]) await say(`We come on ${day}.`, id);
  expect(await session(id)).toMatchObject({ title: "An evening out", summary: "They spoke of many things." });
});

test("[one-call] where nothing is read, names have calls of their own", async () => {
  const model = new AlsoModel();
  const { say } = await worldOf(model, { MEM0_ENABLED: "false" });
  await say("Hello!");
  expect(model.of("title")).toHaveLength(1);
  expect(model.of("extraction")).toEqual([]);
});

test("[erasure-complete] an owner who is erased with messages that wait leaves none of them to be read", async () => {
  const model = new AlsoModel();
  const { world, say } = await worldOf(model);
  await say("I'd like something with jazz.");
  await world.application.privacy.erase(ada, { by: "user" });
  const { longTerm, worker } = world.application.parts;
  await longTerm.readLeft(ada, { now: new Date(), signal });
  expect(await worker.drain(20_000)).toBe(true);
  expect(model.of("extraction")).toEqual([]);
  expect((await longTerm.list(ada, { limit: 10 })).data).toEqual([]);
});
