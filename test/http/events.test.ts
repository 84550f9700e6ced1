import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { Maitred } from "../../src/index.js";
import type { Events, ToldEvent } from "../../src/ports/events.js";
import { openWorld, startWorld, tempDir, type World } from "../e2e/world.js";
import { parseEvents, type ServerEvent } from "../support/http-client.js";

interface EventPage {
  readonly data: readonly ToldEvent[];
  readonly next_cursor: string | null;
}

const BEGINNING = "00000000-0000-0000-0000-000000000000";

async function listed(world: World, user: string, query = "limit=200"): Promise<readonly ToldEvent[]> {
  const { status, body, text } = await world.as(user).get<EventPage>(`/v1/me/events?${query}`);
  if (status !== 200) throw new Error(text);
  return body.data;
}

function typesOf(events: readonly ToldEvent[]): string[] {
  return events.map(({ type }) => type);
}

/** Reads a stream until so many events came, `ready` among them. */
async function streamed(world: World, user: string, headers: Record<string, string>, count: number, query = ""): Promise<ServerEvent[]> {
  const reading = new AbortController();
  const response = await world.app.request(`/v1/me/events${query}`, {
    headers: { "X-User-Id": user, Accept: "text/event-stream", ...headers },
    signal: reading.signal,
  });
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  let text = "";
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (;;) {
    const events = parseEvents(text.slice(0, text.lastIndexOf("\n\n") + 2));
    if (events.length >= count) {
      reading.abort();
      await reader?.cancel();
      return events;
    }
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) return events;
    text += decoder.decode(chunk.value, { stream: true });
  }
}

describe("GET /v1/me/events", () => {
  test("[events-told] tells of a conversation, its memories, and their end, each once and without a word of it", async () => {
    const world = await startWorld(await tempDir());
    const ada = world.as("ada");
    const { session_id: id } = await ada.say("I love jazz concerts and I am allergic to nuts.");
    const { body } = await ada.get<{ data: { id: string; text: string }[] }>("/v1/memories");
    const memory = body.data.find(({ text }) => /jazz/i.test(text));
    await ada.delete(`/v1/memories/${memory?.id}`);
    await ada.post("/v1/memories", { text: "Prefers aisle seats" });
    await ada.request("PATCH", `/v1/sessions/${id}`, { status: "archived" });
    await ada.delete(`/v1/sessions/${id}`);
    await ada.delete(`/v1/sessions/${id}?purge=true`);
    const events = await listed(world, "ada");
    expect(typesOf(events).slice(0, 2)).toEqual(["session.created", "turn.completed"]);
    const ofSessions = typesOf(events).filter((type) => type.startsWith("session."));
    expect(ofSessions).toEqual(["session.created", "session.archived", "session.deleted", "session.purged"]);
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of("memory.added").map(({ data }) => data.memory_id)).toContain(memory?.id);
    expect(of("memory.forgotten").map(({ data }) => data.memory_id)).toContain(memory?.id);
    expect(of("turn.completed")).toEqual([
      {
        id: expect.any(String),
        type: "turn.completed",
        timestamp: expect.any(String),
        tenant: "default",
        user: "ada",
        data: { session_id: id, turn: 1, message_id: expect.any(String) },
      },
    ]);
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
    expect(JSON.stringify(events)).not.toMatch(/jazz|nuts|aisle/i);
  });

  test("[events-told] an erasure takes the events along and leaves the one that tells of it", async () => {
    const world = await startWorld(await tempDir());
    const ada = world.as("ada");
    await ada.say("I love jazz concerts.");
    const { body } = await ada.delete<{ receipt_id: string; verified: boolean; erased: { events: number } }>("/v1/me?confirm=true");
    expect(body.verified).toBe(true);
    expect(body.erased.events).toBeGreaterThan(2);
    const events = await listed(world, "ada");
    expect(events.map(({ type, data }) => [type, data])).toEqual([["owner.erased", { receipt_id: body.receipt_id }]]);
  });

  test("is of the user alone, page by page, behind any event of theirs", async () => {
    const world = await startWorld(await tempDir());
    for (const user of ["ada", "bob", "ada", "ada"]) await world.as(user).post("/v1/sessions", {});
    const [first] = await listed(world, "ada");
    const page = (await world.as("ada").get<EventPage>("/v1/me/events?limit=2")).body;
    expect(page.data).toHaveLength(2);
    const rest = await listed(world, "ada", `after=${page.next_cursor}`);
    expect(rest).toHaveLength(1);
    const [bobs] = await listed(world, "bob");
    expect(await listed(world, "bob")).toHaveLength(1);
    // Somebody else's event is one that isn't known.
    expect(await listed(world, "ada", `after=${bobs?.id}`)).toHaveLength(3);
    expect(await listed(world, "bob", `after=${first?.id}`)).toHaveLength(1);
    expect((await world.as("ada").get("/v1/me/events?after=yesterday")).status).toBe(400);
    expect((await world.as("ada").request("GET", "/v1/me/events", undefined, { Accept: "image/png" })).status).toBe(406);
  });

  test("[events-resumed] a stream goes on behind the last event that its reader has", async () => {
    const world = await startWorld(await tempDir());
    const ada = world.as("ada");
    for (const title of ["one", "two", "three"]) await ada.post("/v1/sessions", { title });
    const told = await listed(world, "ada");
    const all = await streamed(world, "ada", { "Last-Event-ID": BEGINNING }, 4);
    expect(all.map(({ event }) => event)).toEqual(["ready", "session.created", "session.created", "session.created"]);
    expect(all.slice(1).map(({ id }) => id)).toEqual(told.map(({ id }) => id));
    expect(all[1]?.data).toEqual(told[0]);
    const rest = await streamed(world, "ada", { "Last-Event-ID": told[1]?.id ?? "" }, 2);
    expect(rest.map(({ id }) => id)).toEqual([told[1]?.id, told[2]?.id]);
  });

  test("[events-resumed] a stream without a last event tells what happens from now on, to that user", async () => {
    const world = await startWorld(await tempDir());
    await world.as("ada").post("/v1/sessions", {});
    const reading = streamed(world, "ada", {}, 2);
    await world.as("bob").post("/v1/sessions", {});
    const { body } = await world.as("ada").post<{ id: string }>("/v1/sessions", {});
    const [ready, ...events] = await reading;
    expect(ready).toMatchObject({ event: "ready", id: (await listed(world, "ada"))[0]?.id });
    expect(events.map(({ data }) => (data as ToldEvent).data.session_id)).toEqual([body.id]);
  });

  test("[events-told] where state.db is lost, what follows from the journals is told again, by the same ids", async () => {
    const dir = await tempDir();
    const before = await openWorld(dir);
    await before.as("ada").post("/v1/sessions", {});
    await before.as("ada").say("Good evening");
    const told = await listed(before, "ada");
    expect(typesOf(told)).toEqual(["session.created", "session.created", "turn.completed"]);
    await before.stop();
    await rm(join(dir, "state.db"));
    const after = await startWorld(dir);
    await expect.poll(async () => (await listed(after, "ada")).length).toBe(told.length);
    expect(new Set((await listed(after, "ada")).map(({ id }) => id))).toEqual(new Set(told.map(({ id }) => id)));
  });

  test("a stream ends when the application stops", async () => {
    const world = await startWorld(await tempDir());
    const reading = streamed(world, "ada", {}, 10);
    await world.as("ada").post("/v1/sessions", {});
    setImmediate(() => world.application.events.endFollowers());
    expect((await reading).length).toBeLessThan(10);
  });

  test("with EVENTS_CONTENT=true an event holds the words as they are now, and none of what was forgotten", async () => {
    const world = await startWorld(await tempDir(), { EVENTS_CONTENT: "true" });
    const ada = world.as("ada");
    const kept = (await ada.post<{ id: string }>("/v1/memories", { text: "Prefers aisle seats" })).body.id;
    const gone = (await ada.post<{ id: string }>("/v1/memories", { text: "Likes the balcony" })).body.id;
    await ada.delete(`/v1/memories/${gone}`);
    const added = (await listed(world, "ada")).filter(({ type }) => type === "memory.added");
    expect(added.map(({ data, content }) => [data.memory_id, content])).toEqual([
      [kept, { text: "Prefers aisle seats" }],
      [gone, null],
    ]);
  });
});

describe("maitred.on", () => {
  test("a listener is given events whose data is known by their type", async () => {
    const world = await startWorld(await tempDir());
    const { events } = world.application;
    expectTypeOf<Maitred["on"]>().toEqualTypeOf<Events["on"]>();
    const any = new Promise<ToldEvent>((resolve) => events.on("*", resolve));
    const added = new Promise<string>((resolve) => {
      events.on("memory.added", ({ type, data }) => {
        expectTypeOf(type).toEqualTypeOf<"memory.added">();
        expectTypeOf(data.memory_id).toEqualTypeOf<string>();
        // Stated by hand, it comes from no session.
        expectTypeOf(data.session_id).toEqualTypeOf<string | undefined>();
        resolve(data.memory_id);
      });
    });
    events.on("memory.superseded", ({ data }) => void expectTypeOf(data.superseded_by).toEqualTypeOf<string | null>());
    events.on("session.purged", ({ data }) => void expectTypeOf(data.session_id).toEqualTypeOf<string>());
    events.on(
      "turn.failed",
      ({ data }) => void expectTypeOf([data.turn, data.error_code] as const).toEqualTypeOf<readonly [number, string]>(),
    );
    events.on("owner.merged", ({ data }) => void expectTypeOf(data.from).toEqualTypeOf<string>());
    const { body } = await world.as("ada").post<{ id: string }>("/v1/memories", { text: "Prefers aisle seats" });
    expect(await added).toBe(body.id);
    const event = await any;
    expectTypeOf(event.data.memory_id).toEqualTypeOf<string | undefined>();
    if (event.type === "memory.added") expectTypeOf(event.data.memory_id).toEqualTypeOf<string>();
    expect(event).toMatchObject({ type: "memory.added", data: { memory_id: body.id, strength: "soft" } });
  });

  test("calls a listener with what it asked for, until it is stopped; one that fails holds up nobody", async () => {
    const world = await startWorld(await tempDir());
    const heard: string[] = [];
    const { events } = world.application;
    events.on("session.created", () => {
      throw new Error("oh");
    });
    const stop = events.on("memory.added", ({ user, data }) => void heard.push(`${user} ${data.memory_id}`));
    const done = new Promise<void>((resolve) => events.on("memory.forgotten", () => resolve()));
    await world.as("ada").post("/v1/sessions", {});
    const { body } = await world.as("ada").post<{ id: string }>("/v1/memories", { text: "Prefers aisle seats" });
    await world.as("ada").delete(`/v1/memories/${body.id}`);
    await done;
    stop();
    const again = new Promise<void>((resolve) => events.on("session.created", () => resolve()));
    await world.as("ada").post("/v1/memories", { text: "Prefers the stalls" });
    await world.as("ada").post("/v1/sessions", {});
    await again;
    expect(heard).toEqual([`ada ${body.id}`]);
  });
});
