import OpenAI from "openai";
import type { Contestant, Setting } from "../contestant.js";
import { expectFound, INSTRUCTIONS, messageOf, roundOf, roundsOf, type Said, WINDOW_MESSAGES } from "../data.js";
import { load } from "../load.js";

/** The parts of the SDK that are used. */
interface Session {
  getItems(limit?: number): Promise<object[]>;
  addItems(items: object[]): Promise<void>;
}
interface Agents {
  Agent: new (options: object) => object;
  MemorySession: new (options: { initialItems: object[] }) => Session;
  OpenAIChatCompletionsModel: new (client: unknown, model: string) => object;
  run(agent: object, input: string, options: object): Promise<{ finalOutput?: unknown }>;
  setTracingDisabled(disabled: boolean): void;
}

/** The one session that the SDK has without a service: in memory. */
export const contestant: Contestant = {
  window: async ({ sizes }) => {
    const session = await openSession(sizes.rounds);
    return {
      keeps: "in memory",
      operation: async () => expectFound(await session.getItems(WINDOW_MESSAGES), WINDOW_MESSAGES),
      close: async () => undefined,
    };
  },
  append: async ({ sizes }) => {
    const session = await openSession(sizes.rounds);
    return { keeps: "in memory", operation: (n) => session.addItems(roundOf(n).map(item)), close: async () => undefined };
  },
  turn: turns,
};

async function openSession(rounds: number): Promise<Session> {
  const { MemorySession } = (await load("@openai/agents")) as Agents;
  return new MemorySession({ initialItems: roundsOf(rounds).map(item) });
}

async function turns({ sizes, modelUrl }: Setting) {
  const { Agent, run, OpenAIChatCompletionsModel, setTracingDisabled } = (await load("@openai/agents")) as Agents;
  setTracingDisabled(true);
  const client = new OpenAI({ apiKey: "none", baseURL: modelUrl });
  const agent = new Agent({ name: "desk", instructions: INSTRUCTIONS, model: new OpenAIChatCompletionsModel(client, "stub") });
  const session = await openSession(sizes.rounds);
  const sessionInputCallback = (history: object[], input: object[]) => [...history.slice(-WINDOW_MESSAGES), ...input];
  return {
    keeps: "in memory" as const,
    operation: async (n: number) => {
      const { finalOutput } = await run(agent, messageOf(n), { session, sessionInputCallback });
      if (typeof finalOutput !== "string") throw new Error("there was no answer");
    },
    close: async () => undefined,
  };
}

function item({ role, content }: Said): object {
  if (role === "user") return { type: "message", role, content };
  return { type: "message", role, status: "completed", content: [{ type: "output_text", text: content }] };
}
