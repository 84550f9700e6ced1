import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import type { ScriptedStep } from "../../src/testing/scripted-model.js";
import { openDoor } from "../support/door.js";

const model = "any";
type Said = ChatCompletionMessageParam;
const user = (content: string): Said => ({ role: "user", content });
const assistant = (content: string): Said => ({ role: "assistant", content });
const HI = user("Hi");
const CALL = { id: "call_w", name: "weather", arguments: { city: "Rome" } };
const WEATHER = { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } } as const;
const called = (id: string): Said => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }],
});
const result = (id: string): Said => ({ role: "tool", tool_call_id: id, content: "clear" });

async function opened(answers: readonly (string | ScriptedStep)[]) {
  const door = await openDoor(answers.map((each) => (typeof each === "string" ? { text: each } : each)));
  const say = async (...messages: readonly Said[]) => {
    const { response } = await door
      .openai()
      .chat.completions.create({ model, messages: [...messages], tools: [WEATHER] })
      .withResponse();
    return response.headers.get("X-Session-Id") ?? "";
  };
  const texts = async (id: string) => (await door.thread(id)).flatMap(({ type, output }) => (type === "tool_call" ? [] : [output]));
  const sessions = async () => (await door.maitred.for({ user: "ada" }).sessions.list()).data.map(({ id }) => id);
  const asked = (at: number) => JSON.stringify(door.model.requests[at]?.messages);
  return { ...door, say, texts, sessions, asked };
}

describe("a conversation without a session's id goes on with the newest session that holds what was said", () => {
  test("of two that begin with the same words, each with its own", async () => {
    const { say, texts } = await opened(["One.", "Two.", "One more.", "Two more.", "And again."]);
    const first = await say(HI);
    const second = await say(HI);
    expect(await say(HI, assistant("One."), user("Go on"))).toBe(first);
    expect(await say(HI, assistant("Two."), user("Go on"))).toBe(second);
    expect(await say(HI, assistant("One."), user("Go on"), assistant("One more."), user("Yes"))).toBe(first);
    expect(await texts(first)).toEqual(["Hi", "One.", "Go on", "One more.", "Yes", "And again."]);
    expect(await texts(second)).toEqual(["Hi", "Two.", "Go on", "Two more."]);
  });

  test("a greeting before the first message makes no conversation older: each begins anew, and has it", async () => {
    const { say, texts } = await opened(["One.", "Two.", "Three."]);
    const greeting = assistant("Good evening, I'm Clara.");
    const first = await say(greeting, HI);
    const second = await say(greeting, HI);
    expect(await say(greeting, HI, assistant("One."), user("Go on"))).toBe(first);
    expect(await texts(first)).toEqual(["Good evening, I'm Clara.", "Hi", "One.", "Go on", "Three."]);
    expect(await texts(second)).toEqual(["Good evening, I'm Clara.", "Hi", "Two."]);
  });

  test("what may be the next message of one or the last of another, said again, is the next", async () => {
    const { say, texts } = await opened(["Same.", "Same.", "Done.", "Done too."]);
    const older = await say(HI);
    const newer = await say(HI);
    const next = [HI, assistant("Same."), user("Book it")];
    expect(await say(...next)).toBe(newer);
    expect(await say(...next)).toBe(older);
    expect(await texts(newer)).toEqual(["Hi", "Same.", "Book it", "Done."]);
    expect(await texts(older)).toEqual(["Hi", "Same.", "Book it", "Done too."]);
  });

  test("one that was answered otherwise elsewhere is another, and has its own history", async () => {
    const { say, texts, asked } = await opened(["One.", "412."]);
    const here = await say(HI);
    const there = await say(HI, assistant("Welcome to room 412."), user("What is my room number?"));
    expect(there).not.toBe(here);
    expect(await texts(there)).toEqual(["Hi", "Welcome to room 412.", "What is my room number?", "412."]);
    expect(asked(1)).toContain("Welcome to room 412.");
    expect(await texts(here)).toEqual(["Hi", "One."]);
  });

  test("where both were said alike so far, the one that holds more of it; of two that hold the same, the newest", async () => {
    const { say, texts } = await opened(["Same.", "Second.", "Same.", "Third.", "Fourth."]);
    const longer = await say(HI);
    const next = [HI, assistant("Same."), user("Go on")];
    await say(...next);
    const newest = await say(HI);
    expect(await say(...next, assistant("Second."), user("Yes"))).toBe(longer);
    expect(await say(HI, assistant("Same."), user("No"))).toBe(newest);
    expect(await texts(newest)).toEqual(["Hi", "Same.", "No", "Fourth."]);
  });

  test("what was said elsewhere since is taken in behind it", async () => {
    const { say, texts, asked, sessions } = await opened(["One.", "Three."]);
    const id = await say(HI);
    expect(await say(HI, assistant("One."), user("My room is 412"), assistant("Noted."), user("Which?"))).toBe(id);
    expect(await texts(id)).toEqual(["Hi", "One.", "My room is 412", "Noted.", "Which?", "Three."]);
    expect(asked(1)).toContain("My room is 412");
    expect(await sessions()).toEqual([id]);
  });

  test("blanks that a client changes in an answer change nothing, nor what was streamed before the answer and taken back", async () => {
    const long = "I look that up for you now. ".repeat(10);
    const own = { id: "c", name: "list_memories", arguments: {} };
    const { say, sessions } = await opened(["One.\n\n- Two", { text: long, calls: [own] }, "Nothing.", "Yes."]);
    const id = await say(HI);
    const next = [HI, assistant(" One.\n - Two\n"), user("What do you know?")];
    expect(await say(...next)).toBe(id);
    expect(await say(...next, assistant(`${long}Nothing.`), user("Sure?"))).toBe(id);
    expect(await sessions()).toEqual([id]);
  });

  test("the last message again, without its answer, is said anew in its place; so is one whose turn failed", async () => {
    const { say, texts, sessions } = await opened(["One.", "Two.", "Two, better.", { fail: new AppError("MODEL_UNAVAILABLE") }, "Three."]);
    const id = await say(HI);
    const go = [HI, assistant("One."), user("Go on")];
    await say(...go);
    expect(await say(...go)).toBe(id);
    expect(await texts(id)).toEqual(["Hi", "One.", "Go on", "Two, better."]);
    const more = [...go, assistant("Two, better."), user("More")];
    await expect(say(...more)).rejects.toMatchObject({ status: 502 });
    expect(await say(...more)).toBe(id);
    expect(await texts(id)).toEqual(["Hi", "One.", "Go on", "Two, better.", "More", "Three."]);
    expect(await sessions()).toEqual([id]);
  });

  test("after a turn that failed it goes on, whether the client still tells of that or not", async () => {
    const fail = { fail: new AppError("MODEL_UNAVAILABLE") };
    const { say, texts } = await opened(["One.", fail, "Three.", fail, "Five."]);
    const id = await say(HI);
    await expect(say(HI, assistant("One."), user("Lost"))).rejects.toMatchObject({ status: 502 });
    const third = [HI, assistant("One."), user("Third")];
    expect(await say(...third)).toBe(id);
    const lost = [...third, assistant("Three."), user("Lost again")];
    await expect(say(...lost)).rejects.toMatchObject({ status: 502 });
    expect(await say(...lost, user("Fifth"))).toBe(id);
    expect(await texts(id)).toEqual(["Hi", "One.", "Lost", "Third", "Three.", "Lost again", "Fifth", "Five."]);
  });

  test("an answer that only the client has, as the turn failed here, is no answer of ours: both messages are taken in", async () => {
    const fail = { fail: new AppError("MODEL_UNAVAILABLE") };
    const { say, texts, asked } = await opened(["One.", fail, "Three."]);
    const id = await say(HI);
    await expect(say(HI, assistant("One."), user("My room?"))).rejects.toMatchObject({ status: 502 });
    expect(await say(HI, assistant("One."), user("My room?"), assistant("It is 412."), user("Sure?"))).toBe(id);
    expect(await texts(id)).toEqual(["Hi", "One.", "My room?", "My room?", "It is 412.", "Sure?", "Three."]);
    expect(asked(2)).toContain("It is 412.");
  });

  test("of which the client sends the newest messages alone, as long as two rounds say which", async () => {
    const { say, texts, sessions } = await opened(["One.", "Two.", "Three.", "Four.", { calls: [CALL] }, "Six.", "Apart."]);
    const said = [HI, assistant("One."), user("B"), assistant("Two."), user("C"), assistant("Three."), user("D"), assistant("Four.")];
    const id = await say(...said.slice(0, 1));
    for (const end of [3, 5, 7]) expect(await say(...said.slice(Math.max(0, end - 5), end))).toBe(id);
    const window = [...said.slice(3), user("E")];
    expect(await say(...window)).toBe(id);
    expect(await say(...window, called("call_w"), result("call_w"))).toBe(id);
    expect(await texts(id)).toEqual(["Hi", "One.", "B", "Two.", "C", "Three.", "D", "Four.", "E", "Six."]);
    expect(await say(user("E"), assistant("Six."), user("One round alone"))).not.toBe(id);
    expect(await sessions()).toHaveLength(2);
  });

  test("a client that goes back and says something else begins another, which holds what came before", async () => {
    const { say, texts } = await opened(["One.", "Two.", "Other."]);
    const id = await say(HI);
    await say(HI, assistant("One."), user("Go on"));
    const branch = await say(HI, assistant("One."), user("Rather this"));
    expect(branch).not.toBe(id);
    expect(await texts(branch)).toEqual(["Hi", "One.", "Rather this", "Other."]);
    expect(await texts(id)).toEqual(["Hi", "One.", "Go on", "Two."]);
  });

  test("results of a tool go on with the turn that waits for them, whichever began alike, and what follows with theirs", async () => {
    const { say, texts } = await opened([{ calls: [CALL] }, { calls: [{ ...CALL, id: "call_2" }] }, "First.", "Second.", "Yes."]);
    const rome = user("Rome?");
    const first = await say(rome);
    const second = await say(rome);
    expect(await say(rome, called("call_w"), result("call_w"))).toBe(first);
    expect(await say(rome, called("call_2"), result("call_2"))).toBe(second);
    expect(await say(rome, called("call_w"), result("call_w"), assistant("First."), user("Sure?"))).toBe(first);
    expect(await texts(first)).toEqual(["Rome?", "First.", "Sure?", "Yes."]);
    await expect(say(rome, called("call_3"), result("call_3"))).rejects.toMatchObject({ code: "tool_call_not_waiting" });
  });

  test("is found among many that began with the same words, and at the end of a long one", async () => {
    const { say, sessions } = await opened(Array.from({ length: 60 }, (_, at) => `Answer ${at}.`));
    const said: Said[] = [HI];
    const long = await say(...said);
    for (let at = 0; at < 30; at += 1) {
      said.push(assistant(`Answer ${at}.`), user(`Message ${at}`));
      expect(await say(...said)).toBe(long);
    }
    const others = [];
    for (let at = 31; at < 40; at += 1) others.push(await say(HI));
    expect(await say(...said, assistant("Answer 30."), user("Still there?"))).toBe(long);
    expect(await say(HI, assistant("Answer 33."), user("And you?"))).toBe(others[2]);
    expect((await sessions()).length).toBe(10);
  });
});
