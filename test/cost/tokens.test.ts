import { expect, onTestFinished, test } from "vitest";
import type { ChatModel } from "../../src/ports/chat-model.js";
import { openWorld, startWorld, tempDir } from "../e2e/world.js";
import { OpenAIStub } from "../support/openai-stub.js";
import { TaskModel } from "../support/task-model.js";

interface TaskTokens {
  readonly calls: number;
  readonly input: number;
  readonly estimated?: true;
}
type Told = Readonly<Record<string, TaskTokens>>;

const NONE = { calls: 0, input: 0, cached: 0, output: 0 };
const calls = (count: number) => ({ calls: count, input: count * 100, cached: count * 40, output: count * 10 });

test("[tokens-told] a session tells what its tasks have cost, the same after a restart and from a lost index, and its messages theirs", async () => {
  const dir = await tempDir();
  const first = await openWorld(dir, {}, { model: new TaskModel() });
  onTestFinished(() => first.application.close({ drainMs: 0 }));
  const { session_id, usage } = await first.as("ada").say("What is on at the opera on Friday?");
  expect(usage).toEqual({ input_tokens: 100, cached_tokens: 40, output_tokens: 10, calls: 1, cost: null });
  await first.as("ada").say("And on Saturday, in the evening?", { session_id });
  await first.stop();
  const world = await startWorld(dir, {}, { model: new TaskModel() });
  const usageOf = async () => (await world.as("ada").get<{ usage: Told }>(`/v1/sessions/${session_id}`)).body.usage;
  const told = { chat: calls(2), extraction: calls(2), summary: NONE, title: calls(1), embeddings: NONE, total: calls(5), cost: null };
  expect(await usageOf()).toEqual(told);
  await world.application.parts.rebuildIndex({});
  expect(await usageOf()).toEqual(told);
  const { body } = await world
    .as("ada")
    .get<{ data: { role: string; metadata: { tokens: Told } }[] }>(`/v1/sessions/${session_id}/messages`);
  const answers = body.data.filter(({ role }) => role === "assistant");
  expect(answers.map(({ metadata }) => metadata.tokens)).toMatchObject([
    { input_tokens: 100, chat: calls(1), extraction: calls(1) },
    { chat: calls(1), extraction: calls(1) },
  ]);
});

test("[tokens-told] a turn that fails tells what it has cost all the same: both calls of a model that said nothing", async () => {
  const usage = { input_tokens: 100, cached_tokens: 40, output_tokens: 10 };
  const model: ChatModel = {
    name: "quiet-1",
    standIn: false,
    async *stream() {
      yield { type: "end", reason: "stop", usage };
    },
  };
  const client = (await startWorld(await tempDir(), {}, { model })).as("ada");
  expect(await client.post("/v1/chat", { message: "What is on at the opera on Friday?" })).toMatchObject({ status: 502 });
  const { body } = await client.get<{ data: { usage: Told }[] }>("/v1/sessions");
  expect(body.data.map((session) => session.usage)).toMatchObject([{ chat: calls(2), total: calls(2) }]);
});

test("[tokens-told] a fork begins at nothing: what it shares was paid for elsewhere", async () => {
  const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
  const client = world.as("ada");
  const { session_id, message } = await client.say("What is on at the opera on Friday?");
  const fork = await client.post<{ usage: Told }>(`/v1/sessions/${session_id}/fork`, { message_id: message.id });
  expect(fork.body.usage).toMatchObject({ total: NONE });
});

test("[tokens-told] a provider that tells no usage is counted by estimate, which is said; its embedder too", async () => {
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  stub.chatOtherwise((body) => ({ text: body.response_format === undefined ? "Very well." : '{"off_record":null,"operations":[]}' }));
  const variables = { OPENAI_BASE_URL: stub.url, OPENAI_API: "chat", MEMORY_EMBEDDING_DIMENSIONALITY: "64", EMBEDDING_PROVIDER: "openai" };
  const world = await startWorld(await tempDir(), variables);
  const { session_id, usage: ofAnswer } = await world.as("ada").say("What is on at the opera on Friday?");
  const { usage } = (await world.as("ada").get<{ usage: Told }>(`/v1/sessions/${session_id}`)).body;
  const embeddings = stub.requests.filter(({ path }) => path === "/embeddings").length - 1;
  expect(usage.embeddings).toMatchObject({ calls: embeddings, estimated: true });
  expect(usage.embeddings?.input).toBeGreaterThan(0);
  expect(usage.chat).toMatchObject({ calls: 1, estimated: true });
  expect(usage.chat?.input).toBeGreaterThan(500);
  expect(ofAnswer).toEqual({ input_tokens: usage.chat?.input, output_tokens: expect.any(Number), calls: 1, estimated: true, cost: null });
  expect(ofAnswer.output_tokens).toBeGreaterThan(0);
  expect(usage.extraction?.calls).toBe(1);
});

test("[tokens-told] the stand-in costs nothing", async () => {
  const world = await startWorld(await tempDir());
  const { session_id } = await world.as("ada").say("What is on at the opera on Friday?");
  const { body } = await world.as("ada").get<{ usage: Told }>(`/v1/sessions/${session_id}`);
  expect(body.usage).toMatchObject({ total: NONE, cost: 0 });
});

test("each task may have a model of its own", async () => {
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  const asked: [string, string][] = [];
  stub.chatOtherwise((body) => {
    const system = String(body.messages[0]?.content);
    asked.push([body.model, system.includes("keep the notes") ? "extraction" : body.tools === undefined ? "title" : "chat"]);
    return { text: body.response_format === undefined ? "An evening out" : '{"off_record":null,"operations":[]}' };
  });
  const models = { LLM_MODEL: "big", EXTRACTION_MODEL: "small", SUMMARY_MODEL: "middle" };
  const world = await startWorld(await tempDir(), { OPENAI_BASE_URL: stub.url, EMBEDDING_PROVIDER: "hashing", ...models });
  await world.as("ada").say("What is on at the opera on Friday?");
  expect(asked.toSorted((a, b) => a[1].localeCompare(b[1]))).toEqual([
    ["big", "chat"],
    ["small", "extraction"],
    ["middle", "title"],
  ]);
});
