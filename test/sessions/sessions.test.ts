import { describe, expect, test } from "vitest";
import type { Element, JsonObject } from "../../src/domain/session.js";
import { sessionLockKey } from "../../src/ports/session-store.js";
import { step } from "../support/rounds.js";
import { alice, bob, makeWorld, memoryFrom } from "../support/session-world.js";

const CARD: Element = { id: "card-1", type: "event", name: "Night at the Blue Note", content: "{}", display: "inline" };

describe("a new session", () => {
  test("is active and empty, and expires when it was told to", async () => {
    const { sessions } = await makeWorld();
    const session = await sessions.create(alice, { title: "Anniversary", metadata: { incognito: true }, expiresInDays: 2 });
    expect(session).toMatchObject({
      status: "active",
      title: "Anniversary",
      metadata: { incognito: true },
      message_count: 0,
      agent_type: "test",
    });
    expect(Date.parse(session.expires_at ?? "") - Date.parse(session.created_at)).toBe(2 * 86_400_000);
    expect(await sessions.get(alice, session.id)).toEqual(session);
  });

  test("is not there for anybody else, whatever they ask for", async () => {
    const { sessions, say } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "hello", "hi");
    const asked = [
      sessions.get(bob, id),
      sessions.patch(bob, id, { title: "mine" }),
      sessions.delete(bob, id),
      sessions.restore(bob, id),
      sessions.purge(bob, id, { keepMemories: false, by: "user" }),
      sessions.empty(bob, id),
      sessions.messages(bob, id, {}),
      sessions.thread(bob, id),
      sessions.fork(bob, id, id),
      sessions.flush(bob, id, 1),
      sessions.retryWriteBack(bob, id),
      sessions.lapse(bob, id, "purge", () => true),
    ];
    for (const result of await Promise.allSettled(asked)) expect(result).toMatchObject({ reason: { code: "SESSION_NOT_FOUND" } });
    expect((await sessions.get(alice, id)).message_count).toBe(2);
  });

  test("an id that can't be one is refused before any store is asked", async () => {
    const { sessions } = await makeWorld();
    for (const id of ["", "..", "../x", "x".repeat(10_000), "\u0000"]) {
      await expect(sessions.get(alice, id)).rejects.toMatchObject({ code: "INVALID_SESSION_ID" });
    }
  });
});

test("a session counts the messages that it shows: turns that failed without a word, and were tried again, add none", async () => {
  const { sessions, say, store } = await makeWorld();
  const { id } = await sessions.create(alice, {});
  await say(alice, id, "one", "", { outcome: "failed" });
  await say(alice, id, "two", "", { outcome: "interrupted" });
  await say(alice, id, "three", "so far", { outcome: "interrupted" });
  await say(alice, id, "four", "4");
  const shown = (await sessions.messages(alice, id, { limit: 200 })).data.length;
  expect(shown).toBe(6);
  expect((await sessions.get(alice, id)).message_count).toBe(shown);
  expect((await sessions.list(alice, {})).data[0]?.message_count).toBe(shown);
  expect((await sessions.thread(alice, id)).steps).toHaveLength(shown);
  expect(await store.journal.erase(alice)).toMatchObject({ messages: shown });
});

describe("a session of an application's own name", () => {
  test("is made once, and found as it is from then on, also when it is archived; what is said of a new one changes nothing", async () => {
    const { sessions } = await makeWorld();
    const made = await sessions.findOrCreate(alice, "thread/7", { title: "First", topic: "Bergen", tags: ["a", "a"], agentType: "guide" });
    expect(made).toMatchObject({
      created: true,
      session: { external_id: "thread/7", title: "First", topic: "Bergen", tags: ["a"], agent_type: "guide" },
    });
    await sessions.patch(alice, made.session.id, { status: "archived" });
    const again = await sessions.findOrCreate(alice, "thread/7", { title: "Second" });
    expect(again).toMatchObject({ created: false, session: { id: made.session.id, title: "First", status: "archived" } });
    expect((await sessions.findOrCreate(bob, "thread/7", {})).created).toBe(true);
  });

  test("does not wait for the turn that runs in it", async () => {
    const { sessions, store } = await makeWorld({ lockWaitMs: 1 });
    const { session } = await sessions.findOrCreate(alice, "thread/7", {});
    const turn = await store.locks.acquire(sessionLockKey(alice, session.id), { waitMs: 0 });
    expect((await sessions.findOrCreate(alice, "thread/7", {})).session.id).toBe(session.id);
    await turn.release();
  });

  test.each(["", "x".repeat(257)])("a name that can't be one (%#) is refused", async (name) => {
    const { sessions } = await makeWorld();
    await expect(sessions.findOrCreate(alice, name, {})).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });
});

describe("expires_at", () => {
  const retention = { activeDays: 30, archivedDays: 90, deletedDays: 7 };
  const DAY = 86_400_000;
  const daysAfter = (from: string, at: string | null) => (Date.parse(at ?? "") - Date.parse(from)) / DAY;

  test("is when retention takes the session on: by its own expiry, sooner or later, else by its age, and by its deletion", async () => {
    const { sessions } = await makeWorld({ retention });
    const made = await sessions.create(alice, {});
    expect(daysAfter(made.updated_at, made.expires_at)).toBe(30);
    const own = await sessions.patch(alice, made.id, { expiresInDays: 3 });
    expect(Math.round(daysAfter(made.created_at, own.expires_at))).toBe(3);
    const longer = await sessions.patch(alice, made.id, { expiresInDays: 400 });
    expect(Math.round(daysAfter(made.created_at, longer.expires_at))).toBe(400);
    const lifted = await sessions.patch(alice, made.id, { expiresInDays: null });
    expect(daysAfter(lifted.updated_at, lifted.expires_at)).toBe(30);
    const archived = await sessions.patch(alice, made.id, { status: "archived" });
    expect(daysAfter(archived.updated_at, archived.expires_at)).toBe(90);
    await sessions.delete(alice, made.id);
    const [deleted] = (await sessions.list(alice, { status: "deleted" })).data;
    expect(daysAfter(deleted?.status_since ?? "", deleted?.expires_at ?? null)).toBe(7);
  });

  test("is null where retention never does", async () => {
    const { sessions } = await makeWorld();
    expect((await sessions.create(alice, {})).expires_at).toBeNull();
  });
});

describe("changing a session", () => {
  test("title and tags are the user's own from then on; metadata is merged, null takes a key out", async () => {
    const { sessions, writer, clock } = await makeWorld();
    const { id } = await sessions.create(alice, { metadata: { keep: 1, drop: 2, deep: { a: 1, b: 2 } } });
    const changed = await sessions.patch(alice, id, {
      title: "Mine",
      tags: ["x", "y", "x"],
      metadata: { drop: null, add: true, deep: { b: null, c: 3 } },
    });
    expect(changed).toMatchObject({ title: "Mine", tags: ["x", "y"], metadata: { keep: 1, add: true, deep: { a: 1, c: 3 } } });
    expect(changed.metadata).not.toHaveProperty("drop");
    const body = { title: "Derived", tags: ["z"], by: "derived" as const };
    await writer.append(alice, id, [{ type: "session_patch", id: "p", turn: 0, at: clock.now().toISOString(), body }]);
    expect(await sessions.get(alice, id)).toMatchObject({ title: "Mine", tags: ["x", "y"] });
  });

  test("keys such as __proto__ in metadata change nothing but the metadata", async () => {
    const { sessions } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"a":1}}') as JsonObject;
    await sessions.patch(alice, id, { metadata: hostile });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const kept = (await sessions.get(alice, id)).metadata;
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
    expect(Object.entries(kept)).toContainEqual(["constructor", { a: 1 }]);
  });

  test("a patch that changes nothing writes nothing", async () => {
    const { sessions, records } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await sessions.patch(alice, id, { status: "active" });
    expect(await records(alice, id)).toHaveLength(1);
  });

  test("waits for the turn that runs, and no longer than it is allowed to", async () => {
    const { sessions, store } = await makeWorld({ lockWaitMs: 1 });
    const { id } = await sessions.create(alice, {});
    const turn = await store.locks.acquire(sessionLockKey(alice, id), { waitMs: 0 });
    await expect(sessions.patch(alice, id, { title: "x" })).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await turn.release();
    expect((await sessions.patch(alice, id, { title: "x" })).title).toBe("x");
  });
});

test("newest first, a page goes on where the one before ended: what was said since is not in it, nor what was taken back since", async () => {
  const { sessions, say, store, writer, clock } = await makeWorld();
  const { id } = await sessions.create(alice, {});
  for (const word of ["one", "two", "three", "four"]) await say(alice, id, word, `${word}!`);
  const page = async (cursor?: string | null) => {
    const { data, nextCursor } = await sessions.messages(alice, id, { order: "desc", limit: 3, ...(cursor != null && { cursor }) });
    return { said: data.map(({ content }) => content), nextCursor };
  };
  const first = await page();
  expect(first.said).toEqual(["four!", "four", "three!"]);
  await say(alice, id, "five", "five!");
  expect((await page(first.nextCursor)).said).toEqual(["three", "two!", "two"]);
  const second = (await store.journal.window(alice, id, { rounds: 10 })).rounds[1]?.assistant.seq ?? 0;
  const back = { type: "rewind", id: "r", turn: 6, at: clock.now().toISOString(), body: { to_seq: second, to_offset: 0 } } as const;
  await writer.append(alice, id, [back]);
  expect((await page(first.nextCursor)).said).toEqual(["two!", "two", "one!"]);
  expect((await page()).said).toEqual(["two!", "two", "one!"]);
});

describe("archive, delete, restore", () => {
  test("archiving writes a final summary first, and the thread still reads", async () => {
    const { sessions, say, finished } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "two seats please", "done");
    expect((await sessions.patch(alice, id, { status: "archived" })).status).toBe("archived");
    expect(finished).toEqual([id]);
    expect((await sessions.thread(alice, id)).steps.map((item) => item.output)).toEqual(["two seats please", "done"]);
    expect((await sessions.patch(alice, id, { status: "active" })).status).toBe("active");
    expect(finished).toEqual([id]);
  });

  test("a deleted session is out of the list, can't be changed, and comes back with the status that it had", async () => {
    const { sessions } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await sessions.patch(alice, id, { status: "archived" });
    await sessions.delete(alice, id);
    await sessions.delete(alice, id);
    expect((await sessions.list(alice, {})).data).toEqual([]);
    expect((await sessions.list(alice, { status: "archived" })).data).toEqual([]);
    expect((await sessions.list(alice, { status: "deleted" })).data).toHaveLength(1);
    await expect(sessions.patch(alice, id, { title: "x" })).rejects.toMatchObject({ code: "SESSION_NOT_ACTIVE" });
    await expect(sessions.fork(alice, id, "m")).rejects.toMatchObject({ code: "SESSION_NOT_ACTIVE" });
    expect((await sessions.restore(alice, id)).status).toBe("archived");
    await expect(sessions.restore(alice, id)).rejects.toMatchObject({ code: "INVALID_TRANSITION" });
  });

  test("restoring a session that has expired lifts its expiry, or it would be gone again at once", async () => {
    const { sessions, clock } = await makeWorld();
    const { id } = await sessions.create(alice, { expiresInDays: 1 });
    await sessions.delete(alice, id);
    expect((await sessions.restore(alice, id)).expires_at).not.toBeNull();
    clock.days(2);
    await sessions.delete(alice, id);
    expect((await sessions.restore(alice, id)).expires_at).toBeNull();
  });
});

describe("purging", () => {
  test("takes the session out of every store, and the memories that came from it", async () => {
    const world = await makeWorld();
    const { sessions, say, longTerm, history, ledger, store } = world;
    const session = await sessions.create(alice, {});
    const other = await sessions.create(alice, {});
    await say(alice, session.id, "I love jazz", "noted");
    await history.addEvents(alice, [
      {
        message_id: "h",
        session_id: session.id,
        turn: 1,
        position: 0,
        role: "user",
        name: null,
        content: "I love jazz",
        channel: "api",
        created_at: session.created_at,
      },
    ]);
    longTerm.kept.set(alice, [memoryFrom(session, "Loves jazz"), memoryFrom(other, "Likes tea")]);
    await sessions.purge(alice, session.id, { keepMemories: false, by: "user" });

    await expect(sessions.get(alice, session.id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(world.records(alice, session.id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(history.entries(alice)).toEqual([]);
    expect(longTerm.kept.get(alice)?.map((memory) => memory.text)).toEqual(["Likes tea"]);
    expect(await ledger.auditTrail(alice)).toMatchObject([
      { action: "purge_session", by: "user", counts: { sessions: 1, messages: 2, memories: 1, history_entries: 1 } },
    ]);
    expect(JSON.stringify(await ledger.auditTrail(alice))).not.toContain("jazz");
    expect(world.writeBack).toEqual(["hold", "release"]);
    expect((await store.index.list(alice, {})).data.map(({ id }) => id)).toEqual([other.id]);
  });

  test("keeps the memories without their quotes when it is asked to", async () => {
    const { sessions, longTerm } = await makeWorld();
    const session = await sessions.create(alice, {});
    longTerm.kept.set(alice, [memoryFrom(session, "Loves jazz")]);
    await sessions.purge(alice, session.id, { keepMemories: true, by: "user" });
    expect(longTerm.kept.get(alice)).toMatchObject([{ text: "Loves jazz", source: { quote: "" } }]);
  });

  test("a store that is out of reach stops it; nobody chats with what is left, and it can be repeated", async () => {
    const world = await makeWorld();
    const { sessions, say, history } = world;
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "hello", "hi");
    const removeSession = history.removeSession;
    history.removeSession = async () => {
      throw new Error("down");
    };
    await expect(sessions.purge(alice, id, { keepMemories: false, by: "user" })).rejects.toThrow("down");
    expect((await sessions.get(alice, id)).status).toBe("deleted");
    history.removeSession = removeSession;
    await sessions.purge(alice, id, { keepMemories: false, by: "user" });
    await expect(sessions.get(alice, id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(world.writeBack).toEqual(["hold", "release", "hold", "release"]);
  });
});

describe("emptying", () => {
  test("takes out all that was said and what was derived from it; the session and what the user set stay", async () => {
    const world = await makeWorld();
    const { sessions, say, writer, clock, longTerm } = world;
    const session = await sessions.create(alice, {});
    const { id } = session;
    await sessions.patch(alice, id, { tags: ["mine"], metadata: { vip: true } });
    await say(alice, id, "My card is 1234", "noted", { user: { idempotency: { key: "k", request_hash: "h" } } });
    const at = clock.now().toISOString();
    await writer.append(alice, id, [
      { type: "session_patch", id: "p", turn: 0, at, body: { title: "My card is 1234", topic: "Card", by: "derived" } },
      { type: "summary", id: "s", turn: 0, at, body: { text: "Card 1234", from_turn: 1, to_turn: 1, by: "extract" } },
    ]);
    longTerm.kept.set(alice, [memoryFrom(session, "Has a card")]);
    await sessions.empty(alice, id);

    expect(await sessions.get(alice, id)).toMatchObject({
      id,
      status: "active",
      title: null,
      topic: null,
      tags: ["mine"],
      metadata: { vip: true },
      message_count: 0,
      summary: null,
      created_at: session.created_at,
    });
    expect((await sessions.messages(alice, id, {})).data).toEqual([]);
    expect(JSON.stringify(await world.records(alice, id))).not.toContain("1234");
    expect(await world.store.index.findIdempotent(alice, "k", clock.now())).toBeNull();
    expect(longTerm.kept.get(alice)).toMatchObject([{ text: "Has a card", source: { quote: "" } }]);
    await say(alice, id, "a fresh start", "yes");
    expect((await sessions.messages(alice, id, {})).data.map(({ content }) => content)).toEqual(["a fresh start", "yes"]);
    expect((await sessions.get(alice, id)).message_count).toBe(2);
  });
});

describe("reading a session", () => {
  test("messages come page by page in either order, each once, also while the session grows", async () => {
    const { sessions, say } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    for (let turn = 1; turn <= 5; turn += 1) await say(alice, id, `q${turn}`, `a${turn}`);
    for (const order of ["asc", "desc"] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await sessions.messages(alice, id, { limit: 3, order, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.data.map(({ content }) => content));
        if (cursor === undefined && order === "desc") await say(alice, id, "later", "than the first page");
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      const expected = ["q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4", "q5", "a5"];
      expect(seen).toEqual(order === "asc" ? expected : expected.toReversed());
    }
  });

  test("a page that ends with the last message says that there is no other", async () => {
    const { sessions, say } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "q", "a");
    for (const order of ["asc", "desc"] as const) expect((await sessions.messages(alice, id, { limit: 2, order })).nextCursor).toBeNull();
  });

  test("a cursor of another session, another order, or nobody is refused", async () => {
    const { sessions, say } = await makeWorld();
    const one = await sessions.create(alice, {});
    const two = await sessions.create(alice, {});
    for (const { id } of [one, two]) for (const text of ["a", "b"]) await say(alice, id, text, text);
    const cursor = (await sessions.messages(alice, one.id, { limit: 1 })).nextCursor ?? "";
    for (const [id, order, bad] of [
      [two.id, "asc", cursor],
      [one.id, "desc", cursor],
      [one.id, "asc", "%%%"],
      [one.id, "asc", Buffer.from("[]").toString("base64url")],
    ] as const) {
      await expect(sessions.messages(alice, id, { order, cursor: bad })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
    }
    for (const limit of [0, 201, 1.5])
      await expect(sessions.messages(alice, one.id, { limit })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("a message tells model, tokens, sources, tools and how long it took; a turn that broke off says so", async () => {
    const { sessions, say } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    const metadata = {
      model: "m",
      tokens: { input_tokens: 1, output_tokens: 2 },
      sources: [],
      tools_used: ["search_events"],
      duration_ms: 5,
    };
    await say(alice, id, "q", "a", { assistant: { metadata } });
    await say(alice, id, "q2", "half an ans", { outcome: "interrupted" });
    await say(alice, id, "q3", "", { outcome: "failed" });
    const { data } = await sessions.messages(alice, id, {});
    expect(data.map(({ content }) => content)).toEqual(["q", "a", "q2", "half an ans", "q3"]);
    expect(data[1]?.metadata).toEqual(metadata);
    expect(data[3]?.metadata).toEqual({ outcome: "interrupted" });
    const { steps } = await sessions.thread(alice, id);
    expect(steps.map(({ outcome }) => outcome)).toEqual([undefined, undefined, undefined, "interrupted", undefined]);
  });

  test("a thread has messages, tool calls and elements in order; what was said again differently is not in it", async () => {
    const { sessions, say, store, writer, clock } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "jazz?", "Two concerts.", { steps: [step("c1", 0, { count: 2 })], assistant: { elements: [CARD] } });
    await say(alice, id, "book it", "Which?");
    const last = (await store.journal.window(alice, id, { rounds: 1 })).lastUserMessage;
    const at = clock.now().toISOString();
    await writer.append(alice, id, [{ type: "rewind", id: "r", turn: 3, at, body: { to_seq: (last?.seq ?? 0) - 1, to_offset: 0 } }]);
    await say(alice, id, "book the second", "Done.");
    const thread = await sessions.thread(alice, id);
    expect(thread.session.id).toBe(id);
    expect(thread.steps.map(({ type, output }) => [type, output])).toEqual([
      ["user_message", "jazz?"],
      ["tool_call", { count: 2 }],
      ["assistant_message", "Two concerts."],
      ["user_message", "book the second"],
      ["assistant_message", "Done."],
    ]);
    expect(thread.steps[1]).toMatchObject({ name: "search_events", input: { query: "c1" } });
    expect(thread.elements).toEqual([{ ...CARD, for_id: thread.steps[2]?.id }]);
  });
});

describe("forking", () => {
  test("copies the conversation up to the turn of the message, under new ids that name the first ones", async () => {
    const { sessions, say, records, store } = await makeWorld();
    const source = await sessions.create(alice, { metadata: { time_zone: "Europe/Lisbon" } });
    await sessions.patch(alice, source.id, { title: "Trip", tags: ["mine"] });
    await say(alice, source.id, "q1", "a1", { steps: [step("c1", 0, 1)], user: { idempotency: { key: "k", request_hash: "h" } } });
    await say(alice, source.id, "q2", "a2");
    await say(alice, source.id, "q3", "a3");
    const { data } = await sessions.messages(alice, source.id, {});
    const fork = await sessions.fork(alice, source.id, data[2]?.id ?? "");

    expect(fork).toMatchObject({
      status: "active",
      title: "Trip",
      tags: ["mine"],
      metadata: { time_zone: "Europe/Lisbon" },
      message_count: 4,
    });
    const copies = (await sessions.messages(alice, fork.id, {})).data;
    expect(copies.map(({ content }) => content)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(copies.some(({ id }) => data.some((message) => message.id === id))).toBe(false);
    const copied = (await records(alice, fork.id)).flatMap((record) => (record.type === "message" ? [record] : []));
    expect(copied.map(({ body }) => body.origin_id)).toEqual(data.slice(0, 4).map(({ id }) => id));
    expect(copied.some(({ body }) => body.idempotency !== undefined)).toBe(false);
    expect((await records(alice, fork.id))[0]).toMatchObject({
      body: { forked_from: { session_id: source.id, message_id: data[2]?.id } },
    });
    // Nothing of it is written back a second time, and the fork goes on as its own.
    expect(await store.turns.of(alice, fork.id)).toEqual([]);
    expect((await store.journal.window(alice, fork.id, { rounds: 10 })).rounds.map(({ turn, steps }) => [turn, steps.length])).toEqual([
      [1, 1],
      [2, 0],
    ]);
    await say(alice, fork.id, "another way", "yes");
    expect((await sessions.get(alice, source.id)).message_count).toBe(6);
  });

  test("the copy of a copy still names the first message", async () => {
    const { sessions, say, records } = await makeWorld();
    const source = await sessions.create(alice, {});
    await say(alice, source.id, "q", "a");
    const first = (await sessions.messages(alice, source.id, {})).data[0]?.id ?? "";
    const fork = await sessions.fork(alice, source.id, first);
    const again = await sessions.fork(alice, fork.id, (await sessions.messages(alice, fork.id, {})).data[0]?.id ?? "");
    expect((await records(alice, again.id)).find((record) => record.type === "message")).toMatchObject({ body: { origin_id: first } });
  });

  test("at a message that is not in the session it is refused", async () => {
    const { sessions } = await makeWorld();
    const { id } = await sessions.create(alice, {});
    await expect(sessions.fork(alice, id, "nothing")).rejects.toMatchObject({ code: "MESSAGE_NOT_FOUND" });
  });
});

describe("the write-back of a session", () => {
  test("flush waits as long as it may and says what is left; retry makes failed turns pending again", async () => {
    const world = await makeWorld();
    const { sessions, say, writer, clock } = world;
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "q", "a");
    const body = { status: "failed" as const, memory_ids: [], attempts: 8, error_code: "LONG_TERM_MEMORY_UNAVAILABLE" };
    await writer.append(alice, id, [{ type: "write_back_done", id: "d", turn: 1, at: clock.now().toISOString(), body }]);
    expect(await sessions.flush(alice, id, 250)).toEqual({ pending_turns: 0, failed_turns: 1 });
    expect(await sessions.retryWriteBack(alice, id)).toEqual({ pending_turns: 1, failed_turns: 0 });
    expect(world.writeBack).toEqual([`flush ${id} 250`, "kick"]);
  });
});
