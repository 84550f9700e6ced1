import type { ChatModel, ModelEvent } from "../../src/ports/agent.js";

/** A model that takes no time: what is left of a turn is Maitred's. */
export const atOnce: ChatModel = {
  name: "at once",
  standIn: true,
  async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
    yield { type: "text", delta: "Very well." };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  },
};
