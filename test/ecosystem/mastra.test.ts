import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/ai-sdk.js";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";

interface Context {
  get(name: string): string;
}
interface Asking {
  readonly requestContext: Context;
}
interface Mastra {
  Agent: new (
    options: object,
  ) => {
    generate(message: string, options: Asking): Promise<{ text: string }>;
    stream(message: string, options: Asking): Promise<{ text: Promise<string> }>;
  };
  createTool(options: object): object;
  RequestContext: new (entries: [string, string][]) => Context;
}

const tokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { inputTokens: tokens, outputTokens: { total: 0, text: 0, reasoning: 0 } };
const stop = { unified: "stop", raw: "stop" } as const;

needing("ecosystem")("@mastra/core with a model that remembers", () => {
  let maitred: Maitred;
  let mastra: Mastra;
  beforeAll(async () => {
    maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", recallDeadlineMs: 30_000 });
    const parts = ["agent", "tools", "request-context"].map((part) => loadFromEcosystem(`@mastra/core/${part}`));
    mastra = Object.assign({}, ...(await Promise.all(parts))) as Mastra;
  });
  afterAll(() => maitred.close());

  test("[owner-isolation] one agent serves many by the request's context: a loop of tools is kept once, a stream when it ends", async () => {
    const call = { type: "tool-call", toolCallId: "c1", toolName: "seats", input: "{}" } as const;
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? { content: [{ type: "text", text: "F7 is free." }], finishReason: stop, usage, warnings: [] }
          : { content: [call], finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage, warnings: [] },
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: "stream-start", warnings: [] },
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "A trio " },
            { type: "text-delta", id: "1", delta: "at nine." },
            { type: "text-end", id: "1" },
            { type: "finish", finishReason: stop, usage },
          ],
        }),
      }),
    });
    const seats = mastra.createTool({ id: "seats", description: "Free seats", inputSchema: z.object({}), execute: async () => "F7" });
    const agent = new mastra.Agent({
      id: "desk",
      name: "desk",
      instructions: "You are a concierge.",
      tools: { seats },
      model: ({ requestContext }: Asking) =>
        withMemory(model, { user: maitred.for({ user: requestContext.get("user") }), thread: requestContext.get("thread") }),
    });
    const asking = (user: string, thread: string): Asking => ({
      requestContext: new mastra.RequestContext(Object.entries({ user, thread })),
    });
    const kept = async (user: MaitredUser, thread: string) =>
      (await user.sessions.messages({ thread })).data.map(({ role, content }) => `${role}: ${content}`);
    const [ada, ben] = ["ada", "ben"].map((user) => maitred.for({ user })) as [MaitredUser, MaitredUser];

    const first = "I need step-free access. Which seats are free?";
    expect((await agent.generate(first, asking("ada", "first"))).text).toBe("F7 is free.");
    await ada.sessions.flush({ thread: "first" });
    expect(await kept(ada, "first")).toEqual([`user: ${first}`, "assistant: F7 is free."]);

    expect(await (await agent.stream("Anything tonight?", asking("ada", "second"))).text).toBe("A trio at nine.");
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).toContain("Needs step-free access");
    expect(await kept(ada, "second")).toEqual(["user: Anything tonight?", "assistant: A trio at nine."]);

    expect(await (await agent.stream("Anything tonight?", asking("ben", "second"))).text).toBe("A trio at nine.");
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).not.toContain("step-free");
    expect((await ben.memories.list()).data).toEqual([]);
  });
});
