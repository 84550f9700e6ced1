import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { Message, Session } from "../../src/domain/session.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { IMAGE_ID, PNG } from "../support/samples.js";
import { type Client, startWorld, tempDir, type World } from "./world.js";

const SECRET = "Umbrelwhist";

/** Alice's whole content as she sees it, to be the same before and after. */
async function seenBy(guest: Client): Promise<object> {
  const document = JSON.parse((await guest.get("/v1/me/export")).text) as Record<string, unknown>;
  const sessions = (await guest.get<{ data: Session[] }>("/v1/sessions")).body.data;
  return { ...document, exported_at: null, user: null, listed: sessions };
}

async function aliceAndMallory(): Promise<{
  world: World;
  alice: Client;
  mallory: Client;
  session: string;
  memory: string;
  message: string;
}> {
  const world = await startWorld(await tempDir());
  const [alice, mallory] = [world.as("alice"), world.as("mallory")];
  const turn = { message: `I prefer the ${SECRET} quartet.` };
  const answer = await alice.post<ChatAnswer>("/v1/chat", turn, { "Idempotency-Key": "alices-key" });
  const session = answer.body.session_id;
  await alice.post(`/v1/sessions/${session}/flush`);
  await alice.say("I need step-free access.", { session_id: session });
  const memories = await alice.get<{ data: Memory[] }>("/v1/memories");
  const messages = await alice.get<{ data: Message[] }>(`/v1/sessions/${session}/messages`);
  const memory = memories.body.data.find(({ text }) => text.includes(SECRET))?.id ?? "";
  return { world, alice, mallory, session, memory, message: messages.body.data[0]?.id ?? "" };
}

describe("[owner-isolation] another user's ids, on every route that takes one", () => {
  test("answer as ids that don't exist, byte for byte, and touch nothing", async () => {
    const { world, alice, mallory, session, memory, message } = await aliceAndMallory();
    await world.application.parts.store.images.put(ownerOf("default", "alice"), session, IMAGE_ID, PNG);
    const before = await seenBy(alice);
    const document = (await mallory.get<{ paths: Record<string, Record<string, unknown>> }>("/openapi.json")).body;
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      path.includes("{id}") ? Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })) : [],
    );
    // Each of the routes that the API describes is tried, so that a new one can't be forgotten.
    const bodies: Readonly<Record<string, unknown>> = {
      "PATCH /v1/sessions/{id}": { title: "Mine now" },
      "POST /v1/sessions/{id}/fork": { message_id: message },
      "POST /v1/sessions/{id}/messages": { messages: [{ role: "user", content: "Mine now." }] },
      "PATCH /v1/memories/{id}": { text: "Prefers noise" },
    };
    expect(routes.length).toBeGreaterThanOrEqual(15);
    const nobodys = { session: "0193c0de-0000-7000-8000-000000000000", memory: "0193c0de-0000-7000-8000-000000000001" };
    for (const { method, path: template } of routes) {
      const path = template.replace("{image_id}", IMAGE_ID);
      const [theirs, none] = path.includes("/memories/") ? [memory, nobodys.memory] : [session, nobodys.session];
      const asked = await mallory.request(method, path.replace("{id}", theirs), bodies[`${method} ${path}`]);
      const unknown = await mallory.request(method, path.replace("{id}", none), bodies[`${method} ${path}`]);
      expect([`${method} ${path}`, asked.status]).toEqual([`${method} ${path}`, 404]);
      expect(withoutRequest(asked.text, theirs)).toBe(withoutRequest(unknown.text, none));
      expect(asked.text).not.toContain(SECRET);
    }
    for (const query of ["?purge=true", "?purge=true&keep_memories=true"])
      expect((await mallory.delete(`/v1/sessions/${session}${query}`)).status).toBe(404);
    expect((await mallory.post("/v1/chat", { message: "Go on.", session_id: session })).status).toBe(404);
    expect((await mallory.post("/v1/chat", { message: "Go on.", session_id: session, stream: true })).status).toBe(404);
    expect((await mallory.get<{ data: [] }>("/v1/sessions")).body.data).toEqual([]);
    expect(await seenBy(alice)).toEqual(before);
    expect((await alice.get(`/v1/sessions/${session}/images/${IMAGE_ID}`)).status).toBe(200);
    await world.stop();
  }, 60_000);

  test("in bodies and filters find nothing: a message to fork at or to edit, a session to search in, a memory to be why", async () => {
    const { alice, mallory, session, message } = await aliceAndMallory();
    const before = await seenBy(alice);
    const own = await mallory.say("Good morning.");
    const fork = await mallory.post(`/v1/sessions/${own.session_id}/fork`, { message_id: message });
    expect(fork).toMatchObject({ status: 404, body: { code: "MESSAGE_NOT_FOUND" } });
    const edit = await mallory.post("/v1/chat", { message: "Differently.", session_id: own.session_id, edit_of: message });
    expect(edit.status).toBeGreaterThanOrEqual(400);
    expect(edit.status).toBeLessThan(500);
    for (const body of [{ query: SECRET }, { query: SECRET, session_id: session }, { query: "quartet", context: 5, limit: 200 }]) {
      const found = await mallory.post("/v1/history/search", body);
      expect(found.text).not.toContain(SECRET);
    }
    expect((await mallory.post("/v1/memories/search", { query: `${SECRET} quartet`, limit: 50 })).body).toMatchObject({ data: [] });
    const asked = await mallory.say(`What do you know about me and the quartet?`);
    expect(asked.memory.recalled).toEqual([]);
    expect(JSON.stringify([asked.message, asked.steps, asked.elements])).not.toContain(SECRET);
    expect(await seenBy(alice)).toEqual(before);
  }, 60_000);

  test("an idempotency key, a cursor and an imported session belong to who made them", async () => {
    const { alice, mallory } = await aliceAndMallory();
    // The same key and body: a turn of mallory's own.
    const turn = { message: `I prefer the ${SECRET} quartet.` };
    const replayed = await alice.post<ChatAnswer>("/v1/chat", turn, { "Idempotency-Key": "alices-key" });
    const own = await mallory.post<ChatAnswer>("/v1/chat", turn, { "Idempotency-Key": "alices-key" });
    expect(own.body.session_id).not.toBe(replayed.body.session_id);
    // Another body under alice's key is no conflict for mallory, and would be one for alice.
    const other = { "Idempotency-Key": "alices-key" };
    expect((await alice.post("/v1/chat", { message: "Something else." }, other)).status).toBe(422);

    for (let n = 0; n < 3; n += 1) await alice.post("/v1/memories", { text: `Collects ${SECRET} stamp ${n}` });
    for (let n = 0; n < 3; n += 1) await alice.say(`Good day number ${n}.`);
    for (const path of ["/v1/sessions", "/v1/memories"]) {
      const page = await alice.get<{ next_cursor: string }>(`${path}?limit=1`);
      expect(page.body.next_cursor).toEqual(expect.any(String));
      const stolen = await mallory.get(`${path}?limit=1&cursor=${encodeURIComponent(page.body.next_cursor)}`);
      expect(stolen).toMatchObject({ status: 400, body: { code: "INVALID_CURSOR" } });
    }

    const line = JSON.stringify({ session_id: "shared-name", role: "user", content: `The ${SECRET} diary.`, message_id: "1" });
    const ndjson = { "Content-Type": "application/x-ndjson" };
    expect((await alice.post("/v1/import", line, ndjson)).status).toBe(200);
    const before = await seenBy(alice);
    const mine = JSON.stringify({ session_id: "shared-name", role: "user", content: "Mallory's own.", message_id: "1" });
    expect((await mallory.post("/v1/import", mine, ndjson)).body).toMatchObject({ sessions: 1, messages: 1 });
    expect((await mallory.delete("/v1/memories?confirm=true")).status).toBe(200);
    expect((await mallory.delete("/v1/me?confirm=true")).body).toMatchObject({ verified: true });
    expect(await seenBy(alice)).toEqual(before);
  }, 60_000);

  test("an export that is made to look like somebody else's writes into the importer's own only", async () => {
    const { alice, mallory } = await aliceAndMallory();
    const before = await seenBy(alice);
    const document = JSON.parse((await alice.get("/v1/me/export")).text) as {
      sessions: { messages: { content: string }[] }[];
      memories: { text: string }[];
    };
    for (const { messages } of document.sessions) for (const message of messages) message.content = "Planted.";
    for (const memory of document.memories) memory.text = "Planted";
    expect((await mallory.post("/v1/import", document)).status).toBe(200);
    expect(await seenBy(alice)).toEqual(before);
    expect((await mallory.delete("/v1/me?confirm=true")).body).toMatchObject({ verified: true });
    expect(await seenBy(alice)).toEqual(before);
  }, 60_000);
});

test.each(["*", "", " ", "a b", "a\u0085b", "x".repeat(257)])(
  "[owner-reserved] the user id %j is refused on every kind of route",
  async (user) => {
    const { world, alice } = await aliceAndMallory();
    const before = await seenBy(alice);
    for (const [method, path] of [
      ["GET", "/v1/sessions"],
      ["GET", "/v1/memories"],
      ["GET", "/v1/me/export"],
      ["DELETE", "/v1/me?confirm=true"],
      ["DELETE", "/v1/memories?confirm=true"],
    ] as const) {
      const answer = await world.app.request(path, { method, headers: { "X-User-Id": user } });
      expect([path, answer.status]).toEqual([path, 400]);
    }
    expect(await seenBy(alice)).toEqual(before);
  },
  60_000,
);

/** A problem without what differs from one request to the next. */
function withoutRequest(text: string, id: string): string {
  return text.replaceAll(id, "{id}").replace(/"request_id":"[^"]*"/, "");
}
