import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { EVERYTHING } from "../../../src/agent/models/capabilities.js";
import { KnownCapabilities } from "../../../src/agent/models/known-capabilities.js";
import { openAIModel } from "../../../src/agent/models/openai-model.js";
import { ReactAgent } from "../../../src/agent/react-agent.js";
import { systemClock } from "../../../src/platform/clock.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { AnyTool, ModelMessage } from "../../../src/ports/agent.js";
import { roundMessages } from "../../../src/turn/context.js";
import { startWorld, tempDir } from "../../e2e/world.js";
import { modelDoctor } from "../../fitted/model-doctor.js";
import { SLOW } from "../../support/projects.js";
import { openFaultServer } from "../../support/providers/fault-server.js";
import { FAULTS } from "../../support/providers/faults.js";
import { type FormServer, openFormServer } from "../../support/providers/form-server.js";
import { FORMS, type Form } from "../../support/providers/forms.js";
import { TestClock } from "../../support/session-world.js";

const signal = new AbortController().signal;
const CITY = { name: "answer", schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } };

interface Rig {
  readonly model: ReturnType<typeof openAIModel>;
  readonly known: KnownCapabilities;
  readonly server: FormServer;
  readonly searched: string[];
  /** One turn; its messages are kept for the next. */
  say(text: string): Promise<string>;
}

async function withRig(form: Form, streaming: boolean, work: (rig: Rig) => Promise<void>): Promise<void> {
  const server = await openFormServer(form);
  const known = new KnownCapabilities();
  if (!streaming) known.learn(`openai-chat ${server.url}`, "m", { streaming: false });
  const model = openAIModel({ model: "m", apiKey: "k", baseUrl: server.url, known, maxRetries: 0 });
  const searched: string[] = [];
  const search: AnyTool = {
    name: "search",
    description: "Searches events.",
    parameters: z.object({ city: z.string().min(2).max(50), day: z.iso.date().optional() }),
    run: async ({ city }: { city: string }) => {
      searched.push(city);
      return { output: [{ title: "Tosca" }] };
    },
  };
  const agent = new ReactAgent({ model, tools: [search], clock: systemClock, logger: silentLogger });
  const history: ModelMessage[] = [{ role: "system", content: "You are a concierge." }];
  const say = async (text: string) => {
    const messages: ModelMessage[] = [...history, { role: "system", content: "It is Monday." }, { role: "user", content: text }];
    const context = {
      owner: "o" as never,
      sessionId: "s",
      turn: 1,
      userMessage: { id: "u", content: text },
      now: new Date(0),
      timeZone: "UTC",
      signal,
    };
    const input = { question: text, previous_conversation: [], user_context: "", page_context: null, messages };
    const result = await agent.run(input, { context });
    const round = { turn: 1, user: { body: { content: text } }, steps: result.steps, assistant: { body: { content: result.content } } };
    history.push(...roundMessages(round as never));
    return result.content;
  };
  try {
    await work({ model, known, server, searched, say });
    expect(server.problems).toEqual([]);
  } finally {
    await server.close();
  }
}

interface Told {
  readonly code?: string;
  readonly detail?: string;
  readonly message?: { readonly content: string; readonly metadata?: { readonly finish?: string } };
}

/** The whole product with a model at that address, and what it logs. */
async function loggedWorld(variables: Readonly<Record<string, string>>) {
  const logged: string[] = [];
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const env = { OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", ...variables };
  const world = await startWorld(await tempDir(), env, { logger: { debug: log, info: log, warn: log, error: log } });
  return { world, told: (): readonly string[] => logged };
}

/** A provider of the form that is asked by the whole product; closed at the end of the test. */
async function openReading(form: Form): Promise<FormServer> {
  const server = await openFormServer(form, { reads: true });
  onTestFinished(() => server.close());
  return server;
}

describe.each([
  ["streamed", true],
  ["whole", false],
])("%s", (_how, streaming) => {
  describe.each(FORMS.map((form) => [form.name, form] as const))("%s", (_name, form) => {
    test("a plain turn, a tool turn, parallel calls, and the turn after them", () =>
      withRig(form, streaming, async ({ say, searched }) => {
        expect(await say("Good evening!")).toBe("Good evening.");
        const found = form.takesNoTools ? "I can't search here." : "Tosca, on Friday.";
        expect(await say("Opera in Vienna?")).toBe(found);
        expect(await say("In Vienna or Graz?")).toBe(found);
        expect(await say("Thanks!")).toBe("Good evening.");
        expect(searched).toEqual(form.takesNoTools ? [] : ["Vienna", "Vienna", "Graz"]);
      }));

    test("JSON for a memory", () =>
      withRig(form, streaming, async ({ model }) => {
        const messages: ModelMessage[] = [
          { role: "system", content: "Extract." },
          { role: "user", content: "I live in the capital." },
        ];
        const ask = async () => {
          let text = "";
          for await (const event of model.stream({ messages, json: CITY, maxOutputTokens: 200, task: "extraction" }, { signal }))
            if (event.type === "text") text += event.delta;
          return text;
        };
        // An endpoint that passes over JSON mode in silence shows it by its first answer.
        const first = await ask();
        expect(JSON.parse(form.ignoresFormat ? await ask() : first)).toEqual({ city: "Vienna" });
      }));

    test("a bound of the answer, by the model's speed, goes where the endpoint takes one", () =>
      withRig(form, streaming, async ({ say, known, server }) => {
        known.learn(`openai-chat ${server.url}`, "m", { outputPerSecond: 20 });
        expect(await say("Good evening!")).toBe("Good evening.");
      }));

    test("what it refuses is asked for once", () =>
      withRig(form, streaming, async ({ say, server }) => {
        await say("Opera in Vienna?");
        const before = server.bodies.length;
        await say("Opera in Vienna?");
        expect(server.bodies.length - before).toBe(form.takesNoTools ? 1 : 2);
      }));
  });
});

test.each(FORMS.map((form) => [form.name, form] as const))(
  "%s: what guest, log and /readyz are told",
  { tags: [SLOW] },
  async (_name, form) => {
    const server = await openReading(form);
    const { world, told } = await loggedWorld({ OPENAI_BASE_URL: server.url, OPENAI_API: "chat", EXTRACTION_IDLE_MS: "0" });
    const guest = world.as("ada");
    const { body } = await guest.post<Told>("/v1/chat", { message: "Good evening!" });
    expect(body.message?.content).toBe("Good evening.");
    expect(await world.application.parts.worker.drain(20_000)).toBe(true);
    const refusals = told().filter((line) => line.startsWith("the model's endpoint"));
    if (form.log === undefined) expect(refusals).toEqual([]);
    else expect(refusals.join("\n")).toMatch(form.log);
    const { parts } = (await guest.get<{ parts: Record<string, { status: string }> }>("/readyz")).body;
    expect([parts.model?.status, parts.write_back?.status]).toEqual(["ok", "ok"]);
  },
);

test.each(FORMS.map((form) => [form.name, form] as const))(
  "[doctor-true] %s, as doctor tells it",
  { tags: [SLOW] },
  async (_name, form) => {
    const server = await openReading(form);
    const { stdout } = await modelDoctor(server.url, { OPENAI_API: "chat" });
    const usage = form.usage === "null" || form.usage === "none" ? ["! Model: tells no usage"] : [];
    const tools = form.takesNoTools
      ? "! Tools: no tool was called, though it was asked for"
      : "✓ Tools: calls tools, and reads what they give";
    const lines = stdout.split("\n").filter((line) => /^[✓!✗] (?:Model|Tools|Turn|Memories): /.test(line));
    expect(lines).toEqual([
      expect.stringMatching(/^✓ Model: m answers, in \d+ ms$/),
      ...usage,
      tools,
      expect.stringMatching(/^✓ Turn: a guest's first message is answered with the product's prompt and tools, /),
      // The server reads messages, and notes nothing of them.
      expect.stringMatching(/^! Memories: m reads messages, but of one it noted nothing by itself; /),
    ]);
  },
);

test("a model without tools is told that it can't act", () =>
  withRig(
    { name: "none", takesNoTools: true, refuses: ({ tools }) => (tools ? [400, { error: { message: "does not support tools" } }] : null) },
    true,
    async ({ say, server, model }) => {
      await say("Opera in Vienna?");
      expect(JSON.stringify(server.bodies.at(-1)?.messages)).toContain("You have no tools here");
      expect(model.facts().join()).toContain("takes no tools");
    },
  ));

test("nothing is learnt from an answer that has all", () =>
  withRig({ name: "all" }, true, async ({ say, known, server }) => {
    await say("Opera in Vienna?");
    // How fast it came depends on the machine.
    const { inputPerSecond: _reads, outputPerSecond: _writes, ...learnt } = known.of(`openai-chat ${server.url}`, "m");
    expect({ ...learnt, inputPerSecond: null, outputPerSecond: null }).toEqual(EVERYTHING);
  }));

test("all dialects and faults that are known stand in the table, each once", () => {
  const names = [...FORMS, ...FAULTS].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

describe("what goes wrong", () => {
  test.each(FAULTS.map((fault) => [fault.name, fault] as const))("%s", async (_name, fault) => {
    const server = await openFaultServer(fault);
    onTestFinished(() => server.close());
    const { world, told } = await loggedWorld({ OPENAI_BASE_URL: server.url, ...fault.variables });
    const guest = world.as("ada");

    const answer = await guest.post<Told>("/v1/chat", { message: "Good evening, what is on at the opera?" });
    const { code, detail = "", message } = answer.body;
    expect([answer.status, code]).toEqual([fault.guest.status, fault.guest.code]);
    if (fault.guest.says !== undefined) expect(message?.content ?? detail).toMatch(fault.guest.says);
    else if (fault.guest.status === 200) expect(message?.content).toBe("Good evening.");
    expect(message?.metadata?.finish).toBe(fault.guest.finish);
    if (fault.guest.retryAfter !== undefined) expect(answer.headers.get("retry-after")).toBe(fault.guest.retryAfter);
    expect(answer.text).not.toContain("SECRET-THOUGHT");
    expect(server.asked()).toBe(fault.asked);

    const logged = told().join("\n");
    if (fault.log === null) expect(logged).not.toMatch(/the model's endpoint/);
    else expect(logged).toMatch(fault.log);
    expect(logged).not.toMatch(/at the opera|SECRET-THOUGHT/);

    const { parts } = (await guest.get<{ parts: { model: { status: string; detail?: string } } }>("/readyz")).body;
    if (fault.readyz === "ok") expect(parts.model.status).toBe("ok");
    else expect(parts.model).toMatchObject({ status: "degraded", detail: expect.stringMatching(fault.readyz) });
  });

  test.each(FAULTS.map((fault) => [fault.name, fault] as const))("[doctor-true] %s, as doctor tells it", async (_name, fault) => {
    const server = await openFaultServer(fault);
    onTestFinished(() => server.close());
    expect((await modelDoctor(server.url, fault.variables)).stdout).toMatch(fault.doctor);
  });

  test("a limit for an hour is told for as long, with who answers in its place", async () => {
    const hour = FAULTS.find(({ name }) => name === "429 for an hour");
    if (hour === undefined) throw new Error("no such fault");
    const [refusing, answering] = [await openFaultServer(hour), await openFaultServer({ answers: () => null })];
    for (const server of [refusing, answering]) onTestFinished(() => server.close());
    const clock = new TestClock();
    const env = { OPENAI_BASE_URL: refusing.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing" };
    const fallback = { LLM_FALLBACK: "n", LLM_FALLBACK_BASE_URL: answering.url };
    const world = await startWorld(await tempDir(), { ...env, ...fallback }, { clock });
    const guest = world.as("ada");
    const modelPart = async () => (await guest.get<{ parts: { model: object } }>("/readyz")).body.parts.model;
    expect(await modelPart()).toMatchObject({ status: "ok" });
    expect((await guest.post("/v1/chat", { message: "Good evening, what is on at the opera?" })).status).toBe(200);
    const detail = expect.stringMatching(/^m: .*status 429; it asks to be left alone until \d\d:\d\d:\d\d UTC; n answers in its place/);
    expect(await modelPart()).toMatchObject({ status: "degraded", detail });
    clock.seconds(3_601);
    expect(await modelPart()).toMatchObject({ status: "ok" });
  });
});
