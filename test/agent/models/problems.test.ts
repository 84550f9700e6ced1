import { expect, test } from "vitest";
import { ModelTimeout } from "../../../src/agent/bounded-stream.js";
import { aboutEndpoint, callEndpoint, endpointOf } from "../../../src/agent/models/endpoint.js";
import { FallbackModel } from "../../../src/agent/models/fallback-model.js";
import { AppError } from "../../../src/platform/errors.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { ChatModel } from "../../../src/ports/chat-model.js";
import { ScriptedModel } from "../../../src/testing/scripted-model.js";

/** What `/readyz` says of a model. */

const REQUEST = { messages: [{ role: "user" as const, content: "Hello?" }] };

async function read(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _event of events);
}

test("what kept a fallback from answering is told as long as the first one doesn't answer either", async () => {
  const problems = new Map<string, string>();
  const model = (name: string): ChatModel => Object.assign(new ScriptedModel([], { name }), { problem: () => problems.get(name) ?? null });
  const both = new FallbackModel({ first: model("m"), second: model("n"), firstTokenMs: 1_000, logger: silentLogger });
  expect(both.problem()).toBeNull();
  problems.set("m", "It is away");
  expect(both.problem()).toBe("It is away; n answers in its place");
  problems.set("n", "It refuses");
  expect(both.problem()).toBe("It is away; n: It refuses");
  problems.delete("m");
  expect(both.problem()).toBeNull();
});

test.each([
  ["is the model's problem where the model took longer than it may", new ModelTimeout(), "The model took too long"],
  ["is not where the turn did", new AppError("MODEL_TIMEOUT", { detail: "The turn took longer than it may." }), null],
])("a call that is broken off %s", async (_name, reason, problem) => {
  const endpoint = endpointOf({}, { address: "openai-chat http://127.0.0.1:1/v1", model: "m", settings: "" });
  const asked = new AbortController();
  const call = callEndpoint(endpoint, REQUEST, { signal: asked.signal }, async function* (_request, _known, signal) {
    asked.abort(reason);
    signal.throwIfAborted();
    yield { type: "text", delta: "Hello." };
  });
  await expect(read(call)).rejects.toMatchObject({ code: "ABORTED" });
  expect(aboutEndpoint(endpoint, "").problem()).toBe(problem);
});
