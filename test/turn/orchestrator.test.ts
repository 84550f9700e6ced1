import { describe, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import type { AgentInput } from "../../src/ports/agent.js";
import type { ChatEvent } from "../../src/ports/application.js";
import { answering, makeOrchestrator } from "../support/orchestrator.js";
import { waitingMemory } from "../support/turn-memories.js";

const ada = ownerOf("default", "ada");
const bob = ownerOf("default", "bob");
const key = (name: string, requestHash = "hash") => ({ key: name, requestHash });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "no error",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}

describe("a turn", () => {
  test("creates a session, answers, and goes on in it", async () => {
    const { chat, seen } = await makeOrchestrator(answering("Hello, Ada.", "You said hello."));
    const first = await chat.chat({ owner: ada, message: "Hello" });
    expect(first).toMatchObject({
      turn: 1,
      message: { role: "assistant", content: "Hello, Ada." },
      memory: { status: "empty", write_back: "pending" },
    });
    const second = await chat.chat({ owner: ada, message: "What did I say?", sessionId: first.session_id });
    expect(second).toMatchObject({ session_id: first.session_id, turn: 2 });
    expect(seen[1]?.previous_conversation.map((round) => [round.user.body.content, round.assistant.body.content])).toEqual([
      ["Hello", "Hello, Ada."],
    ]);
  });

  test("[window-exact] is given just the last ten rounds, while the prompt's leave in blocks", async () => {
    const { chat, seen } = await makeOrchestrator(async (input) => `re: ${input.question}`);
    let sessionId = (await chat.chat({ owner: ada, message: "1" })).session_id;
    for (let turn = 2; turn <= 25; turn += 1) sessionId = (await chat.chat({ owner: ada, message: String(turn), sessionId })).session_id;
    const given = seen.map(({ previous_conversation: rounds }) => rounds.map(({ turn }) => turn));
    const lastTen = (before: number) => Array.from({ length: Math.min(before, 10) }, (_, i) => before - Math.min(before, 10) + i + 1);
    expect(given).toEqual(seen.map((_, before) => lastTen(before)));
    const firstOfPrompt = seen.map(({ messages }) => messages.find(({ role }) => role === "assistant")?.content);
    expect(new Set(firstOfPrompt.slice(1, 20))).toEqual(new Set(["re: 1"]));
  });

  test("of an own name goes to the session of that name, which the first of two at once begins, and each owner has theirs", async () => {
    const { chat, store } = await makeOrchestrator(answering("a", "b", "c"));
    const say = (owner: typeof ada) => chat.chat({ owner, message: "Hello", externalId: "trip", metadata: { floor: 3 } });
    const both = await Promise.all([say(ada), say(ada)]);
    expect(both.map(({ turn }) => turn).sort()).toEqual([1, 2]);
    expect(new Set(both.map(({ session_id }) => session_id)).size).toBe(1);
    expect(await store.index.get(ada, both[0]?.session_id ?? "")).toMatchObject({ external_id: "trip", metadata: { floor: 3 } });
    expect((await say(bob)).session_id).not.toBe(both[0]?.session_id);
  });

  test("of a name and an id, or of a name that can't be one, is refused", async () => {
    const { chat } = await makeOrchestrator(answering());
    const both = { owner: ada, message: "Hello", externalId: "trip", sessionId: "01999999-0000-7000-8000-000000000000" };
    expect(await codeOf(chat.chat(both))).toBe("INVALID_REQUEST");
    expect(await codeOf(chat.chat({ owner: ada, message: "Hello", externalId: "" }))).toBe("INVALID_REQUEST");
  });

  test("[turn-durable] has its user message in the journal before the agent runs", async () => {
    let inJournal = -1;
    const made = await makeOrchestrator(async (input, context) => {
      inJournal = 0;
      for await (const record of made.store.journal.read(ada, context.sessionId))
        if (record.type === "message" && record.body.content === input.question) inJournal += 1;
      return "Yes.";
    });
    await made.chat.chat({ owner: ada, message: "Is it there?" });
    expect(inJournal).toBe(1);
  });

  test("tells what happens in order: session, memory, tokens", async () => {
    const events: ChatEvent["type"][] = [];
    const { chat } = await makeOrchestrator(answering("Hi."));
    await chat.chat({ owner: ada, message: "Hello" }, { onEvent: (event) => void events.push(event.type) });
    expect(events).toEqual(["session", "memory", "token"]);
  });

  test("gives the agent the empty user context when nothing was recalled, and a line a memory otherwise", async () => {
    const { chat, seen, longTerm } = await makeOrchestrator(answering("a", "b"));
    await chat.chat({ owner: ada, message: "Hello" });
    longTerm.recalled.push({
      id: "m1",
      text: "Prefers jazz",
      category: "genre",
      strength: "soft",
      score: 1,
      source: null,
      created_at: "2026-01-01T00:00:00.000Z",
    });
    const answer = await chat.chat({ owner: ada, message: "Hello" });
    expect(seen.map((input) => input.user_context)).toEqual([
      "",
      expect.stringMatching(/^User Context:\n- Prefers jazz \(genre, since January\)$/),
    ]);
    expect(answer.memory).toMatchObject({ status: "ok", recalled: [{ id: "m1" }] });
  });

  test("[owner-isolation] in somebody else's session is answered as in one that does not exist", async () => {
    const { chat } = await makeOrchestrator(answering("a"));
    const { session_id } = await chat.chat({ owner: ada, message: "Hello" });
    expect(await codeOf(chat.chat({ owner: bob, message: "Hello", sessionId: session_id }))).toBe("SESSION_NOT_FOUND");
    expect(await codeOf(chat.chat({ owner: bob, message: "Hello", sessionId: "01999999-0000-7000-8000-000000000000" }))).toBe(
      "SESSION_NOT_FOUND",
    );
    expect(await codeOf(chat.chat({ owner: bob, message: "Hello", sessionId: "../etc/passwd" }))).toBe("INVALID_SESSION_ID");
  });
});

describe("what is kept out of memory", () => {
  test("no words of a message keep it out: what it asks for is the reading's to tell", async () => {
    const { chat, store } = await makeOrchestrator(answering("Fine."));
    const answer = await chat.chat({ owner: ada, message: "Don't remember this: I hate opera." });
    expect(answer.memory.write_back).toBe("pending");
    expect(await store.turns.of(ada, answer.session_id)).toHaveLength(1);
  });

  test("an incognito turn of a session neither recalls, settles nor writes back; the next one does again", async () => {
    const asked: unknown[] = [];
    const { chat, store, longTerm } = await makeOrchestrator(async (_input, context) => {
      asked.push([context.memory, context.asked]);
      return "Fine.";
    });
    const { session_id: sessionId } = await chat.chat({ owner: ada, message: "Hello" });
    longTerm.toConfirm.push(waitingMemory());
    await chat.chat({ owner: ada, message: "Hello", sessionId });
    const answer = await chat.chat({ owner: ada, message: "Yes. And I like opera.", sessionId, incognito: true });
    expect(answer.memory).toEqual({ status: "disabled", write_back: "disabled", to_confirm: [], recalled: [], used: [] });
    expect(longTerm.recalls).toBe(2);
    expect((await store.turns.of(ada, sessionId)).map(({ turn }) => turn)).toEqual([1, 2]);
    await chat.chat({ owner: ada, message: "Hello", sessionId });
    expect(asked).toEqual([
      ["full", []],
      ["full", []],
      ["off", undefined],
      ["full", []],
    ]);
  });

  test("incognito: true on a new session holds for all of it, and it is kept for a day", async () => {
    const { chat, store } = await makeOrchestrator(answering("a", "b"));
    const { session_id } = await chat.chat({ owner: ada, message: "Hello", incognito: true });
    expect((await chat.chat({ owner: ada, message: "Hello", sessionId: session_id })).memory.status).toBe("disabled");
    const session = await store.index.get(ada, session_id);
    expect(session?.metadata).toEqual({ incognito: true });
    expect(Date.parse(session?.expires_at ?? "") - Date.parse(session?.created_at ?? "")).toBe(86_400_000);
  });

  test("an incognito session neither recalls nor writes back", async () => {
    const { chat, store, longTerm } = await makeOrchestrator(answering("Fine."));
    const answer = await chat.chat({ owner: ada, message: "I like opera.", metadata: { incognito: true } });
    expect(answer.memory).toEqual({ status: "disabled", write_back: "disabled", to_confirm: [], recalled: [], used: [] });
    expect(longTerm.recalls).toBe(0);
    expect(await store.turns.of(ada, answer.session_id)).toEqual([]);
  });
});

describe("what tools may do with memory", () => {
  test.each([
    ["Hello", {}, "full"],
    ["Hello", { incognito: true }, "off"],
  ] as const)("in %s with %o is: %s", async (message, metadata, expected) => {
    let access: string | undefined;
    const { chat } = await makeOrchestrator(async (_input, context) => {
      access = context.memory;
      return "ok";
    });
    await chat.chat({ owner: ada, message, metadata });
    expect(access).toBe(expected);
  });
});

describe("a turn that goes wrong", () => {
  const failing = (code: "MODEL_UNAVAILABLE" | "MODEL_TIMEOUT") => {
    let calls = 0;
    return async (_input: AgentInput) => {
      calls += 1;
      if (calls === 1) throw new AppError(code);
      return "Better now.";
    };
  };

  test.each(["MODEL_UNAVAILABLE", "MODEL_TIMEOUT"] as const)(
    "[turn-repeatable] %s keeps the message; the same key runs the turn again on it",
    async (code) => {
      const { chat, store } = await makeOrchestrator(failing(code));
      const request = { owner: ada, message: "Hello", idempotency: key("k") };
      expect(await codeOf(chat.chat(request))).toBe(code);
      const answer = await chat.chat(request);
      expect(answer).toMatchObject({ turn: 1, message: { content: "Better now." } });
      const { rounds } = await store.journal.window(ada, answer.session_id, { rounds: 10 });
      expect(rounds.map((round) => [round.turn, round.user.body.content, round.assistant.body.content])).toEqual([
        [1, "Hello", "Better now."],
      ]);
    },
  );

  test("a turn that takes longer than TURN_TIMEOUT_MS fails as that, and is journalled so", async () => {
    const { chat, store } = await makeOrchestrator(
      (_input, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new AppError("ABORTED")), { once: true })),
      { turnTimeoutMs: 5 },
    );
    let sessionId = "";
    const onEvent = (event: ChatEvent) => {
      if (event.type === "session") sessionId = event.session_id;
    };
    expect(await codeOf(chat.chat({ owner: ada, message: "Hello" }, { onEvent }))).toBe("MODEL_TIMEOUT");
    const outcomes: unknown[] = [];
    for await (const { type, body } of store.journal.read(ada, sessionId))
      if (type === "message" && "role" in body && body.role === "assistant") outcomes.push([body.outcome, body.error_code]);
    expect(outcomes).toEqual([["failed", "MODEL_TIMEOUT"]]);
  });

  test("stays out of the window", async () => {
    const { chat, seen } = await makeOrchestrator(failing("MODEL_UNAVAILABLE"));
    const events: ChatEvent[] = [];
    await codeOf(chat.chat({ owner: ada, message: "Lost" }, { onEvent: (event) => void events.push(event) }));
    const sessionId = events[0]?.type === "session" ? events[0].session_id : "";
    await chat.chat({ owner: ada, message: "Found", sessionId });
    expect(seen.at(-1)?.previous_conversation).toEqual([]);
  });

  test("a client that goes away leaves it interrupted, with what was streamed", async () => {
    const controller = new AbortController();
    const { chat, store } = await makeOrchestrator(async (_input, context, emit) => {
      await emit("Once upon");
      controller.abort();
      context.signal.throwIfAborted();
      return "never";
    });
    let sessionId = "";
    const onEvent = (event: ChatEvent) => {
      if (event.type === "session") sessionId = event.session_id;
    };
    expect(await codeOf(chat.chat({ owner: ada, message: "A story" }, { signal: controller.signal, onEvent }))).toBe(
      "CLIENT_CLOSED_REQUEST",
    );
    const outcomes = [];
    for await (const record of store.journal.read(ada, sessionId))
      if (record.type === "message") outcomes.push([record.body.role, record.body.content, record.body.outcome]);
    expect(outcomes).toEqual([
      ["user", "A story", undefined],
      ["assistant", "Once upon", "interrupted"],
    ]);
  });
});

describe("an idempotency key", () => {
  test("[turn-once] gives the same answer again, nothing done twice", async () => {
    const { chat, seen } = await makeOrchestrator(answering("Once."));
    const request = { owner: ada, message: "Hello", idempotency: key("k") };
    const first = await chat.chat(request);
    const events: ChatEvent["type"][] = [];
    expect(await chat.chat(request, { onEvent: (event) => void events.push(event.type) })).toEqual(first);
    expect(events).toEqual(["session", "memory"]);
    expect(seen).toHaveLength(1);
  });

  test("waits for the first while it still runs", async () => {
    const { chat, seen } = await makeOrchestrator(answering("Once."));
    const request = { owner: ada, message: "Hello", idempotency: key("k") };
    const [first, second] = await Promise.all([chat.chat(request), chat.chat(request)]);
    expect(second).toEqual(first);
    expect(seen).toHaveLength(1);
  });

  test("is refused with another body, also while the first runs", async () => {
    const { chat } = await makeOrchestrator(answering("Once."));
    const running = chat.chat({ owner: ada, message: "Hello", idempotency: key("k") });
    expect(await codeOf(chat.chat({ owner: ada, message: "Other", idempotency: key("k", "other") }))).toBe("IDEMPOTENCY_KEY_REUSED");
    await running;
    expect(await codeOf(chat.chat({ owner: ada, message: "Other", idempotency: key("k", "other") }))).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  test("is the owner's own: another user's same key is another request", async () => {
    const { chat } = await makeOrchestrator(answering("For Ada.", "For Bob."));
    await chat.chat({ owner: ada, message: "Hello", idempotency: key("k") });
    expect((await chat.chat({ owner: bob, message: "Hello", idempotency: key("k") })).message.content).toBe("For Bob.");
  });
});

describe("two turns at once", () => {
  test("[turn-order] on one session come one after the other", async () => {
    const { chat, store } = await makeOrchestrator(async (input) => `re: ${input.question}`);
    const { session_id } = await chat.chat({ owner: ada, message: "0" });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => chat.chat({ owner: ada, message: String(n + 1), sessionId: session_id })),
    );
    expect(answers.map((answer) => answer.turn)).toEqual(Array.from({ length: 50 }, (_, n) => n + 2));
    const contents = [];
    for await (const record of store.journal.read(ada, session_id)) if (record.type === "message") contents.push(record.body.content);
    expect(contents).toEqual(Array.from({ length: 51 }, (_, n) => [String(n), `re: ${n}`]).flat());
  });

  test("the second gives up after its wait", async () => {
    let release: () => void = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { chat } = await makeOrchestrator(
      async (input) => {
        if (input.question === "slow") await blocked;
        return "done";
      },
      { lockWaitMs: 5 },
    );
    const { session_id } = await chat.chat({ owner: ada, message: "first" });
    const slow = chat.chat({ owner: ada, message: "slow", sessionId: session_id });
    expect(await codeOf(chat.chat({ owner: ada, message: "second", sessionId: session_id }))).toBe("SESSION_BUSY");
    release();
    await slow;
  });
});

describe("an edit of the last message", () => {
  test("replaces its round in the conversation, and keeps the old one in the journal", async () => {
    const { chat, seen, store } = await makeOrchestrator(async (input) => `re: ${input.question}`);
    const first = await chat.chat({ owner: ada, message: "one" });
    await chat.chat({ owner: ada, message: "two", sessionId: first.session_id });
    const { lastUserMessage } = await store.journal.window(ada, first.session_id, { rounds: 10 });
    const edited = await chat.chat({ owner: ada, message: "TWO", sessionId: first.session_id, editOf: lastUserMessage?.id ?? "" });
    expect(seen.at(-1)?.previous_conversation.map((round) => round.user.body.content)).toEqual(["one"]);
    const { rounds } = await store.journal.window(ada, first.session_id, { rounds: 10 });
    expect(rounds.map((round) => round.user.body.content)).toEqual(["one", "TWO"]);
    expect(edited.turn).toBe(3);
    const all = [];
    for await (const record of store.journal.read(ada, first.session_id, { includeRewound: true }))
      if (record.type === "message") all.push(record.body.content);
    expect(all).toContain("two");
  });

  test("of the first message takes along the title that came with it, of a later one not, and never the user's own", async () => {
    const { chat, store } = await makeOrchestrator(async () => "ok");
    const { session_id: id } = await chat.chat({ owner: ada, message: "Show me jazz in Lisbon" });
    const title = async () => (await store.index.get(ada, id))?.title;
    const edit = async (message: string) => {
      const { lastUserMessage } = await store.journal.window(ada, id, { rounds: 10 });
      await chat.chat({ owner: ada, message, sessionId: id, editOf: lastUserMessage?.id ?? "" });
    };
    await edit("Show me theatre in Vienna");
    expect(await title()).toBe("Show me theatre in Vienna");
    await edit("Show me opera in Verona");
    expect(await title()).toBe("Show me opera in Verona");
    await chat.chat({ owner: ada, message: "Anything cheaper?", sessionId: id });
    await edit("Anything on Friday?");
    expect(await title()).toBe("Show me opera in Verona");
    const own = { title: "Our honeymoon", by: "user" as const };
    const patch = { type: "session_patch" as const, id: "p", turn: 0, at: new Date().toISOString(), body: own };
    await store.index.apply(ada, id, await store.journal.append(ada, id, [patch]));
    await edit("Anything on Saturday?");
    expect(await title()).toBe("Our honeymoon");
  });

  test("is refused for any other message", async () => {
    const { chat } = await makeOrchestrator(async () => "ok");
    const { session_id } = await chat.chat({ owner: ada, message: "one" });
    expect(
      await codeOf(chat.chat({ owner: ada, message: "x", sessionId: session_id, editOf: "01999999-0000-7000-8000-000000000000" })),
    ).toBe("EDIT_NOT_LAST");
  });
});

describe("a failing part", () => {
  test("[reply-never-waits] an index that can't follow fails no turn", async () => {
    const made = await makeOrchestrator(answering("Here.", "Still here."));
    const { session_id } = await made.chat.chat({ owner: ada, message: "Hello" });
    made.store.index.apply = async () => {
      throw new Error("disk I/O error");
    };
    expect((await made.chat.chat({ owner: ada, message: "Again", sessionId: session_id })).turn).toBe(2);
    expect(made.lags).toBeGreaterThan(0);
  });

  test("a write-back that is journalled between the window and the message is no conflict", async () => {
    const { chat, store } = await makeOrchestrator(answering("One.", "Two."));
    const { session_id } = await chat.chat({ owner: ada, message: "1" });
    const window = store.journal.window.bind(store.journal);
    store.journal.window = async (owner, sessionId, options) => {
      const read = await window(owner, sessionId, options);
      const body = { status: "skipped" as const, memory_ids: [], attempts: 1 };
      await store.journal.append(owner, sessionId, [{ type: "write_back_done", id: "done", turn: 1, at: new Date().toISOString(), body }]);
      return read;
    };
    expect((await chat.chat({ owner: ada, message: "2", sessionId: session_id })).message.content).toBe("Two.");
  });

  test("an erasure ends the owner's turns, waits for them, and refuses new ones", async () => {
    const made = await makeOrchestrator(
      (_input, context) => new Promise((_resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason))),
    );
    const running = codeOf(made.chat.chat({ owner: ada, message: "Hello" }));
    await made.agentCalled;
    const release = await made.registry.hold(ada);
    expect(await running).toBe("OWNER_ERASED");
    expect(await codeOf(made.chat.chat({ owner: ada, message: "Hello" }))).toBe("OWNER_ERASED");
    release();
  });
});
