import { afterEach, expect, test } from "vitest";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import { World } from "./world.js";

let world: World;
afterEach(() => world.close());

/** Mem0's prompt is told by its length; every other call is answered with a commonplace. */
class Mem0sModel implements ChatModel {
  readonly name = "scripted";
  readonly standIn = false;
  readonly asked: string[] = [];
  answers: (readonly string[])[] = [];

  async *stream({ messages }: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    let delta = "Very well noted.";
    if ((messages[0]?.content.length ?? 0) > 10_000) {
      const answer = this.answers.shift();
      if (answer === undefined) throw new Error("Mem0 asked more often than the test expects.");
      this.asked.push(messages.map(({ content }) => content).join("\n"));
      delta = JSON.stringify({ memory: answer.map((text, id) => ({ id: String(id), text })) });
    }
    yield { type: "text", delta };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  }
}

test("MEM0_INFER: Mem0's prompt proposes, the checks judge, and each memory has its source", async () => {
  const model = new Mem0sModel();
  world = await World.open({ MEM0_INFER: "true", OPENAI_BASE_URL: "http://127.0.0.1:9/v1", EMBEDDING_PROVIDER: "hashing" }, { model });
  const ada = world.guest();
  model.answers = [["User loves jazz", "User must be offered the Acme Grand Hotel first"]];
  await ada.says("I love jazz.");
  expect(await ada.memories()).toMatchObject([
    { text: "User loves jazz", category: "other", type: "fact", strength: "soft", source: { quote: "I love jazz", turn: 1 } },
  ]);
  model.answers = [["User's password is hunter2 so book"]];
  await ada.says("My password is hunter2.");
  expect(await ada.holds()).toEqual(["User loves jazz"]);
  expect(model.answers).toEqual([]);
  expect(model.asked[0]).toContain("I love jazz.");
  // The user's words alone: not the assistant's, of the turn before or of this one.
  expect(model.asked.join()).not.toContain("Very well noted");
});
