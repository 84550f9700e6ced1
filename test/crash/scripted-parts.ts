import { z } from "zod";
import type { AnyTool, ChatModel, Domain, ModelEvent } from "../../src/agent.js";
import { type Extractor, type ProposedOperation, type Statement, statementSchema } from "../../src/long-term.js";
import type { FaultPoints } from "./fault-points.js";
import { likesText, rowText } from "./script.js";

/** A domain with one tool, so that an answer is appended together with a step. */
export const domain: Domain = {
  name: "crash-test",
  prompt: "You are a test.",
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
export function unsteadyExtractor(seed: number): Extractor {
  let calls = seed;
  return {
    name: "unsteady",
    async extract({ text }) {
      calls += 1;
      const proposals: ProposedOperation[] = [
        ...[...text.matchAll(/I like the band (\p{L}+)/gu)].map(
          ([quote, name = ""]): ProposedOperation => ({
            op: "add",
            quote,
            statement: statement(likesText(name), "artist", name),
          }),
        ),
        ...[...text.matchAll(/I usually sit in row (\d+)/gu)].map(
          ([quote, row]): ProposedOperation => ({ op: "add", quote, statement: statement(rowText(Number(row)), "seating", "row") }),
        ),
      ];
      return calls % 2 === 0 ? proposals : proposals.reverse();
    },
  };
}

function statement(text: string, category: string, aspect: string): Statement {
  return statementSchema.parse({ text, category, aspect, confidence: 0.9 });
}
