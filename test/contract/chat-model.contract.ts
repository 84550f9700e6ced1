import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AppError } from "../../src/platform/errors.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelMessage, ModelRequest } from "../../src/ports/chat-model.js";
import type { Wire } from "../support/providers/wire.js";
import { WireServer } from "../support/providers/wire-server.js";

export interface ChatModelUnderTest {
  /** The provider's protocol that stands behind it. */
  readonly wire: Wire;
  /** With the key `KEY`, and at most one retry. */
  readonly make: (url: string) => ChatModel;
  /** What the wire can't do, with the reason. */
  readonly except?: { readonly signsThought?: string };
}

export const KEY = "sk-test-0123456789abcdef";
const USER: ModelMessage = { role: "user", content: "Is there opera in Vienna this week?" };
const ASK: ModelRequest = { messages: [USER] };
const SEARCH = {
  name: "search",
  description: "Searches events.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", minLength: 2, pattern: "^\\p{L}" }, day: { type: "string", format: "date" } },
  },
};
const CITY = {
  name: "answer",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
};

/** What `ports/chat-model.ts` promises, over HTTP, against a strict double of the provider. */
export function describeChatModelContract(name: string, { wire, make, except = {} }: ChatModelUnderTest): void {
  describe(`${name} keeps the contract of ChatModel`, () => {
    let server: WireServer;
    let model: ChatModel;
    beforeEach(async () => {
      server = await WireServer.open(wire);
      model = make(server.url);
    });
    afterEach(async () => {
      await server.close();
      server.assertDone();
    });

    const collect = async (request: ModelRequest = ASK, options: Partial<ModelCallOptions> = {}) => {
      const events: ModelEvent[] = [];
      for await (const event of model.stream(request, { signal: new AbortController().signal, ...options })) events.push(event);
      return events;
    };
    const failure = (request?: ModelRequest, options?: Partial<ModelCallOptions>): Promise<AppError> =>
      collect(request, options).then(
        () => expect.fail("it answered"),
        (error: AppError) => error,
      );
    const textOf = (events: readonly ModelEvent[]) => events.map((event) => (event.type === "text" ? event.delta : "")).join("");
    const said = (at: number) => {
      const received = server.requests[at];
      if (received === undefined) return expect.fail(`there was no request ${at}`);
      return received.said;
    };

    test("text streams as it comes; its end tells the reason and the usage, cached tokens among it", async () => {
      server.answer({ text: ["Yes: ", "Tosca, on Friday."] });
      const events = await collect();
      expect(textOf(events)).toBe("Yes: Tosca, on Friday.");
      expect(events.filter(({ type }) => type === "text").length).toBeGreaterThan(1);
      expect(events.at(-1)).toEqual({ type: "end", reason: "stop", usage: { input_tokens: 12, cached_tokens: 4, output_tokens: 3 } });
      expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
    });

    test("system text goes first and in one message, also what comes late; neighbours of one role become one", async () => {
      server.answer({ text: "Yes." });
      const messages: ModelMessage[] = [
        { role: "system", content: "You are a concierge." },
        { role: "system", content: "Earlier: she likes opera." },
        { role: "user", content: "Hello." },
        { role: "user", content: "Me again." },
        { role: "assistant", content: "Good evening." },
        { role: "system", content: "It is Monday." },
        USER,
      ];
      await collect({ messages });
      expect(said(0).system).toContain("You are a concierge.");
      expect(said(0).system).toContain("Earlier: she likes opera.");
      expect(said(0).turns.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
      expect(said(0).turns.at(-1)?.text).toContain("It is Monday.");
      expect(said(0).turns.at(-1)?.text).toContain("Vienna");
    });

    test.each(["chat", "extraction", "summary", "title"] as const)("a call says that it is for %s", async (task) => {
      server.answer({ text: "{}" });
      await collect({ ...ASK, task });
      expect(server.requests[0]?.headers["x-maitred-task"]).toBe(task);
    });

    test("calls come whole and after the text, each with an id of its own; they go back with their results", async () => {
      const calls = [
        { name: "search", arguments: { city: "Vienna" } },
        { name: "search", arguments: { city: "Graz" } },
      ];
      server.answer({ text: "Let me look.", calls }, { text: "Tosca." });
      const events = await collect({ ...ASK, tools: [SEARCH] });
      const made = events.flatMap((event) => (event.type === "tool_call" ? [event.call] : []));
      expect(made.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) as object }))).toEqual(calls);
      expect(new Set(made.map(({ id }) => id)).size).toBe(2);
      expect(events.at(-1)).toMatchObject({ type: "end", reason: "tool_calls" });
      await collect({ messages: [...afterCalls(events)], tools: [SEARCH] });
      expect(said(1).turns.flatMap((turn) => turn.calls.map((call) => call.arguments))).toEqual(calls.map((call) => call.arguments));
      expect(said(1).turns.flatMap(({ results }) => results)).toHaveLength(2);
      expect(said(1).tools).toEqual(["search"]);
    });

    test.skipIf(except.signsThought !== undefined)(
      "what the provider signed goes back with the calls, to it alone; thought is never answer",
      async () => {
        server.answer(
          { thought: "She wants opera.", calls: [{ name: "search", arguments: { city: "Vienna" } }] },
          { text: "Tosca." },
          { text: "Tosca." },
        );
        const events = await collect({ ...ASK, tools: [SEARCH] });
        expect(textOf(events)).toBe("");
        const messages = afterCalls(events);
        await collect({ messages, tools: [SEARCH] });
        expect(said(1).turns.some(({ signed }) => signed)).toBe(true);
        const foreign = messages.map((message) =>
          message.role === "assistant" && message.provider
            ? { ...message, provider: { by: "another", data: message.provider.data } }
            : message,
        );
        await collect({ messages: foreign, tools: [SEARCH] });
        expect(said(2).turns.some(({ signed }) => signed)).toBe(false);
      },
    );

    test("thought that stands in the text is no answer either", async () => {
      server.answer({ text: ["<thi", "nk>She wants", " opera.</th", "ink>\n\nTos", "ca."] });
      expect(textOf(await collect())).toBe("Tosca.");
    });

    test("tools are named where the history has calls, also when none is to be called", async () => {
      server.answer({ text: "Enough." });
      const call = { id: "a", name: "search", arguments: "{}" };
      const messages: ModelMessage[] = [
        USER,
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", tool_call_id: "a", content: "[]" },
      ];
      await collect({ messages, tools: [SEARCH], toolChoice: "none" });
      expect(said(0)).toMatchObject({ tools: ["search"], noCalls: true });
    });

    test.each(["{ oops", '"text"', "[1]", ""])(
      "arguments that are no JSON object (%j) don't go back; ids of any length do, fitted",
      async (broken) => {
        server.answer({ text: "Sorry." });
        const id = `chatcmpl-tool-${"0123456789".repeat(6)}`;
        const call = { id, name: "search", arguments: broken };
        const messages: ModelMessage[] = [
          USER,
          { role: "assistant", content: "", tool_calls: [call] },
          { role: "tool", tool_call_id: id, content: '{"error":"no"}' },
        ];
        await collect({ messages, tools: [SEARCH] });
        expect(said(0).turns.flatMap(({ calls }) => calls.map((each) => each.arguments))).toEqual([{}]);
      },
    );

    test.each([
      ["plain", '{"city":"Vienna"}'],
      ["fenced", 'Here it is:\n```json\n{"city":"Vienna"}\n```\nAnything else?'],
      ["in prose", 'I think {so}: {"city":"Vienna"} it is.'],
      ["after thought", '<think>{"city":"Rome"}?</think>{"city":"Vienna"}'],
    ])("JSON is one JSON value, however it was written: %s", async (_form, text) => {
      server.answer({ text });
      const events = await collect({ ...ASK, json: CITY, maxOutputTokens: 100 });
      expect(JSON.parse(textOf(events))).toEqual({ city: "Vienna" });
    });

    const PROSE = { text: "Vienna, of course." };
    const VIENNA = { text: '{"city":"Vienna"}' };

    test("[reading-bounded] where JSON mode is passed over, the next is asked for in words, and where that helps it stays so", async () => {
      server.answer(PROSE, VIENNA, VIENNA);
      const texts: string[] = [];
      for (let at = 0; at < 3; at += 1) texts.push(textOf(await collect({ ...ASK, json: CITY })));
      expect(texts).toEqual([PROSE, VIENNA, VIENNA].map(({ text }) => text));
      expect(said(1).system).toContain("JSON Schema");
      expect(said(2)).toEqual(said(1));
    });

    test("where it helps nothing, JSON is asked for as before", async () => {
      server.answer(PROSE, PROSE, VIENNA);
      for (let at = 0; at < 3; at += 1) await collect({ ...ASK, json: CITY });
      expect(server.requests[2]?.body).toEqual(server.requests[0]?.body);
    });

    test("a model that has given JSON is asked for it in the same way, whatever it answers: prose is its caller's to repair", async () => {
      server.answer(VIENNA, PROSE, PROSE, PROSE, VIENNA);
      const texts: string[] = [];
      for (let at = 0; at < 5; at += 1) texts.push(textOf(await collect({ ...ASK, json: CITY })));
      expect(texts).toEqual([VIENNA, PROSE, PROSE, PROSE, VIENNA].map(({ text }) => text));
      expect(server.requests[4]?.body).toEqual(server.requests[0]?.body);
    });

    test.each(["length", "content_filter"] as const)("an answer that was cut says so: %s", async (finish) => {
      server.answer({ text: "And then", finish });
      expect((await collect()).at(-1)).toMatchObject({ reason: finish });
    });

    test.each([
      [{ status: 401 }, "MODEL_REFUSED_REQUEST"],
      [{ status: 400, words: "Something is wrong with this." }, "MODEL_REFUSED_REQUEST"],
      [{ status: 400, words: "This model's maximum context length is 8192 tokens." }, "CONTEXT_TOO_LARGE"],
      [{ status: 400, words: "prompt is too long: 210000 tokens > 200000 maximum" }, "CONTEXT_TOO_LARGE"],
      [{ status: 400, words: "The response was filtered due to Azure OpenAI's content management policy." }, "MODEL_CONTENT_FILTER"],
      [{ status: 402, words: "Insufficient Balance" }, "MODEL_QUOTA"],
      [{ status: 429, words: "You exceeded your current quota: insufficient_quota" }, "MODEL_QUOTA"],
    ] as const)("a refusal is told by its code and asked once: %j → %s", async (fault, code) => {
      server.answer({ fault });
      expect((await failure()).code).toBe(code);
    });

    test("what may pass is tried again before the first token", async () => {
      server.answer({ fault: { status: 503, headers: { "retry-after": "0" } } }, { text: "Here." });
      expect(textOf(await collect())).toBe("Here.");
    });

    test("a wait of minutes is not waited for, but passed on", async () => {
      server.answer({ fault: { status: 429, headers: { "retry-after": "600" } } });
      expect(await failure()).toMatchObject({ code: "MODEL_QUOTA", retryAfterSeconds: 600 });
    });

    test("nor is one beyond the end of the turn", async () => {
      server.answer({ fault: { status: 503, headers: { "retry-after": "10" } } });
      expect(await failure(ASK, { deadline: performance.now() + 5_000 })).toMatchObject({
        code: "MODEL_UNAVAILABLE",
        retryAfterSeconds: 10,
      });
    });

    test("an abort ends a wait at once", async () => {
      server.answer({ fault: { status: 503, headers: { "retry-after": "15" } } });
      const stop = new AbortController();
      const pending = failure(ASK, { signal: stop.signal });
      await server.arrived(1);
      stop.abort();
      expect((await pending).code).toBe("ABORTED");
    });

    test("an abort ends a call that hangs, and its request", async () => {
      server.answer({ fault: "hang" });
      const stop = new AbortController();
      const pending = failure(ASK, { signal: stop.signal });
      await server.arrived(1);
      stop.abort();
      expect((await pending).code).toBe("ABORTED");
      await server.requests[0]?.aborted;
    });

    test("an answer that breaks off is no answer, and is not begun anew", async () => {
      server.answer({ text: ["One ", "two ", "three ", "four"], fault: "half" });
      expect((await failure()).code).toBe("MODEL_UNAVAILABLE");
    });

    test("an error holds neither the key nor what was said, whatever the provider repeats", async () => {
      server.answer({ fault: { status: 400, words: `Bearer ${KEY} asked: ${USER.content}` } });
      const shown = inspect(await failure(), { depth: 10, showHidden: true });
      expect(shown).not.toContain(KEY);
      expect(shown).not.toContain("opera");
    });
  });
}

/** The conversation as the agent goes on with it. */
function afterCalls(events: readonly ModelEvent[]): ModelMessage[] {
  const calls = events.flatMap((event) => (event.type === "tool_call" ? [event.call] : []));
  const end = events.at(-1);
  const provider = end?.type === "end" ? end.provider : undefined;
  return [
    USER,
    { role: "assistant", content: "", tool_calls: calls, ...(provider && { provider }) },
    ...calls.map(({ id }): ModelMessage => ({ role: "tool", tool_call_id: id, content: '[{"title":"Tosca"}]' })),
  ];
}
