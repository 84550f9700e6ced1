import { z } from "zod";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import type { AnyTool, ChatModel, Domain, ModelEvent } from "../../src/ports/agent.js";
import { type MessageReader, type ProposedOperation, proposedOperationSchema } from "../../src/ports/extraction.js";
import type { FaultPoints } from "./fault-points.js";
import { likesText, rowText } from "./script.js";

/** A domain with one tool, so that an answer is appended together with a step. */
export const domain: Domain = {
  name: "crash-test",
  prompt: "You are a test.",
  categories: CONCIERGE_CATEGORIES,
  tools: [
    {
      name: "programme",
      description: "What is on.",
      parameters: z.object({}),
      run: async () => ({ output: { shows: ["one", "two"] } }),
    } as AnyTool,
  ],
};

/** Asks for the tool, then answers; it says that it stands in for a model, so that nothing else is asked of it. */
export function scriptedModel(points: FaultPoints): ChatModel {
  return {
    name: "scripted",
    standIn: true,
    async *stream({ messages }): AsyncGenerator<ModelEvent> {
      points.reach("model:before");
      const usage = { input_tokens: 1, output_tokens: 1 };
      const last = messages.at(-1);
      if (last?.role !== "tool") {
        yield { type: "tool_call", call: { id: "call", name: "programme", arguments: "{}" } };
        yield { type: "end", reason: "tool_calls", usage };
        return;
      }
      yield { type: "text", delta: "Very well. " };
      points.reach("model:streaming");
      yield { type: "text", delta: "I will see to it." };
      yield { type: "end", reason: "stop", usage };
    },
  };
}

/** Finds what the script says. The order differs from call to call and, by the seed, from process to process, as a model's would. */
export function unsteadyReader(seed: number): MessageReader {
  let calls = seed;
  return {
    name: "unsteady",
    async read({ text }) {
      calls += 1;
      const operations = [
        ...[...text.matchAll(/I like the band (\p{L}+)/gu)].map(([quote, name = ""]) => proposal(quote, likesText(name), "artist", name)),
        ...[...text.matchAll(/I usually sit in row (\d+)/gu)].map(([quote, row]) =>
          proposal(quote, rowText(Number(row)), "seating", "row"),
        ),
      ];
      return { operations: calls % 2 === 0 ? operations : operations.reverse(), off_record: null, unreadable: 0 };
    },
  };
}

function proposal(quote: string, text: string, category: string, aspect: string): ProposedOperation {
  return proposedOperationSchema.parse({ op: "add", quote, text, about: quote, category, aspect, confidence: 0.9 });
}
