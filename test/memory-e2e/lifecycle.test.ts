import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Memory, MemoryEvent } from "../../src/domain/memory.js";
import { createHttpApp, type HttpApp } from "../../src/http/app.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import { proposedOperationSchema } from "../../src/ports/extraction.js";
import { json } from "../support/http-client.js";
import { type Guest, World } from "./world.js";

/** What becomes of a memory with time, seen through the API. The clock is the test's. */

let world: World;
let http: HttpApp;
beforeAll(async () => {
  world = await World.open();
  http = await createHttpApp({ application: world.app, config: world.app.parts.config, logger: silentLogger, clock: world.clock });
});
afterAll(() => world.close());

let users = 0;
/** A guest, and the API as that guest. */
function arrives() {
  const user = `http-${++users}`;
  const guest = world.guest(user);
  const send = async <T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> => {
    const init = body === undefined ? { method } : json(method, body);
    const response = await http.request(`/v1/memories${path}`, { ...init, headers: { ...init.headers, "X-User-Id": user } });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
  };
  const list = async (query = "") => (await send<{ data: Memory[] }>("GET", query)).body.data;
  return { guest, send, list };
}
const texts = (memories: readonly Memory[]) => memories.map(({ text }) => text).sort();

describe("a mind that changes", () => {
  test("the new preference supersedes, is recalled alone, and the old one is read by history and as_of", async () => {
    const { guest, send, list } = arrives();
    await guest.says("I prefer aisle seats.");
    const inSpring = world.clock.now().toISOString();
    world.clock.passDays(60);
    await guest.newSession().says("I prefer window seats now.");
    expect(texts(await list())).toEqual(["Prefers window seats"]);
    const [now] = await list();
    const past = await list("?include_superseded=true");
    expect(past.find(({ text }) => text === "Prefers aisle seats")).toMatchObject({ status: "superseded", superseded_by: now?.id });
    expect(texts(await list(`?as_of=${inSpring}`))).toEqual(["Prefers aisle seats"]);
    expect(texts(await list("?status=superseded"))).toEqual(["Prefers aisle seats"]);
    const { body } = await send<{ data: MemoryEvent[] }>("GET", `/${now?.id}/history`);
    expect(body.data.map(({ event, text, memory_id }) => [event, text, memory_id === now?.id])).toEqual([
      ["added", "Prefers aisle seats", false],
      ["added", "Prefers window seats", true],
      ["superseded", null, false],
    ]);
    const answer = await guest.newSession().says("Which seats do I like?");
    expect(answer.memory.recalled.map(({ text }) => text)).toEqual(["Prefers window seats"]);
  });

  test("the same said again in other words confirms; near-duplicates are one memory", async () => {
    const { guest, list } = arrives();
    for (const said of ["I love jazz concerts.", "I really love jazz concerts!", "I do love jazz concerts."]) {
      await guest.newSession().says(said);
      world.clock.passDays(1);
    }
    const memories = await list();
    expect(texts(memories)).toEqual(["Loves jazz concerts"]);
    expect(memories[0]?.seen_count).toBe(3);
    expect(memories[0]?.confidence).toBeGreaterThan(0.9);
  });

  test("a hard constraint outlives two years and any number of preferences, and is recalled whatever is asked", async () => {
    const { guest } = arrives();
    await guest.says("I'm allergic to peanuts.");
    world.clock.passDays(730);
    for (const said of ["I love jazz.", "I like opera.", "I prefer aisle seats.", "I live in Leeds.", "I hate musicals."])
      await guest.says(said);
    const { memory } = await guest.newSession().says("Any football in Hamburg?");
    expect(memory.recalled[0]).toMatchObject({ text: "Is allergic to peanuts", strength: "hard" });
  });
});

describe("what holds for a time", () => {
  test("a date that was said in the guest's own time zone is a date, and it is over after it", async () => {
    const { guest, list } = arrives();
    await guest.says("I'm vegetarian until next Friday.", { timeZone: "America/New_York" });
    const [trip] = await list();
    expect(trip).toMatchObject({ text: "Is vegetarian until next Friday", category: "dietary", strength: "hard" });
    const until = new Date(trip?.valid_until ?? "");
    expect(
      new Intl.DateTimeFormat("en-US", { timeZone: "America/New_York", weekday: "long", hour: "numeric", minute: "2-digit" }).format(until),
    ).toBe("Friday 11:59 PM");
    const during = world.clock.now().toISOString();
    world.clock.passDays(15);
    expect(await list()).toEqual([]);
    expect((await guest.newSession().says("What do I eat?")).memory.recalled).toEqual([]);
    expect(texts(await list(`?as_of=${during}`))).toHaveLength(1);
  });

  test("a wish for this trip ends 30 days later, leaves the standing preference alone, and is never one", async () => {
    const { guest, list } = arrives();
    await guest.says("I prefer aisle seats.");
    await guest.newSession().says("I prefer box seats for this trip.");
    expect((await list()).map(({ text, scope }) => `${scope} ${text}`).sort()).toEqual([
      "standing Prefers aisle seats",
      "trip Prefers box seats for this trip",
    ]);
    world.clock.passDays(31);
    expect(texts(await list())).toEqual(["Prefers aisle seats"]);
  });

  test("a one-off booking is no preference", async () => {
    const { guest, list } = arrives();
    await guest.says("Book me the opera on Friday.");
    await guest.says("Sam and I want to see a comedy on Friday");
    await guest.says("We'd like Italian tonight.");
    expect((await list()).filter(({ type }) => type !== "episodic")).toEqual([]);
  });
});

describe("every route, on what was said and what is stated by hand", () => {
  test("[why-exact] from a message with odd bytes: why gives it byte for byte", async () => {
    const { guest, send, list } = arrives();
    const said = "  Grüße 👋 — I’m allergic to peanuts.\n\n\tThanks\u00a0a lot!  ";
    await guest.says(said);
    const [memory] = await list();
    const { body } = await send<{ source: { message: string; quote: string; turn: number; session_id: string } }>(
      "GET",
      `/${memory?.id}/why`,
    );
    expect(body.source).toMatchObject({ message: said, turn: 1, session_id: guest.sessionId });
    expect(said).toContain(body.source.quote);
  });

  test("an edit keeps the history, changes what is recalled, and can be searched; forgotten, all of it is gone", async () => {
    const { guest, send, list } = arrives();
    await guest.says("I live in Leeds.");
    const [before] = await list();
    const edited = await send<Memory>("PATCH", `/${before?.id}`, { text: "Lives in Bath" });
    expect(edited).toMatchObject({ status: 200, body: { text: "Lives in Bath", status: "active" } });
    expect(await send("GET", `/${before?.id}`)).toMatchObject({
      status: 200,
      body: { status: "superseded", superseded_by: edited.body.id },
    });
    const events = await send<{ data: MemoryEvent[] }>("GET", `/${edited.body.id}/history`);
    expect(events.body.data.map(({ event }) => event)).toEqual(["added", "edited", "superseded"]);
    expect((await guest.newSession().says("Where do I live?")).message.content).toMatch(/Lives in Bath/);
    expect((await send<{ data: Memory[] }>("POST", "/search", { query: "Bath" })).body.data[0]?.text).toBe("Lives in Bath");
    expect(texts(await list("?q=Bath"))).toEqual(["Lives in Bath"]);

    expect((await send("DELETE", `/${edited.body.id}`)).status).toBe(204);
    for (const id of [edited.body.id, before?.id]) expect((await send("GET", `/${id}`)).status).toBe(404);
    expect(await list("?include_superseded=true")).toEqual([]);
  });

  test("a need that is edited into another thing is no longer what the old one was; edited in other words it is", async () => {
    const { guest, send, list } = arrives();
    await guest.says("I'm allergic to nuts.");
    const [before] = await list();
    expect(before).toMatchObject({ need: "no_nuts", strength: "hard" });
    const reworded = await send<Memory>("PATCH", `/${before?.id}`, { text: "Is severely allergic to nuts" });
    expect(reworded.body).toMatchObject({ need: "no_nuts", about: "nuts" });
    const another = await send<Memory>("PATCH", `/${reworded.body.id}`, { text: "I am allergic to milk" });
    expect(another.body).toMatchObject({ need: "no_lactose", about: "milk", strength: "hard", status: "active" });
    const unread = await send<Memory>("PATCH", `/${another.body.id}`, { text: "Grains of paradise: never again" });
    expect(unread.body).toMatchObject({ need: "other", about: "", strength: "hard", status: "active" });
  });

  test("stated by hand, filtered, and all forgotten on confirmation; of somebody else nothing is seen", async () => {
    const { guest, send, list } = arrives();
    const stranger = arrives();
    const added = await send<Memory>("POST", "", { text: "Needs a hearing loop", category: "accessibility", strength: "hard" });
    expect(added).toMatchObject({ status: 201, body: { type: "constraint", source: null } });
    await guest.says("I love jazz.");
    expect(texts(await list("?category=genre"))).toEqual(["Loves jazz"]);
    expect(texts(await list("?type=constraint"))).toEqual(["Needs a hearing loop"]);
    expect(await send("GET", `/${added.body.id}/why`)).toMatchObject({ status: 200, body: { source: null } });
    for (const path of ["", "/history", "/why"]) expect((await stranger.send("GET", `/${added.body.id}${path}`)).status).toBe(404);
    expect((await stranger.send("DELETE", `/${added.body.id}`)).status).toBe(404);
    expect((await send("DELETE", "")).status).toBe(400);
    expect(await send("DELETE", "?confirm=true")).toMatchObject({ status: 200, body: { forgotten: 2 } });
    expect(await list()).toEqual([]);
  });
});

/** Proposes what it is told to, and says little. */
class Proposer implements ChatModel {
  readonly name = "proposer";
  readonly standIn = false;
  async *stream(_request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    yield { type: "text", delta: "Noted." };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  }
}

describe("what is only inferred", () => {
  let inferring: World;
  let sureness = { explicit: false, confidence: 0.8 };
  beforeAll(async () => {
    inferring = await World.open(
      {},
      {
        model: new Proposer(),
        reader: {
          name: "inferring",
          read: async ({ text }) => {
            const about = { text: "Likes late shows", about: text, category: "schedule", aspect: "time of day", type: "preference" };
            return {
              operations: [proposedOperationSchema.parse({ op: "add", quote: text, ...about, ...sureness })],
              off_record: null,
              unreadable: 0,
            };
          },
        },
      },
    );
  });
  afterAll(() => inferring.close());

  const seenBy = async (guest: Guest) => {
    const [review, active] = await Promise.all([guest.memories({ status: "review" }), guest.memories({ status: "active" })]);
    return { review: texts(review), active: texts(active) };
  };

  test("holds when it was seen in three messages, not before, and is not recalled until then", async () => {
    const guest = inferring.guest();
    for (const said of ["Late shows suit me on Friday.", "The late shows again, as last week."]) {
      expect((await guest.newSession().says(said)).memory.recalled).toEqual([]);
      expect(await seenBy(guest)).toEqual({ review: ["Likes late shows"], active: [] });
      inferring.clock.passDays(1);
    }
    await guest.newSession().says("We went to the late shows.");
    expect(await seenBy(guest)).toEqual({ review: [], active: ["Likes late shows"] });
  });

  test("below the confidence gate nothing is stored", async () => {
    const guest = inferring.guest();
    sureness = { explicit: true, confidence: 0.59 };
    await guest.says("Late shows suit me on Friday.");
    expect(await seenBy(guest)).toEqual({ review: [], active: [] });
    sureness = { explicit: true, confidence: 0.6 };
    await guest.says("Late shows suit me.");
    expect(await seenBy(guest)).toEqual({ review: [], active: ["Likes late shows"] });
  });
});
