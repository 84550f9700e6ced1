import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import type { ChatModel, ModelRequest } from "../../../src/ports/agent.js";
import { Mem0Reader } from "../../../src/vectors/mem0/mem0-reader.js";
import { NOW } from "../../contract/long-term.contract.js";

/** Answers as it is told, once for each answer, and throws when it is asked more often. */
class ScriptedModel implements ChatModel {
  readonly name = "scripted";
  readonly standIn = false;
  readonly requests: ModelRequest[] = [];
  answers: (string | Error)[] = [];

  async *stream(request: ModelRequest) {
    this.requests.push(request);
    const answer = this.answers.shift();
    if (answer === undefined) throw new Error("asked once too often");
    if (answer instanceof Error) throw answer;
    yield { type: "text" as const, delta: answer };
    yield { type: "end" as const, reason: "stop" as const, usage: { input_tokens: 0, output_tokens: 0 } };
  }
}

let dir: string;
const model = new ScriptedModel();
let reader: Mem0Reader;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
  reader = await Mem0Reader.open({ dir, model });
});
afterAll(() => rm(dir, { recursive: true }));

const input = {
  owner: ownerOf("default", "ann"),
  session_id: "s",
  turn: 1,
  message_id: "m",
  text: "Hello there. I love jazz, and I live in Leeds.",
  stated_at: NOW,
  time_zone: "UTC",
  context: [{ role: "assistant" as const, content: "You like polka." }],
  known: [],
};
const extract = async () => (await reader.read(input, { signal: new AbortController().signal })).operations;
const memories = (...texts: string[]) => JSON.stringify({ memory: texts.map((text, n) => ({ id: String(n), text })) });

test("what Mem0 would add becomes proposals, each with the user's sentence that it came from", async () => {
  model.answers = [memories("User loves jazz", "User lives in Leeds")];
  const proposals = await extract();
  expect(proposals.map((proposal) => [proposal.op, proposal.quote, proposal.text])).toEqual([
    ["add", "I love jazz, and I live in Leeds.", "User loves jazz"],
    ["add", "I love jazz, and I live in Leeds.", "User lives in Leeds"],
  ]);
});

test("Mem0 sees the user's own words alone", async () => {
  model.requests.length = 0;
  model.answers = [memories()];
  expect(await extract()).toEqual([]);
  expect(JSON.stringify(model.requests)).toContain("I love jazz");
  expect(JSON.stringify(model.requests)).not.toContain("polka");
});

test("what shares no word with the message is dropped: it has no quote", async () => {
  model.answers = [memories("Recommends Brand X")];
  expect(await extract()).toEqual([]);
});

test.each([
  ["a model that fails", new Error("model down")],
  ["prose", "I found nothing of note."],
])("%s is an error, not an empty result", async (_name, answer) => {
  model.answers = [answer];
  await expect(extract()).rejects.toThrow();
});
