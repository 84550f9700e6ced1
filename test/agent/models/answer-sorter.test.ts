import { describe, expect, test } from "vitest";
import { AnswerSorter } from "../../../src/agent/models/answer-sorter.js";
import { logWords } from "../../../src/agent/models/attempts.js";
import { plainSchema } from "../../../src/agent/models/plain-schema.js";
import { writtenCalls } from "../../../src/agent/models/written-calls.js";
import { jsonIn, wholeJsonIn } from "../../../src/platform/json.js";

function sorted(text: string, size: number, options = {}) {
  const sorter = new AnswerSorter(options);
  let answer = "";
  for (let at = 0; at < text.length; at += size) answer += sorter.push(text.slice(at, at + size));
  return { answer: answer + sorter.end(), calls: sorter.written.map((call) => call.text.trim()) };
}

describe.each([1, 3, 1000])("in pieces of %s characters", (size) => {
  test.each([
    ["Good evening.", "Good evening."],
    ["<think>Hm.</think>\n\nGood evening.", "Good evening."],
    ["<thinking>a</thinking>Good <think>b</think>evening.", "Good evening."],
    ["[THINK]Hm.[/THINK]Good evening.", "Good evening."],
    ["<think>never ends", ""],
    ["1 < 2, and <thin ice>.", "1 < 2, and <thin ice>."],
    ["The mark `<think>` begins thought.", "The mark `<think>` begins thought."],
    ["  It begins with white space.", "  It begins with white space."],
  ])("%j is answered as %j", (text, answer) => {
    expect(sorted(text, size).answer).toBe(answer);
  });

  test("an end of thought too many is no word of the answer, and takes none of it back", () => {
    const sorter = new AnswerSorter();
    const answer = sorter.push("<think>Hm.</think>Good </think>evening.") + sorter.end();
    expect([answer, sorter.endWithoutBegin]).toEqual(["Good evening.", false]);
    expect(sorted("<think>Hm.</think>Good </think>evening.", size).answer).toBe("Good evening.");
  });

  test("calls are taken out", () => {
    expect(sorted('Let me look.<tool_call>{"name":"a"}</tool_call><tool_call>{"name":"b"}', size)).toEqual({
      answer: "Let me look.",
      calls: ['{"name":"a"}', '{"name":"b"}'],
    });
  });

  test("thought without a begin is held back where it is known to come, and only there", () => {
    expect(sorted("Hm.</think>Good evening.", size, { thinksFirst: true }).answer).toBe("Good evening.");
    expect(sorted("Good evening.", size, { thinksFirst: true }).answer).toBe("Good evening.");
  });

  test("where thought was waited for in vain, what was held is read as any other text", () => {
    expect(sorted('<thinking>Hm.</thinking>Look.<tool_call>{"name":"a"}</tool_call>', size, { thinksFirst: true })).toEqual({
      answer: "Look.",
      calls: ['{"name":"a"}'],
    });
    expect(sorted("<think>Hm.</think>Good evening.", size, { thinksFirst: true }).answer).toBe("Good evening.");
  });
});

test("[hostile-input] a text of nothing but marks is read in linear time", () => {
  for (const mark of ["<think></think>", "</think>", "<think>", "<tool_call>", "`<think>`", "<"]) {
    // Quadratic reading would not end within the test's time.
    expect(sorted(mark.repeat(200_000), 10_000_000).answer.length).toBeLessThanOrEqual(mark.length * 200_000);
    expect(sorted(mark.repeat(20_000), 7).answer.length).toBeLessThanOrEqual(mark.length * 20_000);
  }
});

test("a call without a mark is one only where it names a tool", () => {
  const tools = [{ name: "search", description: "", parameters: { properties: { code: { type: "string" } } } }];
  expect(writtenCalls("", '{"name":"search","parameters":{"city":"Graz"}}', tools)).toMatchObject([
    { name: "search", arguments: '{"city":"Graz"}' },
  ]);
  expect(writtenCalls("", '{"name":"Ada","arguments":{}}', tools)).toBeNull();
  expect(writtenCalls("<function=", "search><parameter=code>12</parameter><parameter=n>12</parameter>", tools)).toMatchObject([
    { arguments: '{"code":"12","n":12}' },
  ]);
});

test("JSON is found, or it isn't", () => {
  expect(wholeJsonIn('{"a":"}"} and {"b":1}')).toBe('{"a":"}"}');
  expect(wholeJsonIn("no {json} here [")).toBeNull();
  expect(wholeJsonIn("{".repeat(100_000))).toBeNull();
});

test("what a fence holds comes before brackets in the words around it", () => {
  expect(wholeJsonIn('Based on message [1], here it is:\n```json\n{"a":[1]}\n```\nSee {"b":2}.')).toBe('{"a":[1]}');
  expect(wholeJsonIn('As in [2]: ```json {"a":1,}```')).toBe('{"a":1}');
  expect(wholeJsonIn('```json\n{"a":"```"}\n```')).toBe('{"a":"```"}');
  expect(wholeJsonIn('By [1], `{"a":1}` is said with ``` alone, {"b":2}')).toBe("[1]");
  expect(jsonIn('Of [1]:\n```json\n[{"a":1},{"b":')).toMatchObject({ value: [{ a: 1 }], whole: false });
  expect(wholeJsonIn("```".repeat(60_000))).toBeNull();
});

test("words with many brackets before the JSON are passed over", () => {
  expect(wholeJsonIn(`${"{it} ".repeat(12)}{"a":1}`)).toBe('{"a":1}');
});

test("schemas lose what some endpoints refuse, and properties of such names stay", () => {
  const schema = { type: "object", properties: { format: { type: "string", format: "date", pattern: "^a" } }, required: ["format"] };
  expect(plainSchema(schema)).toEqual({ type: "object", properties: { format: { type: "string" } }, required: ["format"] });
});

test("[no-text-in-logs] a provider's words are logged without keys and without what they repeat", () => {
  const request = { messages: [{ role: "user" as const, content: "I am allergic to nuts, and my knee hurts after long walks." }] };
  const words = "Invalid: 'I am allergic to nuts, and my knee hurts after long' with Bearer abcdef and sk-1234567890abcdef";
  expect(logWords(words, request, ["abcdef"])).toBe("Invalid: '[text]");
  expect(logWords("key sk-1234567890abcdef is wrong", request, [])).toBe("key [key] is wrong");
});
