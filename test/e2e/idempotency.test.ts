import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { Session } from "../../src/domain/session.js";
import { derivedId } from "../../src/platform/ids.js";
import { sessionLockKey } from "../../src/ports/session-store.js";
import { type Answer, type Client, startWorld, tempDir, type World } from "./world.js";

const KEY = { "Idempotency-Key": "k 1" };
const DAY_MS = 86_400_000;

const replayed = ({ headers }: Answer) => headers.get("Idempotency-Replayed");
const sessionsOf = async (client: Client) => (await client.get<{ data: Session[] }>("/v1/sessions")).body.data;
const memoriesOf = async (client: Client) => (await client.get<{ data: Memory[] }>("/v1/memories")).body.data;

/** How a route is asked, and asked for something else. */
interface Keyed {
  /** Status of the answer. */
  readonly status: number;
  ask(client: Client): Promise<Answer>;
  other(client: Client): Promise<Answer>;
  /** What there is of what it makes. */
  made(client: Client): Promise<number>;
}

/** A session with one turn, and the routes that are asked of it. */
async function routesOf(client: Client): Promise<Readonly<Record<string, Keyed>>> {
  const { session_id: id, message } = await client.say("I prefer jazz concerts.");
  const other = await client.say("And opera.", { session_id: id });
  const post = (path: string, body: unknown) => (from: Client) => from.post<never>(path, body, KEY);
  const messages = [{ role: "user", content: "Row F, please." }];
  return {
    "/v1/sessions": {
      status: 201,
      ask: post("/v1/sessions", { title: "Anniversary" }),
      other: post("/v1/sessions", { title: "Birthday" }),
      made: async (from) => (await sessionsOf(from)).length,
    },
    "/v1/sessions with a name": {
      status: 201,
      ask: post("/v1/sessions", { external_id: "trip" }),
      other: post("/v1/sessions", { external_id: "another" }),
      made: async (from) => (await sessionsOf(from)).length,
    },
    "/v1/sessions/{id}/fork": {
      status: 201,
      ask: post(`/v1/sessions/${id}/fork`, { message_id: message.id }),
      other: post(`/v1/sessions/${id}/fork`, { message_id: other.message.id }),
      made: async (from) => (await sessionsOf(from)).length,
    },
    "/v1/sessions/{id}/messages": {
      status: 202,
      ask: post(`/v1/sessions/${id}/messages`, { messages }),
      other: post(`/v1/sessions/${id}/messages`, { messages, remember: false }),
      made: async (from) => (await from.get<{ data: unknown[] }>(`/v1/sessions/${id}/messages`)).body.data.length,
    },
    "/v1/memories": {
      status: 201,
      ask: post("/v1/memories", { text: "Likes the aisle", category: "seating" }),
      other: post("/v1/memories", { text: "Likes the balcony", category: "seating" }),
      made: async (from) => (await memoriesOf(from)).length,
    },
    "/v1/memories/batch": {
      status: 201,
      ask: post("/v1/memories/batch", { memories: [{ text: "Likes the aisle" }, { text: "My PIN is 1234" }, { text: "Likes tea" }] }),
      other: post("/v1/memories/batch", { memories: [{ text: "Likes the aisle" }] }),
      made: async (from) => (await memoriesOf(from)).length,
    },
    "/v1/chat": {
      status: 200,
      ask: post("/v1/chat", { message: "Good evening.", session_id: id }),
      other: post("/v1/chat", { message: "Good night.", session_id: id }),
      made: async (from) => (await from.get<{ data: unknown[] }>(`/v1/sessions/${id}/messages`)).body.data.length,
    },
  };
}

const ROUTES = [
  "/v1/sessions",
  "/v1/sessions with a name",
  "/v1/sessions/{id}/fork",
  "/v1/sessions/{id}/messages",
  "/v1/memories",
  "/v1/memories/batch",
  "/v1/chat",
];

async function world(dir: string, clock = { now: () => new Date() }): Promise<World> {
  return startWorld(dir, {}, { clock });
}

describe("[turn-once] an idempotency key on POST", () => {
  test.each(ROUTES)("%s: the same again, also at once, gives the same answer, says so, and makes nothing twice", async (route) => {
    const { as } = await world(await tempDir());
    const ada = as("ada");
    const { ask, other, made, status } = (await routesOf(ada))[route] as Keyed;
    const before = await made(ada);
    const all = await Promise.all(Array.from({ length: 4 }, () => ask(ada)));
    const after = await made(ada);
    expect(after).toBeGreaterThan(before);
    const again = await ask(ada);
    // A problem in an answer names its own request.
    const told = ({ text }: Answer) => text.replaceAll(/"request_id":"[^"]*"/g, "");
    expect(new Set([...all, again].map((answer) => `${answer.status} ${answer.headers.get("Location")} ${told(answer)}`)).size).toBe(1);
    expect([again.status, replayed(again)]).toEqual([status, "true"]);
    expect(all.map(replayed).filter((said) => said === null)).toHaveLength(1);
    expect(await made(ada)).toBe(after);

    expect(JSON.parse((await other(ada)).text)).toMatchObject({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    expect(await made(ada)).toBe(after);
  });

  test("is its owner's alone, and one request's alone", async () => {
    const { as } = await world(await tempDir());
    const [ada, bob] = [as("ada"), as("bob")];
    const first = await ada.post<Session>("/v1/sessions", {}, KEY);
    const theirs = await bob.post<Session>("/v1/sessions", {}, KEY);
    expect(replayed(theirs as Answer)).toBeNull();
    expect(theirs.body.id).not.toBe(first.body.id);
    expect((await ada.post("/v1/chat", { message: "Hello" }, KEY)).status).toBe(422);
    expect((await ada.post("/v1/sessions", {}, { "Idempotency-Key": "clé" })).status).toBe(400);
  });

  test("holds after a restart, for 24 hours", async () => {
    const dir = await tempDir();
    let laterMs = 0;
    const clock = { now: () => new Date(Date.now() + laterMs) };
    const before = await world(dir, clock);
    const ask = async ({ as }: World) => {
      const session = await as("ada").post<Session>("/v1/sessions", { title: "Anniversary" }, KEY);
      const memory = await as("ada").post<Memory>("/v1/memories", { text: "Likes the aisle" }, KEY);
      const said = [session as Answer, memory as Answer].map(replayed);
      return { ids: [session.body.id, memory.body.id], said };
    };
    const { ids } = await ask(before);
    await before.stop();
    const after = await world(dir, clock);
    expect(await ask(after)).toEqual({ ids, said: ["true", "true"] });
    laterMs = DAY_MS + 1;
    const nextDay = await ask(after);
    expect(nextDay.said).toEqual([null, null]);
    expect(nextDay.ids[0]).not.toBe(ids[0]);
    expect(await sessionsOf(after.as("ada"))).toHaveLength(2);
  });

  test("a repetition tells what was made as it is now; what was purged since is made anew, what was forgotten is not", async () => {
    const { as } = await world(await tempDir());
    const ada = as("ada");
    const make = () => ada.post<Session>("/v1/sessions", { title: "Anniversary" }, KEY);
    const { id } = (await make()).body;
    await ada.request("PATCH", `/v1/sessions/${id}`, { title: "Ours" });
    await ada.delete(`/v1/sessions/${id}/messages`);
    expect((await make()).body).toMatchObject({ id, title: "Ours" });
    await ada.delete(`/v1/sessions/${id}?purge=true`);
    const anew = await make();
    expect([replayed(anew as Answer), anew.body.title]).toEqual([null, "Anniversary"]);
    expect(anew.body.id).not.toBe(id);

    const state = () => ada.post<Memory>("/v1/memories", { text: "Likes the aisle" }, KEY);
    await ada.delete(`/v1/memories/${(await state()).body.id}`);
    expect(await state()).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
    expect(await memoriesOf(ada)).toEqual([]);
  });

  test("one that waits too long for the first is told that it still runs", async () => {
    const { application, as } = await startWorld(await tempDir(), { SESSION_LOCK_WAIT_MS: "0" });
    const owner = ownerOf("default", "ada");
    const lock = sessionLockKey(owner, derivedId("session", owner, "made by request", "k 1"));
    const lease = await application.parts.store.locks.acquire(lock, { waitMs: 0, signal: new AbortController().signal, owner });
    const busy = await as("ada").post("/v1/sessions", {}, KEY);
    expect([busy.status, busy.body.code, busy.headers.get("Retry-After")]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS", "1"]);
    await lease.release();
    expect((await as("ada").post("/v1/sessions", {}, KEY)).status).toBe(201);
  });

  test("a streamed answer that is given again says so in its head", async () => {
    const { as } = await world(await tempDir());
    const ask = () => as("ada").post<never>("/v1/chat", { message: "Good evening.", stream: true }, KEY);
    expect([replayed(await ask()), replayed(await ask())]).toEqual([null, "true"]);
  });
});
