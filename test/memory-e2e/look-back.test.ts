import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatModel, ModelRequest } from "../../src/ports/agent.js";
import { World } from "./world.js";

/** What a turn brings in from the conversations before it, through the real history. */

const asked: ModelRequest[] = [];
const model: ChatModel = {
  name: "plain",
  standIn: false,
  async *stream(request) {
    asked.push(request);
    yield { type: "text", delta: request.json ? '{"operations":[]}' : "Very well." };
    yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
  },
};

let world: World;
beforeAll(async () => {
  world = await World.open({}, { model });
});
afterAll(() => world.close());

const QUESTION = "Which hotel did I tell you about, the Harbour House or another one?";
const ABOUT_IT = [1, 2, 3, 4, 5, 6].map((n) => `I tell you about hotel number ${n}, another Harbour House.`);

describe("a question that looks back", () => {
  test("cites what was said in another session, by number and day, and shows it to the model", async () => {
    const ada = world.guest();
    await ada.says("We stayed at the Harbour House.");
    world.clock.passDays(5);
    const { elements } = await ada.newSession().says(QUESTION);
    expect(elements[0]).toMatchObject({
      type: "text",
      name: expect.stringMatching(/^Ref #1 — 11 March/),
      content: "We stayed at the Harbour House.",
      display: "side",
    });
    const shown = asked.find(({ messages }) => JSON.stringify(messages).includes(QUESTION));
    expect(JSON.stringify(shown?.messages)).toContain("We stayed at the Harbour House.");
    world.clock.passDays(-5);
  });

  test("is not answered with what is in the window, however well that fits, but with what is not", async () => {
    const ada = world.guest();
    const said = await ada.says("We stayed at the Harbour House.");
    ada.newSession();
    for (const text of ABOUT_IT) await ada.says(text);
    const { elements } = await ada.says(QUESTION);
    const cited = elements.map(({ content }) => content);
    expect(cited).toContain("We stayed at the Harbour House.");
    expect(cited.filter((content) => ABOUT_IT.includes(content ?? ""))).toEqual([]);
    expect(said.session_id).not.toBe(ada.sessionId);
  });

  test("what asks nothing cites nothing", async () => {
    const ada = world.guest();
    await ada.says("We stayed at the Harbour House.");
    const { elements } = await ada.newSession().says("The Harbour House again tonight, please.");
    expect(elements).toEqual([]);
  });
});
