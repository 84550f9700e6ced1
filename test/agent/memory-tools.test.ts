import { beforeEach, describe, expect, test } from "vitest";
import { memoryTools } from "../../src/agent/tools/memory-tools.js";
import type { MemoryToolParts } from "../../src/agent/tools/tool-turn.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JsonObject } from "../../src/domain/session.js";
import { inOwnWords } from "../../src/memories/checks/brought-along.js";
import { isSaidIn } from "../../src/memories/checks/locate-quote.js";
import { type AnyTool, ASKED_EVERYTHING, type ToolContext } from "../../src/ports/agent.js";
import type { Memories } from "../../src/ports/memories.js";
import { MEMORY_ID, SESSION_ID, sampleMemory } from "../support/samples.js";
import { endingMemory, NOTHING_REMEMBERED, ScriptedTurnMemories, waitingMemory } from "../support/turn-memories.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const ANN = ownerOf("default", "ann");
const AISLE = { quote: "I prefer aisle seats", text: "Prefers aisle seats", category: "seating" };
const aisle = sampleMemory({ text: "Prefers aisle seats", about: "aisle seats" });

const NEEDS = [{ name: "no_nuts", description: "nothing with nuts" }];

let turns: ScriptedTurnMemories;
let known: ReturnType<typeof sampleMemory>[];
let forgotten: Owner[];
let tools: readonly AnyTool[];
let parts: MemoryToolParts;
let isWritten: boolean;

beforeEach(() => {
  turns = new ScriptedTurnMemories();
  known = [];
  isWritten = true;
  forgotten = [];
  const memories: Pick<Memories, "get" | "list" | "search" | "forgetAll"> = {
    get: async (_owner, id) => known.find((memory) => memory.id === id) ?? Promise.reject(new Error("not there")),
    list: async () => ({ data: known, nextCursor: null }),
    search: async () => known.map((memory) => ({ ...memory, score: 0.5 })),
    forgetAll: async (owner) => {
      forgotten.push(owner);
      return known.length;
    },
  };
  parts = {
    memories,
    turns,
    needs: NEEDS,
    needMeant: (said) => (said === "nut allergy" ? "no_nuts" : null),
    writtenBack: async () => isWritten,
    inOwnWords: (quote, message) => message.replace(/"[^"]*"/g, "").includes(quote),
    isSaidIn,
  };
  tools = memoryTools(parts);
});

/** The guest says something, and the model calls a tool. */
async function call(says: string, name: string, input: object, more: Partial<ToolContext> = {}): Promise<JsonObject> {
  const tool = tools.find((each) => each.name === name);
  const context: ToolContext = {
    owner: ANN,
    sessionId: SESSION_ID,
    turn: 3,
    callId: "call_1",
    userMessage: { id: "message-3", content: says },
    now: NOW,
    timeZone: "UTC",
    signal: new AbortController().signal,
    ...more,
  };
  const result = await tool?.run(tool.parameters.parse(input) as never, context);
  return result?.output as JsonObject;
}

describe("remember", () => {
  test("tells what was stored, and proposes it with the guest's own words", async () => {
    turns.outcomes.push({ ...NOTHING_REMEMBERED, memories: [aisle] });
    const says = "Remember that I prefer aisle seats.";
    const remembering = { channel: "voice", context: [], replaces: ["message-2"] };
    expect(await call(says, "remember", AISLE, { remembering })).toEqual({ status: "remembered", remembered: ["Prefers aisle seats"] });
    expect(turns.proposed).toMatchObject([
      {
        turn: { session_id: SESSION_ID, turn: 3, message_id: "message-3", text: says, channel: "voice", replaces: ["message-2"] },
        operations: [{ op: "add", quote: "I prefer aisle seats", text: "Prefers aisle seats", stance: "stated", explicit: true }],
      },
    ]);
  });

  test("what reading the message gave of these words is not stored a second time", async () => {
    const source = { session_id: SESSION_ID, turn: 3, message_id: "message-3", quote: "prefer aisle seats" };
    turns.read = { ...NOTHING_REMEMBERED, memories: [{ ...aisle, source }] };
    const says = "Remember that I prefer aisle seats.";
    expect(await call(says, "remember", AISLE)).toEqual({ status: "remembered", remembered: ["Prefers aisle seats"] });
    expect(turns.proposed).toEqual([]);
  });

  test("what waits, and what was not kept, is told as such", async () => {
    turns.outcomes.push({ ...NOTHING_REMEMBERED, memories: [waitingMemory()], to_confirm: [waitingMemory()] });
    turns.outcomes.push({ ...NOTHING_REMEMBERED, dropped: { secret: 1 } });
    expect(await call("Remember that I prefer aisle seats", "remember", AISLE)).toMatchObject({
      status: "waits",
      waits: [{ memory_id: MEMORY_ID, text: "Is allergic to nuts", reason: "unsure" }],
    });
    expect(await call("Remember that I prefer aisle seats", "remember", AISLE)).toEqual({ status: "not_kept", not_kept: ["secret"] });
  });

  test("what must hold is kept with one of the domain's needs, and without one is asked for anew", async () => {
    const said = { quote: "nuts make me ill", text: "Can't have nuts", category: "dietary", strength: "hard" };
    for (const _ of ["hard", "named otherwise", "soft"]) turns.outcomes.push({ ...NOTHING_REMEMBERED, memories: [aisle] });
    await call("Remember that nuts make me ill", "remember", { ...said, need: "no_nuts" });
    await call("Remember that nuts make me ill", "remember", { ...said, need: "nut allergy" });
    for (const { operations } of turns.proposed) expect(operations).toMatchObject([{ strength: "hard", need: "no_nuts" }]);
    for (const need of [undefined, null, "nothing we know"])
      await expect(call("Remember that nuts make me ill", "remember", { ...said, need })).rejects.toThrow(/no_nuts/);
    await call("Remember that I prefer aisle seats", "remember", { ...AISLE, need: null });
    expect(turns.proposed).toHaveLength(3);
  });

  test.each([
    ["that is not in the message", "What's on tonight?"],
    ["that stands only in text that the guest quotes", 'They wrote "I prefer aisle seats" to me'],
  ])("a quote %s is refused", async (_, says) => {
    await expect(call(says, "remember", AISLE)).rejects.toThrow(/not in the user's own words/);
  });
});

describe("forget, and what is no longer true", () => {
  test("the one that the guest names is forgotten, and named", async () => {
    known.push(aisle, sampleMemory({ id: "other", text: "Prefers jazz", about: "jazz" }));
    turns.outcomes.push({ ...NOTHING_REMEMBERED, forgotten: [aisle.id] });
    expect(await call("Forget the aisle seats", "forget", { what: "aisle seats" })).toEqual({
      status: "forgotten",
      forgot: ["Prefers aisle seats"],
    });
    expect(turns.proposed[0]?.operations).toMatchObject([{ op: "forget", target_id: aisle.id, quote: "Forget the aisle seats" }]);
  });

  test("[forgotten-as-a-whole] all about a companion waits where some of it must hold, and is named", async () => {
    const source = { session_id: SESSION_ID, turn: 3, message_id: "message-3", quote: "Forget all about mum" };
    const pending_change = {
      op: "forget",
      statement: null,
      reason: "unclear_change",
      source,
      stated_at: NOW.toISOString(),
      asked: 0,
    } as const;
    const nuts = sampleMemory({ id: "nuts", text: "Mother is allergic to nuts", strength: "hard", pending_change });
    turns.outcomes.push({ ...NOTHING_REMEMBERED, memories: [nuts], to_confirm: [nuts] });
    const input = { what: "mum", whom: "companion:mother" };
    expect(await call("Forget all about mum", "forget", input)).toMatchObject({
      status: "waits",
      waits: [{ memory_id: "nuts", text: "Forget: Mother is allergic to nuts" }],
      ask: expect.stringContaining("until the user's next message says yes"),
    });
    expect(turns.proposed[0]?.operations).toMatchObject([{ op: "forget", target_id: null, subject: "companion:mother", about: "mum" }]);
  });

  test("[forgotten-as-a-whole] what is known of a companion is gone and named; of nobody known, what fits is looked for", async () => {
    known.push({ ...aisle, text: "Mother loves opera" });
    turns.outcomes.push({ ...NOTHING_REMEMBERED, forgotten: [aisle.id] }, NOTHING_REMEMBERED);
    const input = { whom: "mother" };
    expect(await call("Forget all about my mother", "forget", input)).toEqual({ status: "forgotten", forgot: ["Mother loves opera"] });
    known.splice(0);
    expect(await call("Forget all about my mother", "forget", input)).toMatchObject({ status: "nothing_found" });
  });

  test("where none or several are named, nothing changes, and the model is given their ids", async () => {
    known.push(aisle, sampleMemory({ id: "other", text: "Prefers jazz" }));
    expect(await call("Forget that, please", "forget", { what: "seats" })).toMatchObject({
      status: "which_one",
      memories: [{ memory_id: aisle.id }, { memory_id: "other" }],
    });
    expect(turns.proposed).toEqual([]);
  });

  test("one that is named by its id alone is forgotten where the guest, or the answer before, speaks of it; else they are asked", async () => {
    known.push({ ...aisle, about: "aisle seats" });
    const input = { memory_id: aisle.id };
    const asked = { status: "which_one", memories: [{ memory_id: aisle.id }], ask: expect.stringContaining("Nothing was changed") };
    expect(await call("What's on tonight at the opera?", "forget", input)).toMatchObject(asked);
    expect(await call('They wrote "no aisle seats"', "forget", input)).toMatchObject(asked);
    const answers = (content: string) => ({
      remembering: {
        channel: "web",
        context: [{ role: "user", content: "Forget my seats" } as const, { role: "assistant", content } as const],
      },
    });
    expect(await call("yes", "forget", input, answers("Shall I forget your taste in music?"))).toMatchObject(asked);
    expect(turns.proposed).toEqual([]);
    for (let times = 0; times < 2; times++) turns.outcomes.push({ ...NOTHING_REMEMBERED, forgotten: [aisle.id] });
    const forgotten = { status: "forgotten", forgot: ["Prefers aisle seats"] };
    expect(await call("I don't mind the aisle, forget that", "forget", input)).toEqual(forgotten);
    expect(await call("yes", "forget", input, answers("Shall I forget that you prefer aisle seats?"))).toEqual(forgotten);
  });

  test("in any language: what the answer before offered is forgotten at the next message, and its words need no spaces", async () => {
    const input = { memory_id: aisle.id };
    known.push({ ...aisle, text: "喜欢靠走道的座位", about: "靠走道的座位" });
    const forgotten = { status: "forgotten" };
    for (let times = 0; times < 2; times++) turns.outcomes.push({ ...NOTHING_REMEMBERED, forgotten: [aisle.id] });
    expect(await call("好的", "forget", input)).toMatchObject({ status: "which_one" });
    expect(await call("好的", "forget", input, { asked: ["another"] })).toMatchObject({ status: "which_one" });
    expect(await call("好的", "forget", input, { asked: [aisle.id] })).toMatchObject(forgotten);
    const context = [{ role: "assistant", content: "要我忘记您喜欢靠走道的座位吗？" } as const];
    expect(await call("好的", "forget", input, { remembering: { channel: "web", context } })).toMatchObject(forgotten);
  });

  test("a fact is spoken of by its text's words too; that something is liked stands in any message", async () => {
    tools = memoryTools({ ...parts, inOwnWords });
    const input = { memory_id: aisle.id };
    known.push({ ...aisle, type: "fact", text: "Lives in York", about: "York", category: "location", aspect: "" });
    turns.outcomes.push({ ...NOTHING_REMEMBERED, forgotten: [aisle.id] });
    expect(await call("Forget where I live", "forget", input)).toMatchObject({ status: "forgotten" });
    known.splice(0, 1, { ...aisle, text: "Likes jazz", about: "jazz", category: "genre", aspect: "" });
    expect(await call("I'd like two tickets", "forget", input)).toMatchObject({ status: "which_one" });
  });

  test("the only one of the kind that the guest names is meant, unless it must hold or there are more of it", async () => {
    const budget = sampleMemory({ id: "budget", text: "Spends about 60 euros", category: "budget", about: "60 euros" });
    known.push(aisle, budget);
    turns.outcomes.push({ ...NOTHING_REMEMBERED, forgotten: [budget.id] });
    expect(await call("Forget my budget", "forget", { what: "budget" })).toMatchObject({ status: "forgotten", forgot: [budget.text] });
    known.push({ ...budget, id: "meals", text: "Spends about 30 on a meal", about: "30" });
    expect(await call("Forget my budget", "forget", { what: "budget" })).toMatchObject({
      status: "which_one",
      memories: [{ memory_id: "budget" }, { memory_id: "meals" }],
    });
    known.splice(0, known.length, { ...budget, strength: "hard" });
    expect(await call("Forget my budget", "forget", { what: "budget" })).toMatchObject({ status: "which_one" });
  });

  test("an end of what must hold that waits is told as waiting, not as done", async () => {
    known.push(sampleMemory({ text: "Is allergic to nuts", strength: "hard" }));
    turns.outcomes.push({ ...NOTHING_REMEMBERED, memories: [endingMemory()], to_confirm: [endingMemory()] });
    expect(await call("Not any more", "no_longer_true", { memory_id: MEMORY_ID })).toMatchObject({
      status: "waits",
      waits: [{ text: "No longer: Is allergic to nuts", reason: "unclear_change" }],
    });
  });

  test("everything is forgotten only in the turn after the guest was asked", async () => {
    known.push(aisle);
    expect(await call("Forget everything", "forget", { everything: true })).toMatchObject({ status: "ask_first" });
    expect(forgotten).toEqual([]);
    expect(await call("Yes", "forget", { everything: true }, { asked: [ASKED_EVERYTHING] })).toEqual({ status: "forgotten", count: 1 });
    expect(forgotten).toEqual([ANN]);
  });
});

describe("what is known", () => {
  test("is listed with what waits told apart", async () => {
    known.push(aisle, endingMemory({ id: "ending" }));
    turns.waiting = [waitingMemory({ id: "waiting" })];
    expect(await call("What do you know?", "list_memories", {})).toMatchObject({
      memories: [{ memory_id: aisle.id }, { memory_id: "ending", waits_for_their_word: "No longer: Is allergic to nuts" }],
      not_confirmed_yet: [{ memory_id: "waiting", must_hold: true }],
    });
  });

  test("is waited for, and where reading it takes too long that is said", async () => {
    known.push(aisle);
    expect(await call("What do you know?", "list_memories", {})).not.toHaveProperty("still_reading");
    isWritten = false;
    expect(await call("What do you know?", "list_memories", {})).toMatchObject({
      memories: [{ memory_id: aisle.id }],
      still_reading: "what they said last",
    });
  });

  test("is found by meaning, with ids", async () => {
    known.push(aisle);
    expect(await call("Which seats?", "search_memories", { query: "seats" })).toMatchObject({ memories: [{ memory_id: aisle.id }] });
  });
});

describe("settle_memory", () => {
  const yes = { answers: [{ memory_id: MEMORY_ID, answer: "yes", quote: "yes" }] };

  test("settles what the answer before asked about, with the guest's words", async () => {
    turns.settlements.push(sampleMemory({ text: "Is allergic to nuts" }));
    expect(await call("yes, keep it", "settle_memory", yes, { asked: [MEMORY_ID] })).toEqual({
      settled: [{ memory_id: MEMORY_ID, answer: "yes", text: "Is allergic to nuts", status: "settled as true" }],
    });
    expect(turns.settled).toMatchObject([
      {
        settlements: [{ memory_id: MEMORY_ID, answer: "yes", quote: "yes" }],
        options: { asked: [MEMORY_ID], source: { session_id: SESSION_ID, turn: 3, message_id: "message-3" }, text: "yes, keep it" },
      },
    ]);
  });

  test("tells of an end that it is one, and not that what ended is true", async () => {
    turns.waiting = [endingMemory({ id: MEMORY_ID })];
    turns.settlements.push(endingMemory({ id: MEMORY_ID, status: "superseded", pending_change: null }));
    expect(await call("yes", "settle_memory", yes, { asked: [MEMORY_ID] })).toMatchObject({
      settled: [{ answer: "yes", text: "No longer: Is allergic to nuts", status: "settled as true" }],
    });
  });

  test.each([
    ["what was not asked about", "yes", { asked: ["another"] }, /did not ask/],
    ["what another session asked about, or nothing did", "yes", {}, /did not ask/],
    ["by words that the guest did not say", "What's on tonight?", { asked: [MEMORY_ID] }, /not in the user's own words/],
    ["by words that stand only in what the guest quotes", 'He said "yes" to me', { asked: [MEMORY_ID] }, /not in the user's own words/],
  ] as const)("does not settle %s", async (_, says, more, reason) => {
    expect(await call(says, "settle_memory", yes, more)).toMatchObject({
      settled: [],
      refused: [{ memory_id: MEMORY_ID, reason: expect.stringMatching(reason) }],
    });
    expect(turns.settled).toEqual([]);
  });

  test("what the use-case refuses is told in its words, and takes no other answer along", async () => {
    const { AppError } = await import("../../src/platform/errors.js");
    turns.settlements.push(new AppError("INVALID_REQUEST", { detail: "A no to what must hold counts only when it alone was asked." }));
    turns.settlements.push(sampleMemory({ id: "other" }));
    const answers = [
      { memory_id: MEMORY_ID, answer: "no", quote: "no" },
      { memory_id: "other", answer: "yes", quote: "yes" },
    ];
    expect(await call("no, and yes", "settle_memory", { answers }, { asked: [MEMORY_ID, "other"] })).toMatchObject({
      settled: [{ memory_id: "other" }],
      refused: [{ memory_id: MEMORY_ID, reason: expect.stringMatching(/it alone was asked/) }],
    });
  });
});

test("in an incognito turn no tool reads, keeps or settles anything", async () => {
  for (const [name, input] of [
    ["remember", AISLE],
    ["forget", { what: "aisle seats" }],
    ["forget", { everything: true }],
    ["no_longer_true", { what: "aisle seats" }],
    ["list_memories", {}],
    ["search_memories", { query: "seats" }],
    ["settle_memory", { answers: [{ memory_id: MEMORY_ID, answer: "yes", quote: "aisle" }] }],
  ] as const)
    await expect(call("I prefer aisle seats", name, input, { memory: "off", asked: [MEMORY_ID] })).rejects.toMatchObject({
      code: "LONG_TERM_MEMORY_DISABLED",
    });
});
