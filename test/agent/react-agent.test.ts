import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { AnswerText } from "../../src/agent/answer-text.js";
import { ReactAgent, type ReactAgentOptions } from "../../src/agent/react-agent.js";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { AgentEvent, AgentResult, AnyTool, ChatModel, ModelMessage, Tool, ToolContext } from "../../src/ports/agent.js";
import { ScriptedModel, type ScriptedStep } from "../../src/testing/scripted-model.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const PROMPT: ModelMessage[] = [
  { role: "system", content: "You help." },
  { role: "user", content: "Add two and three." },
];

const add: Tool<{ a: number; b: number }> = {
  name: "add",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.number(), b: z.number().describe("the second") }),
  run: async ({ a, b }) => ({
    output: { sum: a + b },
    sources: [{ id: "sums", title: "A book of sums", type: "book" }],
    elements: [{ id: `sum-${a + b}`, type: "text", name: "Sum", content: String(a + b), display: "side" }],
  }),
};

function tool(name: string, run: AnyTool["run"], more: Partial<AnyTool> = {}): AnyTool {
  return { name, description: name, parameters: z.object({}), run, ...more };
}

interface Ran {
  readonly result: AgentResult;
  readonly events: AgentEvent[];
  readonly model: ScriptedModel;
}

async function run(
  steps: readonly ScriptedStep[],
  options: Partial<ReactAgentOptions> & {
    readonly signal?: AbortSignal;
    readonly onEvent?: (event: AgentEvent) => void | Promise<void>;
  } = {},
): Promise<Ran> {
  const model = new ScriptedModel(steps);
  const events: AgentEvent[] = [];
  const { signal, onEvent, ...agentOptions } = options;
  const agent = new ReactAgent({ model, tools: [add], clock: { now: () => NOW }, logger: silentLogger, ...agentOptions });
  const context: Omit<ToolContext, "callId"> = {
    owner: ownerOf("default", "ann"),
    sessionId: "session",
    turn: 1,
    userMessage: { id: "message", content: "Add two and three." },
    now: NOW,
    timeZone: "UTC",
    signal: signal ?? new AbortController().signal,
  };
  const result = await agent.run(
    { question: "Add two and three.", previous_conversation: [], user_context: "", page_context: null, messages: PROMPT },
    {
      context,
      onEvent: async (event) => {
        events.push(event);
        await onEvent?.(event);
      },
    },
  );
  model.assertDone();
  return { result, events, model };
}

const tokens = (events: readonly AgentEvent[]) => events.map((event) => (event.type === "token" ? event.delta : "")).join("");
const calls = (...names: string[]) => names.map((name) => ({ name, arguments: {} }));

describe("an empty answer", () => {
  const usage = { input_tokens: 7, output_tokens: 2 };

  test("is asked for once more with the same request; both calls are counted, and nothing of the first is in the answer", async () => {
    const { result, events, model } = await run([
      { text: "\n \n", usage },
      { text: "Five.", usage },
    ]);
    expect(result).toMatchObject({ content: "Five.", usage: { input_tokens: 14, output_tokens: 4 } });
    expect(tokens(events).trim()).toBe("Five.");
    expect(model.requests[1]).toEqual(model.requests[0]);
  });

  test("after tools, too: what they gave is kept, and they do not run again", async () => {
    const { result } = await run([{ calls: [{ name: "add", arguments: { a: 2, b: 3 } }] }, { text: "" }, { text: "Five." }]);
    expect([result.content, result.steps.length]).toEqual(["Five.", 1]);
  });

  test("counts as one of the turn's calls that may ask for tools", async () => {
    const { model } = await run([{ text: "" }, { text: "Five." }], { maxIterations: 1 });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, "none"]);
  });
});

describe("think, act, observe", () => {
  test("a tool is called, its result goes back to the model, and the answer follows", async () => {
    const { result, model } = await run([
      { calls: [{ id: "c1", name: "add", arguments: { a: 2, b: 3 } }], usage: { input_tokens: 10, output_tokens: 2 } },
      { text: ["It is ", "five."], usage: { input_tokens: 20, output_tokens: 3 } },
    ]);
    expect(result.content).toBe("It is five.");
    expect(result.steps).toMatchObject([
      { name: "add", call_id: "c1", iteration: 0, input: { a: 2, b: 3 }, output: { sum: 5 }, error: null },
    ]);
    expect(result.steps[0]?.started_at).toBe(NOW.toISOString());
    expect(model.requests[1]?.messages.slice(2)).toEqual([
      { role: "assistant", content: "", tool_calls: [{ id: "c1_1", name: "add", arguments: '{"a":2,"b":3}' }] },
      { role: "tool", tool_call_id: "c1_1", content: '{"sum":5}' },
    ]);
    expect(result.usage).toEqual({ input_tokens: 30, output_tokens: 5 });
  });

  test("the model is offered the tools with JSON Schemas of their arguments", async () => {
    const { model } = await run([{ text: "Hello." }]);
    expect(model.requests[0]?.tools).toEqual([
      {
        name: "add",
        description: "Adds two numbers.",
        parameters: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number", description: "the second" } },
          required: ["a", "b"],
        },
      },
    ]);
  });

  test("sources are kept once each, elements all, and reach the result", async () => {
    const { result } = await run([
      {
        calls: [
          { name: "add", arguments: { a: 1, b: 1 } },
          { name: "add", arguments: { a: 2, b: 2 } },
        ],
      },
      { text: "Done." },
    ]);
    expect(result.sources).toEqual([{ id: "sums", title: "A book of sums", type: "book" }]);
    expect(result.elements.map(({ id }) => id)).toEqual(["sum-2", "sum-4"]);
  });

  test("calls of one iteration run in parallel, and their steps come in the order of the calls", async () => {
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = tool("slow", async () => {
      await both;
      return { output: "slow" };
    });
    const quick = tool("quick", async () => {
      release();
      return { output: "quick" };
    });
    const { result, events } = await run([{ calls: calls("slow", "quick") }, { text: "Both." }], { tools: [slow, quick] });
    expect(result.steps.map(({ name, iteration }) => [name, iteration])).toEqual([
      ["slow", 0],
      ["quick", 0],
    ]);
    expect(events.filter(({ type }) => type === "step")).toHaveLength(2);
  });

  test("calls without an id, or with one that is taken, get their own", async () => {
    const { result } = await run([
      {
        calls: [
          { id: "", name: "add", arguments: { a: 1, b: 1 } },
          { id: "x", name: "add", arguments: { a: 2, b: 1 } },
          { id: "x", name: "add", arguments: { a: 3, b: 1 } },
        ],
      },
      { calls: [{ id: "x", name: "add", arguments: { a: 4, b: 1 } }] },
      { text: "Done." },
    ]);
    const ids = result.steps.map(({ call_id }) => call_id);
    expect(new Set(ids).size).toBe(4);
    expect(ids).toContain("x");
    expect(ids).not.toContain("");
  });
});

describe("what the model gets wrong goes back to it as an observation", () => {
  const observed = async (name: string, args: unknown, options: Partial<ReactAgentOptions> = {}) => {
    const { result, model } = await run([{ calls: [{ name, arguments: args }] }, { text: "I see." }], options);
    const seen = model.requests[1]?.messages.at(-1)?.content ?? "";
    expect(result.steps[0]?.error).not.toBeNull();
    expect(JSON.parse(seen)).toEqual({ error: result.steps[0]?.error });
    return seen;
  };

  test("an argument of the wrong type", async () => {
    expect(await observed("add", { a: "two", b: 3 })).toMatch(/not valid: a: /);
  });
  test("[arguments-known] an argument that a tool doesn't have, by its name, with the nearest that it has, else with all", async () => {
    const parameters = z.strictObject({ text: z.string().optional(), max_price: z.number().optional() });
    const tools = [tool("find", async () => ({ output: { found: 420 } }), { parameters })];
    expect(await observed("find", { maxprice: 20 }, { tools })).toMatch(/no argument \\"maxprice\\"; did you mean \\"max_price\\"\?/);
    expect(await observed("find", { query: "plum" }, { tools })).toMatch(/no argument \\"query\\"; there are: text, max_price/);
  });
  test("arguments that are no JSON", async () => {
    expect(await observed("add", "{ a: ")).toMatch(/not valid JSON/);
  });
  test("a tool that is not there", async () => {
    expect(await observed("subtract", {})).toMatch(/no tool \\"subtract\\".*add/);
  });
  test("a tool that is not there is none of those used; one that failed is", async () => {
    const { result } = await run([{ calls: calls("launch_missiles", "add") }, { text: "Done." }]);
    expect(result.steps.map(({ name, error }) => [name, error === null])).toEqual([
      ["launch_missiles", false],
      ["add", false],
    ]);
    expect(result.toolsUsed).toEqual(["add"]);
  });
  test("a tool that fails for a reason that it names", async () => {
    const failing = tool("look", async () => {
      throw new AppError("NOT_FOUND", { detail: "There is no such thing.", hint: "Look elsewhere." });
    });
    expect(await observed("look", {}, { tools: [failing] })).toMatch(/There is no such thing\. Look elsewhere\./);
  });
  test("a tool that breaks: without a word of why", async () => {
    const broken = tool("look", async () => {
      throw new TypeError("password=hunter2");
    });
    expect(await observed("look", {}, { tools: [broken] })).not.toMatch(/hunter2/);
  });
  test("a tool that takes too long, even if it ignores its signal", async () => {
    const stuck = tool("look", () => new Promise(() => {}), { timeoutMs: 5 });
    expect(await observed("look", {}, { tools: [stuck] })).toMatch(/too long/);
  });
});

test("a tool whose schema lets other arguments pass is run with what it takes", async () => {
  const { result } = await run([{ calls: [{ name: "add", arguments: { a: 2, b: 3, note: "please" } }] }, { text: "Five." }]);
  expect(result.steps[0]).toMatchObject({ error: null, output: { sum: 5 } });
});

describe("limits", () => {
  test("at the step limit follows one last call that names the tools and may call none", async () => {
    const again: ScriptedStep = { calls: [{ name: "add", arguments: { a: 1, b: 1 } }] };
    const { result, model } = await run([again, again, { text: "Enough.", expect: (request) => expect(request.toolChoice).toBe("none") }], {
      maxIterations: 2,
    });
    expect(result.content).toBe("Enough.");
    expect(model.requests.map(({ tools }) => tools?.length)).toEqual([1, 1, 1]);
  });

  test("a model that calls tools all the same has given no answer, and that is what is said", async () => {
    const again: ScriptedStep = { calls: [{ name: "add", arguments: { a: 1, b: 1 } }] };
    await expect(run([again, again], { maxIterations: 1 })).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: "The model called tools without end: 1 call, and no answer.",
      hint: expect.stringContaining("tool_choice: none"),
    });
  });

  test("eight model calls may use tools by default", async () => {
    const again: ScriptedStep = { calls: [{ name: "add", arguments: { a: 1, b: 1 } }] };
    const { model } = await run([...Array.from({ length: 8 }, () => again), { text: "Enough." }]);
    expect(model.requests).toHaveLength(9);
  });

  test("a tool runs no more often in a turn than it may, also in parallel", async () => {
    let ran = 0;
    const once = tool(
      "once",
      async () => {
        ran += 1;
        return { output: null };
      },
      { maxCallsPerTurn: 1 },
    );
    const { result } = await run([{ calls: calls("once", "once") }, { calls: calls("once") }, { text: "Fine." }], { tools: [once] });
    expect(ran).toBe(1);
    expect(result.steps.map(({ error }) => error === null)).toEqual([true, false, false]);
  });

  test("a long output is cut for the model and for the journal, and says so", async () => {
    const long = tool("long", async () => ({ output: "😀".repeat(5_000) }));
    const { result, model } = await run([{ calls: calls("long") }, { text: "Long." }], { tools: [long], maxOutputChars: 1_000 });
    expect(result.steps[0]?.output).toMatchObject({ truncated: true, characters: 10_002 });
    const told = model.requests[1]?.messages.at(-1)?.content ?? "";
    expect(told.length).toBeLessThan(1_200);
    expect(told).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  });
});

describe("streaming", () => {
  test("the streamed tokens are the answer; a short thought before a tool call is neither", async () => {
    const { result, events } = await run([
      { text: "Let me add these.", calls: [{ name: "add", arguments: { a: 2, b: 3 } }] },
      { text: ["Fi", "ve."] },
    ]);
    expect(result.content).toBe("Five.");
    expect(tokens(events)).toBe("Five.");
    expect(result.steps[0]?.thought).toBe("Let me add these.");
  });

  test("what a model takes back is no part of the answer, and whoever read along is told what is left", async () => {
    const model: ChatModel = {
      name: "m",
      standIn: false,
      async *stream() {
        yield { type: "text", delta: "The user wants a sum." };
        yield { type: "retract" };
        yield { type: "text", delta: "Five." };
        yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    for (const holdBackChars of [0, 1_000]) {
      const { result, events } = await run([], { model, holdBackChars });
      expect(result.content).toBe("Five.");
      const read = events.reduce(
        (sum, event) => (event.type === "token" ? sum + event.delta : event.type === "retract" ? event.content : sum),
        "",
      );
      expect(read).toBe("Five.");
      expect(events.some(({ type }) => type === "retract")).toBe(holdBackChars === 0);
    }
  });

  test("text too long to be held back is streamed, stays in the answer, and is not a thought as well", async () => {
    const long = "First some words about addition. ".repeat(10);
    const { result, events } = await run([{ text: long, calls: [{ name: "add", arguments: { a: 2, b: 3 } }] }, { text: "Five." }]);
    expect(tokens(events)).toBe(result.content);
    expect(result.content).toBe(`${long}\n\nFive.`);
    expect(result.steps[0]?.thought).toBeUndefined();
  });

  test("what a slow model says is streamed while it speaks, however short", async () => {
    const streamed: string[] = [];
    const emit = async (delta: string) => void streamed.push(delta);
    const text = new AnswerText({ emit, onRetracted: async () => {}, holdBackChars: 160, holdBackMs: 600 });
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      for (const word of ["One ", "word ", "at ", "a ", "time."]) {
        await text.push(word, true);
        vi.advanceTimersByTime(400);
      }
    } finally {
      vi.useRealTimers();
    }
    expect(streamed).toEqual(["One word at ", "a ", "time."]);
    expect(text.answer).toBe("One word at a time.");
  });

  test("a slow reader slows the model down", async () => {
    const order: string[] = [];
    let released = () => {};
    const gate = new Promise<void>((resolve) => {
      released = resolve;
    });
    const pending = run([{ text: ["a", "b"] }], {
      holdBackChars: 0,
      onEvent: async (event) => {
        order.push(event.type === "token" ? event.delta : event.type);
        await gate;
      },
    });
    await new Promise(setImmediate);
    expect(order).toEqual(["a"]);
    released();
    await pending;
    expect(order).toEqual(["a", "b"]);
  });
});

describe("a model that fails", () => {
  const codeOf = async (steps: readonly ScriptedStep[], options: Parameters<typeof run>[1] = {}) =>
    run(steps, options).then(
      () => "answered",
      (error: unknown) => (error instanceof AppError ? error.code : error),
    );

  test("half an answer is no answer", async () => {
    expect(await codeOf([{ text: "Half an", cut: true }])).toBe("MODEL_UNAVAILABLE");
  });
  test("an empty answer is asked for once more, and is none the second time", async () => {
    expect(await codeOf([{ text: " " }, { text: "" }])).toBe("MODEL_UNAVAILABLE");
  });
  test("an empty answer that met its limit is not asked for again", async () => {
    expect(await codeOf([{ text: " ", reason: "length" }])).toBe("MODEL_UNAVAILABLE");
  });
  test("any error of a model is MODEL_UNAVAILABLE", async () => {
    expect(await codeOf([{ fail: new TypeError("odd") }])).toBe("MODEL_UNAVAILABLE");
  });
  test("its own code is kept", async () => {
    expect(await codeOf([{ fail: new AppError("MODEL_TIMEOUT") }])).toBe("MODEL_TIMEOUT");
  });
  test("a model that hangs ends in MODEL_TIMEOUT, even if it ignores its signal", async () => {
    expect(await codeOf([{ stuck: true }], { modelTimeoutMs: 5 })).toBe("MODEL_TIMEOUT");
  });
  test("time that the reader takes is not the model's", async () => {
    vi.useFakeTimers();
    try {
      const busy = () => {
        vi.advanceTimersByTime(60_000);
      };
      expect(await codeOf([{ text: ["a", "b"] }], { modelTimeoutMs: 50, holdBackChars: 0, onEvent: busy })).toBe("answered");
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("an aborted turn", () => {
  test("ends while the model is still thinking", async () => {
    const controller = new AbortController();
    const pending = run([{ stuck: true }], { signal: controller.signal });
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("ends while a tool is still running, and the tool is told", async () => {
    const controller = new AbortController();
    let told = false;
    const slow = tool("slow", (_, context) => {
      context.signal.addEventListener("abort", () => {
        told = true;
      });
      controller.abort();
      return new Promise(() => {});
    });
    await expect(run([{ calls: calls("slow") }], { tools: [slow], signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(told).toBe(true);
  });
});

test("two tools of one name are refused at the start", () => {
  const model = new ScriptedModel([]);
  expect(() => new ReactAgent({ model, tools: [add, add], clock: { now: () => NOW }, logger: silentLogger })).toThrow(/same name/);
});
