import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { Session } from "../../src/domain/session.js";
import { type MessageToRead, proposedOperationSchema, type Reading } from "../../src/ports/extraction.js";
import { type Client, openWorld, type World } from "../e2e/world.js";

/** What was read, with what stood before it. A message "Jazz." gives a soft memory, "Vegan?" one that waits, "Nuts!" one that must hold. */
const read: MessageToRead[] = [];
const reader = {
  name: "by mark",
  read: async (message: MessageToRead): Promise<Reading> => {
    read.push(message);
    const operations = (message.text.match(/\p{Lu}\w+[.?!]/gu) ?? []).map((quote) => {
      const said = { op: "add", quote, text: quote.slice(0, -1), about: quote.slice(0, -1) };
      const need = { category: "dietary", strength: "hard" };
      const how = quote.endsWith("?") ? { ...need, stance: "unsure" } : quote.endsWith("!") ? need : { category: "genre", aspect: quote };
      return proposedOperationSchema.parse({ ...said, ...how });
    });
    return { operations, off_record: /don't keep/i.test(message.text) ? "previous" : null, unreadable: 0 };
  },
};

interface Added {
  readonly messages: string[];
  readonly write_back: string;
  readonly code?: string;
}
interface Thread {
  readonly steps: {
    readonly id: string;
    readonly type: string;
    readonly name?: string;
    readonly input?: unknown;
    readonly output: unknown;
  }[];
  readonly elements: { readonly id: string; readonly for_id: string }[];
}

let world: World;
beforeAll(async () => {
  world = await openWorld(await mkdtemp(join(tmpdir(), "maitred-own-agent-")), {}, { reader });
});
afterAll(async () => {
  await world.stop();
  await rm(world.dir, { recursive: true });
});

let guests = 0;
async function guest(session: object = {}) {
  guests += 1;
  const name = `guest-${guests}`;
  const client = world.as(name);
  const { id } = (await client.post<Session>("/v1/sessions", session)).body;
  const path = `/v1/sessions/${id}/messages`;
  const add = (messages: readonly object[], more: object = {}, headers: Record<string, string> = {}) =>
    client.post<Added>(path, { messages, ...more }, headers);
  const flush = () => client.post<{ pending_turns: number; failed_turns: number }>(`/v1/sessions/${id}/flush?timeout_ms=20000`);
  /** Adds, and waits until it is written back. */
  const added = async (...messages: object[]) => {
    const answer = await add(messages);
    expect([answer.status, answer.body.write_back]).toEqual([202, "pending"]);
    expect((await flush()).body).toEqual({ pending_turns: 0, failed_turns: 0 });
    return answer.body.messages;
  };
  const window = () => world.application.parts.store.journal.window(ownerOf("default", name), id, { rounds: 10 });
  return { client, id, path, add, added, flush, window, owner: ownerOf("default", name) };
}
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const memories = async (client: Client, query = "") =>
  (await client.get<{ data: Memory[] }>(`/v1/memories${query}`)).body.data.map(({ text }) => text).sort();
const found = async (client: Client, query: string) =>
  (await client.post<{ data: { content: string; message_id: string }[] }>("/v1/history/search", { query, limit: 50 })).body.data;

describe("messages of a conversation that another agent leads", () => {
  test("the user's form memories, with their own words as the source; nobody else's do", async () => {
    const { client, added, id } = await guest();
    const [said] = await added(user("I love Jazz."), assistant("And Opera."), { role: "tool", name: "shows", content: "Tango." });
    expect(await memories(client)).toEqual(["Jazz"]);
    const { data } = (await client.get<{ data: Memory[] }>("/v1/memories")).body;
    expect(data[0]?.source).toMatchObject({ session_id: id, turn: 1, message_id: said, quote: "Jazz" });
    expect((await client.get<{ source: { message: string } }>(`/v1/memories/${data[0]?.id}/why`)).body.source.message).toBe("I love Jazz.");
    const chat = await client.say("What is on this evening?");
    expect(chat.memory.recalled.map(({ text }) => text)).toEqual(["Jazz"]);
  });

  test("one that nobody has answered yet is read too, and the answer that comes later is found", async () => {
    const { client, added, window, id } = await guest();
    await added(user("I love Jazz."));
    expect(await memories(client)).toEqual(["Jazz"]);
    expect((await window()).rounds).toEqual([]);
    await added(assistant("The harbour quartet plays on Friday."));
    expect((await window()).rounds.map(({ turn, user: asked, assistant: said }) => [turn, asked.body.content, said.body.content])).toEqual([
      [1, "I love Jazz.", "The harbour quartet plays on Friday."],
    ]);
    expect((await found(client, "harbour quartet"))[0]?.content).toBe("The harbour quartet plays on Friday.");
    expect(read.filter(({ session_id }) => session_id === id)).toHaveLength(1);
  });

  test("it is read with the assistant's question before it, also one that opened the conversation", async () => {
    const { added } = await guest();
    await added(assistant("Is there anything that you can't eat?"), user("Shellfish! of all kinds"));
    await added(assistant("And to drink?"), user("Whisky! of no kind"));
    const contextOf = (text: string) =>
      read.find((message) => message.text === text)?.context.map(({ role, content }) => `${role}: ${content}`);
    expect(contextOf("Shellfish! of all kinds")).toEqual(["assistant: Is there anything that you can't eat?"]);
    expect(contextOf("Whisky! of no kind")?.at(-1)).toBe("assistant: And to drink?");
  });

  test("a user's message begins a turn; what others say goes on with it, also in a later call", async () => {
    const { client, added, id, window } = await guest();
    await added(assistant("Welcome!"));
    await added(user("Two seats for the opera"), { role: "tool", name: "seats", content: "F7, F8", message_id: "call-1" });
    await added(assistant("Let me look."), assistant("F7 and F8 are free."), user("I take them"), assistant("Done."));
    const { data } = (await client.get<{ data: { turn: number; role: string; content: string }[] }>(`/v1/sessions/${id}/messages`)).body;
    expect(data.map(({ turn, role, content }) => `${turn} ${role} ${content}`)).toEqual([
      "1 assistant Welcome!",
      "2 user Two seats for the opera",
      "2 assistant Let me look.",
      "2 assistant F7 and F8 are free.",
      "3 user I take them",
      "3 assistant Done.",
    ]);
    const { rounds } = await window();
    expect(rounds.map(({ turn }) => turn)).toEqual([2, 3]);
    expect(rounds[0]).toMatchObject({
      steps: [{ name: "seats", output: "F7, F8" }],
      interim: [{ body: { content: "Let me look." } }],
      assistant: { body: { content: "F7 and F8 are free." } },
    });
    for (const words of ["Welcome", "Let me look", "F7 and F8 are free"]) expect((await found(client, words))[0]?.content).toContain(words);
  });

  test("steps and elements stand in the thread, in their order, with the ids that were answered", async () => {
    const { client, added, id } = await guest();
    const ids = await added(
      user("What is on?"),
      { role: "tool", name: "search", content: "2 events", message_id: "c1" },
      {
        role: "assistant",
        content: "Two concerts.",
        name: "desk",
        message_id: "their-own",
        steps: [{ name: "rank", input: { by: "date" }, output: ["a", "b"] }],
        elements: [{ id: "e1", type: "text", name: "Card", content: "…" }],
      },
    );
    const { body } = await client.get<Thread>(`/v1/sessions/${id}/thread`);
    expect(body.steps.map(({ type, name, input, output }) => ({ type, name, input, output }))).toEqual([
      { type: "user_message", name: undefined, input: undefined, output: "What is on?" },
      { type: "tool_call", name: "search", input: {}, output: "2 events" },
      { type: "tool_call", name: "rank", input: { by: "date" }, output: ["a", "b"] },
      { type: "assistant_message", name: "desk", input: undefined, output: "Two concerts." },
    ]);
    expect([body.steps[0]?.id, body.steps[1]?.id, body.steps[3]?.id]).toEqual(ids);
    expect(body.elements).toMatchObject([{ id: "e1", for_id: ids[2], display: "side" }]);
    expect((await found(client, "Two concerts"))[0]?.message_id).toBe("their-own");
  });

  test("times are as given, and none is later than now", async () => {
    const { client, added, id } = await guest();
    await added({ ...user("Long ago"), created_at: "2020-01-02T03:04:05Z" }, { ...assistant("Tomorrow"), created_at: "2099-01-01" });
    const { data } = (await client.get<{ data: { created_at: string }[] }>(`/v1/sessions/${id}/messages`)).body;
    expect(data[0]?.created_at).toBe("2020-01-02T03:04:05.000Z");
    expect(Date.parse(data[1]?.created_at ?? "")).toBeLessThanOrEqual(Date.now());
  });

  test("a chat goes on in the same session, and knows what was said", async () => {
    const { client, added, id, window } = await guest();
    await added(user("My table is number nine"), assistant("Nine it is."));
    expect((await client.say("Which table do I have?", { session_id: id })).turn).toBe(2);
    await added(assistant("One more thing: we close at ten."), user("Fine"), assistant("Good."));
    expect((await window()).rounds.map(({ turn, user: asked }) => [turn, asked.body.content])).toEqual([
      [1, "My table is number nine"],
      [2, "Which table do I have?"],
      [4, "Fine"],
    ]);
  });
});

describe("what a message may not do", () => {
  test("settle what waits for the user's word: only the answer to a chat that asked does", async () => {
    const { client, added, id } = await guest();
    await client.say("Vegan?", { session_id: id });
    expect((await client.say("Good evening", { session_id: id })).memory.to_confirm).toMatchObject([{ text: "Vegan" }]);
    await added(user("Yes, that is right"), assistant("Very well."));
    expect(await memories(client, "?status=review")).toEqual(["Vegan"]);
    const { asked } = await askedAfter(id, client);
    expect(asked).toEqual([]);
  });

  test("stay where the user asked that the one before is not kept", async () => {
    const { client, added } = await guest();
    await added(user("I love Polka."), assistant("Noted, polka evenings."));
    expect(await memories(client)).toEqual(["Polka"]);
    await added(user("Please don't keep that last one"));
    expect(await memories(client)).toEqual([]);
    expect((await found(client, "polka evenings")).filter(({ content }) => /polka/i.test(content))).toEqual([]);
  });

  test("be remembered with `remember: false`, or in an incognito session: it is kept in the session alone", async () => {
    const { client, add, flush, window } = await guest();
    expect((await add([user("I love Tango."), assistant("So do I.")], { remember: false })).body.write_back).toBe("disabled");
    await flush();
    expect([await memories(client), await found(client, "tango")]).toEqual([[], []]);
    expect((await window()).rounds).toHaveLength(1);
    const secret = await guest({ metadata: { incognito: true } });
    expect((await secret.add([user("I love Tango.")])).body.write_back).toBe("disabled");
    expect(await memories(secret.client)).toEqual([]);
  });

  test("[owner-isolation] reach a session of somebody else, one that is archived, or one that there isn't", async () => {
    const { client, id, path } = await guest();
    const messages = [user("Hello")];
    expect(await world.as("somebody-else").post(path, { messages })).toMatchObject({ status: 404, body: { code: "SESSION_NOT_FOUND" } });
    await client.request("PATCH", `/v1/sessions/${id}`, { status: "archived" });
    expect(await client.post(path, { messages })).toMatchObject({ status: 409, body: { code: "SESSION_NOT_ACTIVE" } });
    expect(await client.post("/v1/sessions/none/messages", { messages })).toMatchObject({
      status: 400,
      body: { code: "INVALID_SESSION_ID" },
    });
  });

  test.each([
    ["no messages", []],
    ["too many", Array.from({ length: 101 }, () => user("a"))],
    ["a user's that is blank", [user(" \n")]],
    ["a user's that is too long", [user("a".repeat(8_001))]],
    ["a role that there isn't", [{ role: "developer", content: "a" }]],
    ["a time that is none", [{ ...user("a"), created_at: "yesterday" }]],
  ])("be %s", async (_what, messages) => {
    const { add, window } = await guest();
    expect(await add(messages)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
    expect((await window()).lastTurn).toBe(0);
  });
});

describe("[turn-once] an idempotency key", () => {
  test("gives the same answer again and keeps the messages once, also all at once; another body or session is refused", async () => {
    const { client, id, add, flush } = await guest();
    const other = (await client.post<Session>("/v1/sessions", {})).body.id;
    const key = { "Idempotency-Key": `key-${id}` };
    const messages = [{ role: "tool", content: "F7" }, user("I love Jazz."), assistant("Noted.")];
    const answers = await Promise.all(Array.from({ length: 5 }, () => add(messages, {}, key)));
    const again = await add(messages, {}, key);
    expect(new Set([...answers, again].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(again.status).toBe(202);
    await flush();
    expect((await client.get<{ data: unknown[] }>(`/v1/sessions/${id}/messages`)).body.data).toHaveLength(2);
    expect(await add([user("Something else")], {}, key)).toMatchObject({ status: 422, body: { code: "IDEMPOTENCY_KEY_REUSED" } });
    expect(await client.post(`/v1/sessions/${other}/messages`, { messages }, key)).toMatchObject({ status: 422 });
    expect(await client.post("/v1/chat", { message: "I love Jazz." }, key)).toMatchObject({ status: 422 });
  });
});

test("what was given is in the export, and an import gives it back whole", async () => {
  const { client, added } = await guest();
  await added(
    { role: "tool", name: "greet", content: "nobody has spoken" },
    user("I love Jazz."),
    { role: "tool", name: "search", content: "2 events" },
    assistant("Let me see."),
    assistant("Two concerts."),
    user("And on Sunday?"),
    { role: "tool", name: "search", content: "none" },
  );
  const before = await client.get("/v1/me/export");
  expect((await client.delete("/v1/me?confirm=true")).status).toBe(200);
  const back = await client.request("POST", "/v1/import", before.text, { "Content-Type": "application/json" });
  expect(back.status, back.text).toBe(200);
  const sessions = (text: string) => (JSON.parse(text) as { sessions: unknown }).sessions;
  expect(sessions((await client.get("/v1/me/export")).text)).toEqual(sessions(before.text));
  expect(await memories(client)).toEqual(["Jazz"]);
});

async function askedAfter(sessionId: string, client: Client): Promise<{ asked: readonly string[] }> {
  const { data } = (await client.get<{ data: { id: string }[] }>(`/v1/sessions/${sessionId}/messages?order=desc&limit=1`)).body;
  expect(data).toHaveLength(1);
  const { rounds } = await world.application.parts.store.journal.window(ownerOf("default", `guest-${guests}`), sessionId, { rounds: 1 });
  return { asked: rounds[0]?.assistant.body.asked ?? [] };
}
