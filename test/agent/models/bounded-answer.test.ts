import { expect, test } from "vitest";
import { MAX_ANSWER_CHARS } from "../../../src/agent/token-meter.js";
import { createMaitred } from "../../../src/index.js";
import type { ModelEvent } from "../../../src/ports/chat-model.js";

/** A model that writes on until nobody reads. */
function endless(delta: string) {
  let written = 0;
  return {
    written: () => written,
    name: "endless",
    standIn: false,
    async *stream(): AsyncGenerator<ModelEvent> {
      for (;;) {
        written += delta.length;
        yield { type: "text", delta };
      }
    },
  };
}

test("an answer without end is cut as one that came to its limit, and kept with its turn", async () => {
  const model = endless("so 🎷 ");
  const maitred = await createMaitred({ model, prompt: "You help.", shortTermBackend: "memory", embeddingProvider: "hashing" });
  try {
    const ada = maitred.for({ user: "ada" });
    const { message, session_id, usage } = await ada.chat("Tell me all.");
    expect(message.content.length).toBeGreaterThan(MAX_ANSWER_CHARS - 2);
    expect(message.content.length).toBeLessThanOrEqual(MAX_ANSWER_CHARS);
    expect(message.content, "no half of a pair").not.toMatch(/[\uD800-\uDBFF]$/);
    expect(model.written()).toBeLessThan(MAX_ANSWER_CHARS + 100);
    expect([message.metadata?.finish, usage.estimated]).toEqual(["length", true]);
    const { steps } = await ada.sessions.thread(session_id);
    expect(steps.map(({ output }) => output)).toEqual(["Tell me all.", message.content]);
  } finally {
    await maitred.close();
  }
});
