import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createMaitred,
  createOrchestrator,
  type Maitred,
  MaitredError,
  type MaitredOptions,
  type MaitredUser,
  type StreamEvent,
} from "../../src/index.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { memorySessionStore } from "../support/memory-stores.js";

let maitred: Maitred;
let dir: string;
let guests = 0;
const someone = () => maitred.for({ user: `guest-${++guests}` });

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-library-"));
  maitred = await createMaitred({ memoryStorageDir: dir, embeddingProvider: "hashing", recallDeadlineMs: 5_000 });
});
afterAll(async () => {
  await maitred.close();
  await rm(dir, { recursive: true, force: true });
});

describe("options", () => {
  const refused = (options: object) => createMaitred({ shortTermBackend: "memory", ...options } as MaitredOptions);

  test("an unknown one is refused with the nearest name, before anything is opened", async () => {
    const error = await refused({ memoryStorageDirectory: dir, mem0Enable: true, categorys: [] }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INVALID_CONFIG" });
    expect(String(error)).toMatch(/`memoryStorageDirectory`; did you mean `memoryStorageDir`\?/);
    expect(String(error)).toMatch(/`mem0Enable`; did you mean `mem0Enabled`\?/);
    expect(String(error)).toMatch(/`categorys`; did you mean `categories`\?/);
  });

  test("one that is wrong is named as it was given; a variable by its own name", async () => {
    await expect(refused({ port: 99_999, memoryMinConfidence: 2 })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      errors: [
        { pointer: "/port", detail: expect.stringMatching(/^port: a whole number from 0 to 65535/) },
        { pointer: "/memoryMinConfidence", detail: expect.stringMatching(/^memoryMinConfidence: a number from 0 to 1/) },
      ],
    });
    await expect(refused({ env: { PORT: "many" } })).rejects.toMatchObject({ errors: [{ pointer: "/PORT" }] });
    await expect(refused({ categories: [{ name: "Room!" }] })).rejects.toMatchObject({ errors: [{ pointer: "/categories" }] });
    await expect(refused({ domain: {} })).rejects.toMatchObject({ code: "INVALID_CONFIG", errors: [{ pointer: "/domain" }] });
    await expect(refused({ domain: "./spa.ts" })).rejects.toMatchObject({ hint: 'A file is named as `domainFile: "./spa.ts"`.' });
    await expect(refused({ tools: [] })).rejects.toMatchObject({ code: "INVALID_CONFIG", errors: [{ pointer: "/tools" }] });
  });

  test("come before variables, and what is undefined counts as left out", async () => {
    const env = { MEM0_ENABLED: "true", SHORT_TERM_BACKEND: "file", MEMORY_STORAGE_DIR: dir };
    const opened = await createMaitred({
      env,
      shortTermBackend: "memory",
      embeddingProvider: "hashing",
      mem0Enabled: false,
      openaiApiKey: undefined,
    });
    try {
      expect(opened.info).toMatchObject({ shortTerm: "memory", longTerm: { enabled: false }, storageDir: dir });
    } finally {
      await opened.close();
    }
  });

  test("a prompt, tools and categories make a product without a file", async () => {
    const category = { type: "preference", strength: "soft", fixed: [], open: null } as const;
    const categories = [
      { ...category, name: "treatment", description: "kinds of massage" },
      { ...category, name: "other", description: "anything else" },
    ];
    const opened = await createMaitred({
      shortTermBackend: "memory",
      embeddingProvider: "hashing",
      prompt: "You receive the guests of a spa.",
      categories,
    });
    try {
      const ada = opened.for({ user: "ada" });
      expect((await ada.sessions.create()).agent_type).toBe("assistant");
      expect(await ada.memories.add("Prefers hot stones", { category: "treatment" })).toMatchObject({ category: "treatment" });
    } finally {
      await opened.close();
    }
  });
});

describe("a user", () => {
  test("says something, and is known in the next session", async () => {
    const ada = someone();
    const first = await ada.chat("I prefer jazz concerts, and I need step-free access.");
    expect(await ada.sessions.flush(first.session_id, { timeoutMs: 10_000 })).toEqual({ pending_turns: 0, failed_turns: 0 });
    const second = await ada.chat("Anything good this weekend?", { channel: "kiosk" });
    expect(second.session_id).not.toBe(first.session_id);
    expect(second.memory.recalled.map(({ text }) => text).join("; ")).toMatch(/step-free.*jazz/i);

    const { data } = await ada.memories.list({ category: "accessibility", limit: 1 });
    const why = await ada.memories.why(data[0]?.id ?? "");
    expect(why.source?.message).toBe("I prefer jazz concerts, and I need step-free access.");
    expect((await ada.history.search("jazz concerts", { role: "user" })).map(({ session_id }) => session_id)).toContain(first.session_id);
  });

  test("is somebody else than the same name of another tenant, or another name", async () => {
    const ada = someone();
    const memory = await ada.memories.add("Prefers the aisle", { category: "seating" });
    const other = maitred.for({ user: `guest-${guests}`, tenant: "acme" });
    await expect(other.memories.get(memory.id)).rejects.toMatchObject({ code: "MEMORY_NOT_FOUND" });
    expect((await other.memories.list()).data).toEqual([]);
    expect(() => maitred.for({ user: "*" })).toThrow(expect.objectContaining({ code: "INVALID_USER_ID" }));
    const misspelt = { user: "ada", tennant: "acme" };
    expect(() => maitred.for(misspelt)).toThrow(
      expect.objectContaining({
        code: "UNKNOWN_FIELD",
        errors: [{ pointer: "/tennant", detail: expect.stringContaining("did you mean `tenant`?") }],
      }),
    );
    const another = someone();
    const said = [{ role: "user", content: "Good evening." }] as const;
    for (const [swallowed, meant] of [
      ["session_id", "sessionId"],
      ["idempotency_key", "idempotencyKey"],
    ] as const)
      await expect(another.add(said, { [swallowed]: "a" })).rejects.toMatchObject({
        code: "UNKNOWN_FIELD",
        errors: [{ pointer: `/${swallowed}`, detail: expect.stringContaining(`did you mean \`${meant}\`?`) }],
      });
    const foreign: object = { threadId: "a" };
    await expect(another.add(said, foreign)).rejects.toMatchObject({ code: "UNKNOWN_FIELD" });
    expect((await another.sessions.list()).data).toEqual([]);
    expect(() => maitred.for({ user: "ada", timeZone: "Mars/Olympus" })).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  });

  test("is named by id alone, or with more; where none is named, the refusal says what to write", async () => {
    expect(maitred.for("ada").owner).toBe(maitred.for({ user: "ada" }).owner);
    for (const nobody of [{}, { user: undefined }, { user: 7 }, null, undefined, { id: "ada" }]) {
      expect(() => maitred.for(nobody as never)).toThrow(
        expect.objectContaining({ code: "INVALID_REQUEST", errors: [expect.objectContaining({ pointer: "/user" })] }),
      );
      expect(() => maitred.for(nobody as never)).toThrow(
        expect.objectContaining({ hint: expect.stringContaining('maitred.for({ user: "ada" })') }),
      );
    }
    expect(() => maitred.for({ user: "ada", tenant: 7 as never })).toThrow(expect.objectContaining({ code: "INVALID_USER_ID" }));
    expect(() => maitred.owner(undefined as never)).toThrow(expect.objectContaining({ code: "INVALID_USER_ID" }));
    expect(() => maitred.for(["ada"] as never)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  });

  test("keeps messages of an agent of one's own without a word on where: in a new session, which the answer names", async () => {
    const ada = someone();
    const messages = [{ role: "user" as const, content: "I prefer jazz." }];
    const { session_id: id, messages: ids } = await ada.add(messages);
    expect((await ada.sessions.messages(id)).data.map((message) => message.id)).toEqual(ids);
    expect(await ada.add(messages, { sessionId: id })).toMatchObject({ session_id: id });
    await expect(ada.add(messages, { idempotencyKey: "k" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      errors: [{ pointer: "/thread" }],
    });
    await expect(ada.add([])).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    expect((await ada.sessions.list()).data).toHaveLength(1);
  });

  test("takes null for no options, and refuses what are none", async () => {
    const ada = someone();
    const [none, text] = [null as never, "quiet" as never];
    const { session_id: id } = await ada.chat("Good evening.", none);
    for await (const _ of ada.stream("And now?", none)) {
      // Told by its end.
    }
    await ada.add([{ role: "user", content: "Hello" }], none);
    await ada.context("jazz", none);
    const { id: memory } = await ada.memories.add("Prefers the aisle", none);
    await Promise.all([ada.memories.list(none), ada.memories.search("aisle", none), ada.history.search("evening", none)]);
    await Promise.all([ada.sessions.list(none), ada.sessions.messages(id, none), ada.sessions.flush(id, none)]);
    await ada.sessions.purge((await ada.sessions.create(none)).id, none);
    await expect(ada.memories.update(memory, none)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(ada.sessions.update(id, none)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    for (const refused of [ada.chat("Hello", text), ada.context("jazz", text), ada.memories.list(text), ada.sessions.list(text)])
      await expect(refused).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("has memories by hand: added once for one key, found, changed, forgotten", async () => {
    const { memories } = someone();
    const added = await memories.add("Prefers the aisle", { category: "seating", tags: ["theatre"], idempotencyKey: "k" });
    expect((await memories.add("Prefers the aisle", { category: "seating", tags: ["theatre"], idempotencyKey: "k" })).id).toBe(added.id);
    expect(await memories.search("aisle", { tag: "theatre" })).toEqual([
      expect.objectContaining({ id: added.id, score: expect.any(Number) }),
    ]);
    const changed = await memories.update(added.id, { text: "Prefers the balcony" });
    expect((await memories.list({ includeSuperseded: true, limit: 5 })).data.map(({ text }) => text).sort()).toEqual([
      "Prefers the aisle",
      "Prefers the balcony",
    ]);
    expect((await memories.history(changed.id)).map(({ event }) => event)).toContain("added");
    await memories.forget(changed.id);
    expect((await memories.list()).data).toEqual([]);
    await memories.add("Likes opera");
    expect(await memories.forgetAll()).toBe(1);
  });

  test("says yes or no to what waits", async () => {
    const ada = await unsureOfNuts();
    const [asked] = (await ada.memories.list({ status: "review" })).data;
    expect(await ada.memories.approve(asked?.id ?? "")).toMatchObject({ status: "active" });
    const ben = await unsureOfNuts();
    const [waits] = (await ben.memories.list({ status: "review" })).data;
    await ben.memories.reject(waits?.id ?? "");
    expect((await ben.memories.list({ status: "review" })).data).toEqual([]);
  });

  test("gives an agent of one's own what is known, and keeps what that one said", async () => {
    const ada = someone();
    const { id } = await ada.sessions.create({ thread: "their-7", topic: "Dinner", agentType: "waiter" });
    expect(await ada.sessions.create({ thread: "their-7" })).toMatchObject({ id, topic: "Dinner", agent_type: "waiter" });
    const said = [
      { role: "user", content: "I'm allergic to nuts." },
      { role: "assistant", content: "Noted." },
    ] as const;
    const added = await ada.add(said, { sessionId: id, idempotencyKey: "one" });
    expect(added).toMatchObject({ messages: [expect.any(String), expect.any(String)], write_back: "pending" });
    expect(await ada.add(said, { sessionId: id, idempotencyKey: "one" })).toEqual(added);
    await ada.sessions.flush(id, { timeoutMs: 10_000 });
    expect(await ada.context("Where shall we eat?")).toMatchObject({ text: expect.stringMatching(/nuts/), memory: { status: "ok" } });
    await expect(ada.context("", { maxTokens: 5 })).rejects.toMatchObject({ errors: [{ pointer: "/query" }, { pointer: "/maxTokens" }] });
    await expect(ada.add([], { sessionId: id })).rejects.toMatchObject({ errors: [{ pointer: "/messages" }] });
    expect(await ada.chat("Good evening.", { thread: "their-7" })).toMatchObject({ session_id: id, turn: 2 });
  });

  test("has sessions: made, changed, ended, deleted, restored, read", async () => {
    const ada = someone();
    const { session_id: id } = await ada.chat("Good evening.");
    expect(await ada.sessions.update(id, { title: "Greeting", tags: ["a"], metadata: { desk: 4 } })).toMatchObject({ title: "Greeting" });
    expect((await ada.sessions.messages(id, { limit: 1, order: "desc" })).data.map(({ role }) => role)).toEqual(["assistant"]);
    expect((await ada.sessions.thread(id)).steps.map(({ type }) => type)).toEqual(["user_message", "assistant_message"]);
    expect(await ada.sessions.archive(id)).toMatchObject({ status: "archived" });
    await expect(ada.chat("Still there?", { sessionId: id })).rejects.toMatchObject({
      code: "SESSION_NOT_ACTIVE",
      hint: expect.any(String),
    });
    await ada.sessions.delete(id);
    expect((await ada.sessions.list({ status: "deleted" })).data.map((session) => session.id)).toEqual([id]);
    expect(await ada.sessions.restore(id)).toMatchObject({ status: "archived" });
    const empty = await ada.sessions.create({ title: "Another", expiresInDays: 3 });
    expect((await ada.sessions.list()).data.map((session) => session.id)).toEqual([empty.id]);
    await ada.sessions.purge(id);
    await expect(ada.sessions.get(id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("takes everything along, and is erased", async () => {
    const ada = someone();
    await ada.memories.add("Prefers the aisle");
    let text = "";
    for await (const piece of ada.export()) text += piece;
    expect(JSON.parse(text).memories).toHaveLength(1);
    expect(await ada.erase()).toMatchObject({ verified: true, erased: { memories: 1 } });
    expect((await ada.memories.list()).data).toEqual([]);
  });

  async function unsureOfNuts() {
    const guest = someone();
    const { session_id: id } = await guest.chat("Maybe I'm allergic to nuts, I'm not sure.");
    await guest.sessions.flush(id, { timeoutMs: 10_000 });
    return guest;
  }
});

describe("a thread", () => {
  const thread = "t1";
  const hello = [{ role: "user", content: "I love jazz." }] as const;

  test("is one session by one name, whatever is asked, and begins with the first write", async () => {
    const ada = someone();
    expect(await ada.context("jazz", { thread })).toMatchObject({ text: "", summary: null });
    expect(await ada.history.search("jazz", { thread })).toEqual([]);
    expect(await ada.memories.list({ thread })).toMatchObject({ data: [] });
    await expect(ada.sessions.get({ thread })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(await ada.sessions.list()).toMatchObject({ data: [] });

    const { session_id: id } = await ada.add(hello, { thread, idempotencyKey: "k" });
    expect(await ada.add(hello, { thread, idempotencyKey: "k" })).toMatchObject({ session_id: id });
    expect(await ada.chat("Anything tonight?", { thread })).toMatchObject({ session_id: id, turn: 2 });
    for await (const event of ada.stream("And tomorrow?", { thread }))
      if (event.type === "message") expect(event.answer).toMatchObject({ session_id: id, turn: 3 });
    await ada.sessions.flush({ thread }, { timeoutMs: 10_000 });
    expect((await ada.context("jazz", { thread })).text).toContain("Anything tonight?");
    expect((await ada.history.search("jazz", { thread, role: "user" })).map(({ session_id }) => session_id)).toContain(id);
    expect((await ada.memories.list({ thread, turn: 1 })).data.map(({ text }) => text)).toEqual([expect.stringMatching(/jazz/i)]);
    expect(await ada.sessions.create({ thread })).toMatchObject({ id, external_id: thread });
    expect((await ada.sessions.list()).data.map((session) => session.id)).toEqual([id]);
    await maitred.for({ user: `guest-${++guests}` }).add(hello, { thread });
    expect((await ada.sessions.messages({ thread })).data).toHaveLength(5);
  });

  test("is changed, read and ended as a session by its id is", async () => {
    const ada = someone();
    const { session_id: id } = await ada.add(hello, { thread });
    expect(await ada.sessions.update({ thread }, { title: "Jazz" })).toMatchObject({ id, title: "Jazz" });
    expect((await ada.sessions.thread({ thread })).steps).toHaveLength(1);
    const [message] = (await ada.sessions.messages({ sessionId: id }, { order: "desc" })).data;
    expect(await ada.sessions.fork({ thread }, message?.id ?? "")).toMatchObject({ message_count: 1, external_id: null });
    await ada.sessions.empty({ thread });
    expect(await ada.sessions.get({ thread })).toMatchObject({ id, message_count: 0 });
    expect(await ada.sessions.archive({ thread })).toMatchObject({ status: "archived" });
    await expect(ada.add(hello, { thread })).rejects.toMatchObject({ code: "SESSION_NOT_ACTIVE" });
    await ada.sessions.delete({ thread });
    expect(await ada.sessions.restore({ thread })).toMatchObject({ status: "archived" });
    await ada.sessions.purge({ thread });
    await expect(ada.sessions.get({ thread })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  const both = { thread, sessionId: "018f3c1e-0000-7000-8000-000000000000" };
  test.each<[string, object, object]>([
    ["both names", both, { code: "INVALID_REQUEST", errors: [{ pointer: "/thread" }], hint: expect.stringContaining("sessionId") }],
    ["no text", { thread: 7 }, { code: "INVALID_REQUEST", errors: [{ pointer: "/thread" }], hint: expect.stringContaining("thread") }],
    ["nothing", { thread: "" }, { code: "INVALID_REQUEST", errors: [{ pointer: "/thread" }] }],
    ["a long name", { thread: "x".repeat(257) }, { code: "INVALID_REQUEST", errors: [{ pointer: "/thread" }] }],
    ["control characters", { thread: "a\nb" }, { code: "INVALID_REQUEST", errors: [{ pointer: "/thread" }] }],
    ["a name for an id", { sessionId: "t1" }, { code: "INVALID_SESSION_ID", hint: expect.stringContaining("thread") }],
  ])("that is named by %s is refused, wherever", async (_, named, refused) => {
    const ada = someone();
    const given = named as { thread: string };
    await expect(ada.chat("Hello", given)).rejects.toMatchObject(refused);
    await expect(ada.stream("Hello", given)[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
    await expect(ada.add(hello, given)).rejects.toMatchObject(refused);
    await expect(ada.context("jazz", given)).rejects.toMatchObject(refused);
    await expect(ada.history.search("jazz", given)).rejects.toMatchObject(refused);
    await expect(ada.memories.list(given)).rejects.toMatchObject(refused);
    await expect(ada.sessions.messages(given)).rejects.toMatchObject(refused);
  });

  test("without a name is none", async () => {
    for (const none of [{}, null, undefined])
      await expect(someone().sessions.get(none as never)).rejects.toMatchObject({
        code: "INVALID_REQUEST",
        errors: [{ pointer: "/thread" }],
      });
  });
});

describe("an option that there isn't is refused with the nearest name, by", () => {
  const id = "018f3c1e-0000-7000-8000-000000000000";
  test.each<[string, (user: MaitredUser) => unknown, string, string]>([
    ["for", () => maitred.for({ user: "ada", tenent: "acme" } as never), "tenent", "tenant"],
    ["chat", (user) => user.chat("Hello", { session_id: id } as never), "session_id", "sessionId"],
    ["chat, the stream's", (user) => user.chat("Hello", { threadId: "t1" } as never), "threadId", "thread"],
    [
      "stream",
      (user) =>
        user
          .stream("Hello", { chanel: "kiosk" } as never)
          [Symbol.asyncIterator]()
          .next(),
      "chanel",
      "channel",
    ],
    ["add", (user) => user.add([], { remembers: false } as never), "remembers", "remember"],
    ["context", (user) => user.context("jazz", { max_tokens: 500 } as never), "max_tokens", "maxTokens"],
    ["memories.add", (user) => user.memories.add("Likes it", { subjekt: "self" } as never), "subjekt", "subject"],
    ["memories.list", (user) => user.memories.list({ as_of: "2026-01-01" } as never), "as_of", "asOf"],
    ["memories.search", (user) => user.memories.search("jazz", { entitty: "Ida" } as never), "entitty", "entity"],
    ["memories.update", (user) => user.memories.update(id, { txt: "Likes it" } as never), "txt", "text"],
    ["history.search", (user) => user.history.search("jazz", { sesionId: id } as never), "sesionId", "sessionId"],
    ["sessions.create", (user) => user.sessions.create({ external_id: "t1" } as never), "external_id", ""],
    ["sessions.create, of a type", (user) => user.sessions.create({ agent_type: "waiter" } as never), "agent_type", "agentType"],
    ["sessions.list", (user) => user.sessions.list({ titel: "Jazz" } as never), "titel", "title"],
    ["sessions.get", (user) => user.sessions.get({ threads: "t1" } as never), "threads", "thread"],
    ["sessions.update", (user) => user.sessions.update(id, { expires_in_days: 3 } as never), "expires_in_days", "expiresInDays"],
    ["sessions.messages", (user) => user.sessions.messages(id, { ordre: "desc" } as never), "ordre", "order"],
    ["sessions.purge", (user) => user.sessions.purge(id, { keep_memories: true } as never), "keep_memories", "keepMemories"],
    ["sessions.flush", (user) => user.sessions.flush(id, { timeout: 5 } as never), "timeout", "timeoutMs"],
  ])("%s", async (_, call, option, meant) => {
    const user = someone();
    const thrown = await (async () => call(user))().catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(MaitredError);
    expect(thrown).toMatchObject({
      code: "UNKNOWN_FIELD",
      errors: [{ pointer: `/${option}` }],
      hint: expect.stringMatching(/^There are: /),
    });
    expect(String(thrown)).toContain(meant === "" ? `\`${option}\`` : `did you mean \`${meant}\`?`);
    expect((await user.sessions.list()).data).toEqual([]);
  });
});

test("the handle of a Maitred that is closed says so", async () => {
  const opened = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing" });
  const ada = opened.for({ user: "ada" });
  await opened.close();
  const closed = { code: "SHUTTING_DOWN", message: expect.stringContaining("closed"), hint: expect.stringContaining("createMaitred") };
  expect(() => opened.for({ user: "ada" })).toThrow(expect.objectContaining(closed));
  const calls = [
    ada.chat("Hello"),
    ada.add([{ role: "user", content: "Hello" }]),
    ada.context("jazz"),
    ada.memories.list(),
    ada.sessions.list(),
    ada.history.search("jazz"),
    ada.erase(),
    ada.export()[Symbol.asyncIterator]().next(),
    ada.stream("Hello")[Symbol.asyncIterator]().next(),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject(closed);
});

describe("a streamed turn", () => {
  test("tells its events as they come, and the whole answer last", async () => {
    const events: StreamEvent[] = [];
    for await (const event of someone().stream("Good evening.")) events.push(event);
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["session", "memory"]);
    const said = events.flatMap((event) => (event.type === "token" ? [event.delta] : [])).join("");
    expect(events.at(-1)).toMatchObject({ type: "message", answer: { message: { content: said } } });
    expect(said).not.toBe("");
  });

  test("that is left is aborted, and kept as interrupted", async () => {
    const ada = someone();
    let id = "";
    for await (const event of ada.stream("Good evening.")) {
      if (event.type === "session") id = event.session_id;
      if (event.type === "memory") break;
    }
    expect(await ada.sessions.messages(id)).toMatchObject({ data: [{ role: "user", content: "Good evening." }] });
    expect(await ada.chat("Good evening, again.", { sessionId: id })).toMatchObject({ turn: 2 });
  });

  test("throws what the turn throws", async () => {
    const events = someone().stream(" ");
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });
});

test("[filters-as-stated] memories are found by companion, and by category however it is spelt", async () => {
  const { memories } = someone();
  await memories.add("Ida is a vegan", { category: "Dietary", subject: "companion:Ida" });
  await memories.add("Likes an aisle seat", { category: "seating" });
  const ofIda = [{ text: "Ida is a vegan", entities: ["Ida"] }];
  expect((await memories.list({ entity: "Ida" })).data).toMatchObject(ofIda);
  expect((await memories.list({ subject: "companion:Ida" })).data).toMatchObject(ofIda);
  expect(await memories.search("vegan seat", { category: "Dietary" })).toMatchObject(ofIda);
  expect(await memories.search("vegan seat", { subject: "self" })).toMatchObject([{ text: "Likes an aisle seat" }]);
});

describe("the limits of the HTTP API hold here [limits-hold]", () => {
  const id = "018f3c1e-0000-7000-8000-000000000000";
  test.each<[string, () => Promise<unknown>, object]>([
    ["an empty message", () => someone().chat(""), { pointer: "/message" }],
    ["a message of 20,000 characters", () => someone().chat("x".repeat(20_000)), { pointer: "/message" }],
    ["no text at all", () => someone().chat(7 as never), { pointer: "/message" }],
    ["too much page context", () => someone().chat("Hello", { pageContext: { all: "x".repeat(17_000) } }), { pointer: "/pageContext" }],
    ["a key of an umlaut", () => someone().chat("Hello", { idempotencyKey: "ä" }), { pointer: "/idempotencyKey" }],
    ["a long memory", () => someone().memories.add("x".repeat(501)), { pointer: "/text" }],
    ["a strength that there isn't", () => someone().memories.add("Likes it", { strength: "very" as never }), { pointer: "/strength" }],
    ["a page of 201", () => someone().memories.list({ limit: 201 }), { pointer: "/limit" }],
    ["half a page", () => someone().sessions.list({ limit: 0.5 }), { pointer: "/limit" }],
    ["no time", () => someone().memories.list({ asOf: "yesterday" }), { pointer: "/asOf" }],
    ["a subject that is nobody", () => someone().memories.list({ subject: "Ida" }), { pointer: "/subject" }],
    ["a turn without a session", () => someone().memories.list({ turn: 1 }), { pointer: "/turn" }],
    ["an empty search", () => someone().history.search(""), { pointer: "/query" }],
    ["much around a hit", () => someone().history.search("jazz", { context: 11 }), { pointer: "/context" }],
    ["a long title", () => someone().sessions.create({ title: "x".repeat(201) }), { pointer: "/title" }],
    ["nothing to change", () => someone().sessions.update(id, {}), { pointer: "" }],
  ])("%s", async (_, call, place) => {
    await expect(call()).rejects.toMatchObject({ code: "INVALID_REQUEST", hint: expect.any(String), errors: [place] });
  });

  test("an id that can't be one has a code of its own", async () => {
    await expect(someone().chat("Hello", { sessionId: "../etc" })).rejects.toMatchObject({ code: "INVALID_SESSION_ID" });
    await expect(someone().sessions.get("1")).rejects.toMatchObject({ code: "INVALID_SESSION_ID" });
    await expect(someone().memories.get("1")).rejects.toMatchObject({ code: "INVALID_ID" });
    await expect(someone().sessions.fork(id, "")).rejects.toMatchObject({ code: "INVALID_ID" });
  });

  test("also for a turn through the port", async () => {
    const { owner } = someone();
    await expect(maitred.chat.chat({ owner, message: "" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(maitred.chat.chat({ owner, message: "x".repeat(8_001) })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("the same key again gives the same answer; with another message it is refused", async () => {
    const ada = someone();
    const first = await ada.chat("Good evening.", { idempotencyKey: "one" });
    expect(await ada.chat("Good evening.", { idempotencyKey: "one" })).toMatchObject({ message: { id: first.message.id } });
    await expect(ada.chat("Good night.", { idempotencyKey: "one" })).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  });
});

test("variables as text open the same, and a dump of the object shows no key", async () => {
  const opened = await createOrchestrator({ SHORT_TERM_BACKEND: "memory", OPENAI_API_KEY: "sk-not-to-be-seen", LLM_PROVIDER: "offline" });
  try {
    const { inspect } = await import("node:util");
    expect(inspect(opened, { depth: 9, showHidden: false })).not.toContain("sk-not-to-be-seen");
    expect(await opened.for({ user: "ada" }).chat("Good evening.")).toMatchObject({ turn: 1 });
  } finally {
    await opened.close();
  }
});

test("stores of one's own hold everything, and are closed with the rest", async () => {
  const closed: string[] = [];
  const vectors = await openLocalQdrant({ path: ":memory:", cacheBytes: 2 ** 20 });
  const noting = <T extends { close(): Promise<void> }>(name: string, store: T): T =>
    Object.assign(store, { close: async () => void closed.push(name) });
  const state = noting("state", new MemoryEngine());
  const own = join(dir, "stores-of-ones-own");
  const opened = await createMaitred({
    memoryStorageDir: own,
    embeddingProvider: "hashing",
    prompt: "You let rooms.",
    state,
    vectors: noting("vectors", vectors),
  });
  const ada = opened.for({ user: "ada" });
  const { session_id: id } = await ada.chat("I need step-free access.");
  expect(await ada.sessions.flush(id, { timeoutMs: 10_000 })).toEqual({ pending_turns: 0, failed_turns: 0 });
  await ada.memories.add("Needs step-free access");
  expect((await ada.memories.list()).data.map(({ text }) => text)).toEqual(["Needs step-free access"]);
  await opened.close();
  expect((await memorySessionStore({ engine: state }).journal.window(ada.owner, id, { rounds: 5 })).rounds).toHaveLength(1);
  expect(await new EngineMemoryLog(state).lastSeq(ada.owner)).toBeGreaterThan(0);
  expect((await vectors.client.count("memory", {})).count).toBeGreaterThan(0);
  expect(closed.sort()).toEqual(["state", "vectors"]);
  expect((await readdir(own).catch(() => [])).filter((name) => /\.(jsonl|db)/.test(name))).toEqual([]);
});

test("services have their names", async () => {
  const { FileMemoryService, ConversationOrchestrator, Mem0Service } = await import("../../src/index.js");
  expect([ConversationOrchestrator.name, Mem0Service.name]).toEqual(["ConversationOrchestrator", "Mem0Service"]);
  const files = await FileMemoryService.open({ dir: join(dir, "own"), fileSystem: nodeFileSystem, logger: console });
  await files.close();
});
