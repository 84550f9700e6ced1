import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { ToolBox, toolSpecs } from "../../src/agent/tool-box.js";
import { ownerOf } from "../../src/domain/owner.js";
import { type BeforeTool, createMaitred, defineTool, MaitredError, type ToolContext } from "../../src/index.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { AnyTool } from "../../src/ports/agent.js";
import { TaskModel } from "../support/task-model.js";

interface Room {
  readonly name: string;
  readonly free: Date;
  readonly view?: string | undefined;
}
const FREE = new Date("2026-03-11T10:00:00Z");
const room = (beds: number): Room => ({ name: `${beds} beds`, free: FREE, view: undefined });
const rooms = { name: "find_rooms", description: "Lists free rooms." };
const told = {
  type: "object",
  properties: { beds: { type: "integer", description: "At least as many." }, view: { type: "string", enum: ["sea", "yard"] } },
  required: ["beds"],
};

const ofZod4 = defineTool({
  ...rooms,
  parameters: z.object({ beds: z.int().describe("At least as many."), view: z.enum(["sea", "yard"]).optional() }),
  run: ({ beds, view }) => {
    expectTypeOf(beds).toEqualTypeOf<number>();
    expectTypeOf(view).toEqualTypeOf<"sea" | "yard" | undefined>();
    return room(beds);
  },
});
const ofZod3 = defineTool({
  ...rooms,
  parameters: z3.object({ beds: z3.number().int().describe("At least as many."), view: z3.enum(["sea", "yard"]).optional() }),
  run: ({ beds, view }) => {
    expectTypeOf(beds).toEqualTypeOf<number>();
    expectTypeOf(view).toEqualTypeOf<"sea" | "yard" | undefined>();
    return room(beds);
  },
});
const ofJsonSchema = defineTool({
  ...rooms,
  parameters: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { beds: { type: "integer", description: "At least as many." }, view: { type: "string", enum: ["sea", "yard"] } },
    required: ["beds"],
  },
  run: ({ beds, view }) => {
    expectTypeOf(beds).toEqualTypeOf<number>();
    expectTypeOf(view).toEqualTypeOf<"sea" | "yard" | undefined>();
    return room(beds);
  },
});

const context: Omit<ToolContext, "callId"> = {
  owner: ownerOf("default", "ada"),
  sessionId: "s",
  turn: 1,
  userMessage: { id: "m", content: "A room, please." },
  now: FREE,
  timeZone: "UTC",
  signal: new AbortController().signal,
};
function call(tool: AnyTool, input: unknown, more: { readonly beforeTool?: BeforeTool; readonly consent?: string } = {}) {
  const box = new ToolBox({ tools: [tool], maxOutputChars: 16_000, logger: silentLogger, beforeTool: more.beforeTool });
  const consent = more.consent === undefined ? {} : { consent: more.consent };
  return box.run({ id: "c", name: tool.name, arguments: JSON.stringify(input) }, 0, { ...context, ...consent, callId: "c" });
}

test("what a tool throws is logged with its place, and without its words", async () => {
  const logged: object[] = [];
  const logger = { ...silentLogger, error: (fields: object) => void logged.push(fields) };
  const run = () => {
    throw new TypeError("Ada's card\n    at 4111 is not a number");
  };
  const tool = defineTool({ name: "charge", description: "Charges.", parameters: z.object({}), looksUp: true, run });
  const box = new ToolBox({ tools: [tool], maxOutputChars: 16_000, logger });
  const { error } = await box.run({ id: "c", name: "charge", arguments: "{}" }, 0, { ...context, callId: "c" });
  expect(error).toBe("charge failed.");
  expect(logged).toEqual([{ tool: "charge", error: "TypeError", at: expect.stringMatching(/define-tool\.test\.ts:\d+/) }]);
});

describe.each<[string, AnyTool]>([
  ["zod 4", ofZod4],
  ["zod 3", ofZod3],
  ["JSON Schema", ofJsonSchema],
])("a tool whose parameters are of %s", (_, tool) => {
  test("is told to the model as what it takes", () => {
    expect(toolSpecs([tool])[0]?.parameters).toMatchObject(told);
  });

  test("runs on what fits, and gives any plain value as JSON", async () => {
    expect(await call(tool, { beds: 2, view: "sea" })).toMatchObject({
      error: null,
      output: { name: "2 beds", free: "2026-03-11T10:00:00.000Z" },
    });
  });

  test("doesn't run on what doesn't fit; the model is told what is wrong", async () => {
    expect((await call(tool, { beds: "two" })).error).toMatch(/not valid: beds: /);
    expect((await call(tool, { beds: 2, view: "moon" })).error).toMatch(/not valid: view: /);
  });
});

test("a schema of zod 3 is told with its kinds", () => {
  const schema = z3.object({
    when: z3.object({ day: z3.string(), at: z3.string().nullable().default(null) }).strict(),
    seats: z3.array(z3.union([z3.number(), z3.literal("any")])),
    extras: z3.record(z3.boolean()).optional(),
    kind: z3
      .string()
      .brand("kind")
      .refine((kind) => kind !== ""),
    trimmed: z3.string().transform((text) => text.trim()),
    odd: z3.bigint().catch(0n),
  });
  const spec = toolSpecs([defineTool({ ...rooms, parameters: schema, run: () => null })])[0]?.parameters;
  expect(spec).toEqual({
    $schema: undefined,
    type: "object",
    properties: {
      when: {
        type: "object",
        properties: { day: { type: "string" }, at: { anyOf: [{ type: "string" }, { type: "null" }] } },
        required: ["day"],
      },
      seats: { type: "array", items: { anyOf: [{ type: "number" }, { const: "any" }] } },
      extras: { type: "object", additionalProperties: { type: "boolean" } },
      kind: { type: "string" },
      trimmed: { type: "string" },
      odd: {},
    },
    required: ["when", "seats", "kind", "trimmed"],
  });
});

describe("a schema of another library", () => {
  const validate = (value: unknown) => {
    const beds = (value as { readonly beds?: unknown }).beds;
    return typeof beds === "number" ? { value: { beds } } : { issues: [{ message: "no number", path: [{ key: "beds" }] }] };
  };

  test("is used by what the standard says of it", async () => {
    const jsonSchema = { input: () => ({ type: "object", properties: { beds: { type: "number" } } }) };
    const parameters = { "~standard": { version: 1, vendor: "another", validate, jsonSchema } } as const;
    const tool = defineTool({ ...rooms, parameters, run: (input) => input });
    expect(toolSpecs([tool])[0]?.parameters).toMatchObject({ properties: { beds: { type: "number" } } });
    expect((await call(tool, { beds: 2 })).output).toEqual({ beds: 2 });
    expect((await call(tool, {})).error).toMatch(/beds: no number/);
  });

  test("that can't be told as JSON Schema needs one beside it", () => {
    const parameters = { "~standard": { version: 1, vendor: "another", validate } } as const;
    expect(() => defineTool({ ...rooms, parameters, run: () => null })).toThrow(expect.objectContaining({ code: "INVALID_CONFIG" }));
    const tool = defineTool({ ...rooms, parameters, jsonSchema: { type: "object", title: "Rooms" }, run: () => null });
    expect(toolSpecs([tool])[0]?.parameters).toMatchObject({ title: "Rooms" });
  });
});

test("what is no schema, and a name that models refuse, are refused at once", () => {
  const make = (name: string, parameters: object) => () => defineTool({ ...rooms, name, parameters: parameters as never, run: () => null });
  expect(make("find rooms", z.object({}))).toThrow(/can't name a tool/);
  expect(make("find_rooms", { type: "object", properties: { a: { type: "of its own" } } })).toThrow(/parameters of the tool find_rooms/);
});

test("a definition without its parts, or with unknown ones, is refused in words", () => {
  const define = (definition?: object) => () => defineTool(definition as never);
  expect(define()).toThrow(/"undefined" can't name a tool.*`description` is missing.*`parameters` is missing.*`run` is missing/s);
  const whole = { ...rooms, parameters: z.object({}), run: () => null };
  expect(define({ ...whole, parameters: "beds" })).toThrow(/The tool "find_rooms": `parameters` is missing/);
  expect(define({ ...whole, bind: {} })).toThrow(/The tool "find_rooms": there is no field `bind` here; did you mean `binds`\?/);
});

test("what is shown and what it rests on come from the output", async () => {
  const tool = defineTool({
    ...rooms,
    parameters: z.object({ beds: z.int() }),
    run: async ({ beds }) => room(beds),
    elements: ({ name }) => [{ id: name, type: "room", name, content: "{}", display: "inline" }],
    sources: ({ name }) => [{ id: name, title: name, type: "room" }],
  });
  const { result } = await call(tool, { beds: 3 });
  expect(result).toMatchObject({ elements: [{ id: "3 beds" }], sources: [{ id: "3 beds" }] });
});

describe("the hook before a tool", () => {
  test("is given the call as the tool is, and lets it run by saying nothing", async () => {
    const seen: unknown[] = [];
    const beforeTool: BeforeTool = ({ tool, input, context: { owner } }) => void seen.push([tool, input, owner]);
    expect(await call(ofZod4, { beds: 2 }, { beforeTool })).toMatchObject({ error: null });
    expect(seen).toEqual([["find_rooms", { beds: 2 }, context.owner]]);
  });

  test("refuses a call, and the model is told why", async () => {
    const outcome = await call(ofZod4, { beds: 2 }, { beforeTool: async () => ({ refuse: "Rooms are for members." }) });
    expect(outcome).toMatchObject({ error: "Rooms are for members.", output: null, result: null });
  });

  test("has the user asked: the call runs once they approved just this one, whatever the order of its arguments", async () => {
    const beforeTool: BeforeTool = () => ({ ask: "Book it for €90?" });
    const asked = await call(ofZod4, { beds: 2, view: "sea" }, { beforeTool });
    expect(asked).toMatchObject({ error: null, output: { needs_approval: "Book it for €90?" } });
    const element = asked.result?.elements?.[0];
    expect(element).toMatchObject({ type: "approval", name: "find_rooms" });
    const { token, question, input } = JSON.parse(element?.content ?? "");
    expect([question, input]).toEqual(["Book it for €90?", { beds: 2, view: "sea" }]);
    expect((await call(ofZod4, { view: "sea", beds: 2 }, { beforeTool, consent: token })).output).toMatchObject({ name: "2 beds" });
    expect((await call(ofZod4, { beds: 3, view: "sea" }, { beforeTool, consent: token })).output).toMatchObject({ needs_approval: /90/ });
  });

  test("has an input of its own: what it changes or keeps is not what was checked, and not what runs", async () => {
    const kept: { beds: number; guests: string[]; at: Date }[] = [];
    const ran: unknown[] = [];
    const tool = defineTool({
      ...rooms,
      parameters: z.object({ beds: z.int(), guests: z.array(z.string()), at: z.coerce.date(), more: z.unknown() }),
      looksUp: true,
      run: async (input) => {
        // While it runs, the hook still has what it kept.
        kept[0]?.guests.push("another");
        kept[0]?.at.setFullYear(1999);
        ran.push(input);
        return room(input.beds);
      },
    });
    const beforeTool: BeforeTool = ({ input }) => {
      const given = input as { beds: number; guests: string[]; at: Date; more: { view: string } };
      given.beds = 200;
      given.guests.length = 0;
      given.at.setTime(0);
      given.more.view = "yard";
      kept.push(given);
    };
    const said = { beds: 2, guests: ["Ida"], at: FREE.toISOString(), more: { view: "sea" } };
    expect(await call(tool, said, { beforeTool })).toMatchObject({ error: null, input: said });
    expect(ran).toEqual([{ ...said, at: FREE }]);
  });

  test("is given what a schema made as it is: dates, sets, and objects of a class", async () => {
    const seen: unknown[] = [];
    const parameters = z.object({
      page: z.string().transform((text) => new URL(text)),
      tags: z.array(z.string()).transform((all) => new Set(all)),
    });
    const tool = defineTool({ ...rooms, parameters, looksUp: true, run: ({ page, tags }) => ({ host: page.host, tags: tags.size }) });
    const outcome = await call(
      tool,
      { page: "https://rooms.example/", tags: ["a", "b"] },
      { beforeTool: ({ input }) => void seen.push(input) },
    );
    expect(outcome.output).toEqual({ host: "rooms.example", tags: 2 });
    expect(seen).toEqual([{ page: new URL("https://rooms.example/"), tags: new Set(["a", "b"]) }]);
  });

  test("that throws keeps the call from running, and gives nothing away but an MaitredError's words", async () => {
    const failing = (error: Error) => call(ofZod4, { beds: 2 }, { beforeTool: () => Promise.reject(error) });
    expect((await failing(new Error("the vault's password is 1234"))).error).toBe("find_rooms failed.");
    expect((await failing(new MaitredError("MEMORY_REFUSED", { detail: "No.", hint: "Ask." }))).error).toBe("No. Ask.");
  });
});

describe("in a turn", () => {
  test("a tool asks first and runs at the press of its button; the hook after the turn is told, once for a key", async () => {
    const done: string[] = [];
    const said: string[] = [];
    const book = defineTool({
      name: "book_room",
      description: "Books a room.",
      parameters: z.object({ beds: z.int() }),
      run: ({ beds }) => done.push(`${beds} beds`),
    });
    const model = new TaskModel();
    const call = { name: "book_room", arguments: { beds: 2 } };
    model.replies.push(call, "Shall I book it?", call, "It is booked.");
    const maitred = await createMaitred({
      shortTermBackend: "memory",
      embeddingProvider: "hashing",
      mem0Enabled: false,
      model,
      prompt: "You let rooms.",
      tools: [book],
      beforeTool: ({ tool }) => (tool === "book_room" ? { ask: "Book it?" } : undefined),
      afterTurn: ({ tenant, user, message, answer }) => {
        said.push(`${tenant}/${user}: ${message} – ${answer.message.content}`);
        throw new Error("logged, and nobody minds");
      },
    });
    try {
      const ada = maitred.for({ user: "ada", tenant: "acme" });
      const asked = await ada.chat("Book a room for two.", { idempotencyKey: "k" });
      await ada.chat("Book a room for two.", { idempotencyKey: "k" });
      expect(done).toEqual([]);
      const { token } = JSON.parse(asked.elements[0]?.content ?? "");
      await ada.chat("Yes.", { sessionId: asked.session_id, consent: token });
      expect(done).toEqual(["2 beds"]);
    } finally {
      await maitred.close();
    }
    expect(said).toEqual(["acme/ada: Book a room for two. – Shall I book it?", "acme/ada: Yes. – It is booked."]);
  });

  test("what the hook refuses stays on record: the call, and why it did not run", async () => {
    const model = new TaskModel();
    model.replies.push({ name: "find_rooms", arguments: { beds: 2 } }, "Rooms are for members.");
    const maitred = await createMaitred({
      shortTermBackend: "memory",
      embeddingProvider: "hashing",
      mem0Enabled: false,
      model,
      prompt: "You let rooms.",
      tools: [ofZod4],
      beforeTool: () => ({ refuse: "Rooms are for members." }),
    });
    try {
      const ada = maitred.for({ user: "ada" });
      const { session_id } = await ada.chat("A room for two.");
      const { steps } = await ada.sessions.thread(session_id);
      const calls = steps.filter(({ type }) => type === "tool_call");
      expect(calls).toMatchObject([{ name: "find_rooms", input: { beds: 2 }, output: { error: "Rooms are for members." } }]);
    } finally {
      await maitred.close();
    }
  });

  test("an agent of one's own answers, with the tools that it was given", async () => {
    const maitred = await createMaitred({
      shortTermBackend: "memory",
      embeddingProvider: "hashing",
      prompt: "You let rooms.",
      tools: [ofZod4],
      agent: ({ tools, model }) => ({
        modelName: `own over ${model.name}`,
        standIn: false,
        run: async ({ question }, { context: { owner } }) => ({
          content: `${owner} asked “${question}”. I have ${tools.map(({ name }) => name).join(", ")}.`,
          steps: [],
          elements: [],
          sources: [],
          usage: { input_tokens: 0, output_tokens: 0 },
          model: "own",
          modelMs: 0,
        }),
      }),
    });
    try {
      const { message } = await maitred.for({ user: "ada" }).chat("A room?");
      expect(message.content).toMatch(/^default:ada asked “A room\?”\. I have find_rooms, .*search_history/);
    } finally {
      await maitred.close();
    }
  });
});
