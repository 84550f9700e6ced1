import { afterEach, beforeEach, expect, test } from "vitest";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";
import { MaitredSession } from "../../src/openai-agents.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";

/** The parts of the SDK that the test uses. */
interface Agents {
  Agent: new (options: object) => object;
  run(agent: object, input: string, options: { session: object }): Promise<{ finalOutput?: unknown }>;
  Usage: new () => object;
  setTracingDisabled(disabled: boolean): void;
  tool(options: object): object;
}
type Item = { type?: string; role?: string; content?: unknown; name?: string };

needing("ecosystem")("@openai/agents with a Maitred session", () => {
  let maitred: Maitred;
  let rosa: MaitredUser;
  beforeEach(async () => {
    maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", mem0Enabled: false });
    rosa = maitred.for({ user: "rosa" });
  });
  afterEach(() => maitred.close());

  test("the runner keeps and replays turns and tool calls, resumes, and takes back", async () => {
    const { Agent, run, Usage, setTracingDisabled, tool } = (await loadFromEcosystem("@openai/agents")) as Agents;
    setTracingDisabled(true);
    const { z } = (await loadFromEcosystem("zod")) as typeof import("zod");
    const seats = tool({
      name: "seats",
      description: "Free seats",
      parameters: z.object({ row: z.string() }),
      execute: async () => "F7, F8",
    });
    const inputs: Item[][] = [];
    const say = (text: string) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });
    const script: object[][] = [
      [{ type: "function_call", callId: "c1", name: "seats", arguments: '{"row":"F"}', status: "completed" }],
      [say("Row F has two seats on the aisle.")],
      [say("You asked for row F.")],
    ];
    const model = {
      async getResponse({ input }: { input: Item[] }) {
        inputs.push(structuredClone(input));
        const output = script.shift();
        if (output === undefined) throw new Error("the model was not expected to be called again");
        return { usage: new Usage(), output };
      },
      getStreamedResponse: () => {
        throw new Error("not expected");
      },
    };
    const agent = new Agent({ name: "desk", instructions: "Help.", model, tools: [seats] });
    const session = new MaitredSession<Item>({ user: rosa, thread: "s-1" });

    const first = await run(agent, "Two opera seats in row F, please", { session });
    expect(first.finalOutput).toBe("Row F has two seats on the aisle.");
    const resumed = new MaitredSession<Item>({ user: rosa, thread: "s-1" });
    expect(await resumed.getSessionId()).toBe("s-1");
    await run(agent, "What did I ask for?", { session: resumed });

    expect(inputs.at(-1)?.map(({ type, role }) => role ?? type)).toEqual([
      "user",
      "function_call",
      "function_call_result",
      "assistant",
      "user",
    ]);
    expect((await resumed.getItems()).map(({ type, role }) => role ?? type)).toEqual([
      "user",
      "function_call",
      "function_call_result",
      "assistant",
      "user",
      "assistant",
    ]);
    expect((await resumed.getItems(2)).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await rosa.history.search("opera seats", { limit: 1 }))[0]?.content).toBe("Two opera seats in row F, please");

    expect((await resumed.popItem())?.role).toBe("assistant");
    expect(await resumed.getItems()).toHaveLength(5);
    await resumed.clearSession();
    expect(await resumed.getItems()).toEqual([]);
    expect(await resumed.popItem()).toBeUndefined();
    expect(await maitred.history.residue(rosa.owner)).toBe(0);
    expect(script).toEqual([]);
  });

  test("[owner-isolation] another user's session of the same id is another session", async () => {
    const mine = new MaitredSession<Item>({ user: rosa, thread: "same" });
    const theirs = new MaitredSession<Item>({ user: maitred.for({ user: "other" }), thread: "same" });
    await mine.addItems([{ role: "user", content: "mine alone" }]);
    expect(await theirs.getItems()).toEqual([]);
    await theirs.clearSession();
    expect(await mine.getItems()).toHaveLength(1);
  });

  test("what was said in the thread without the SDK is a message too, and a session of Maitred's own id is gone on with", async () => {
    const { session_id: sessionId } = await rosa.add([
      { role: "user", content: "Two seats, please" },
      { role: "tool", name: "seats", content: "F7" },
      { role: "assistant", content: "F7 is free." },
    ]);
    const session = new MaitredSession<Item>({ user: rosa, sessionId });
    await session.addItems([{ type: "function_call", name: "book" }]);
    expect(await session.getItems()).toEqual([
      { type: "message", role: "user", content: "Two seats, please" },
      { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "F7 is free." }] },
      { type: "function_call", name: "book" },
    ]);
    await rosa.sessions.archive(sessionId);
    await expect(session.addItems([{ role: "user", content: "Still there?" }])).rejects.toMatchObject({ code: "SESSION_NOT_ACTIVE" });
    const none = new MaitredSession<Item>({ user: rosa, sessionId: "018f3c1e-0000-7000-8000-000000000000" });
    expect(await none.getItems()).toEqual([]);
    await expect(none.addItems([{ role: "user", content: "Hello" }])).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});
