import { SummaryKeeper, type SummaryOptions } from "../../src/after-turn/summary.js";
import { silentLogger } from "../../src/platform/logger.js";
import { tokenCounterFor } from "../../src/platform/tokens.js";
import type { ChatModel, ModelRequest } from "../../src/ports/agent.js";
import { makeWorld, type World } from "../support/session-world.js";

export interface SummaryWorld extends World {
  readonly keeper: SummaryKeeper;
}

export async function makeSummaryWorld(model: ChatModel | null = null, options: Partial<SummaryOptions> = {}): Promise<SummaryWorld> {
  const world = await makeWorld();
  const { store, writer, ledger, history, registry, clock } = world;
  const counter = await tokenCounterFor("gpt-4o");
  const keeper = new SummaryKeeper(
    { store, writer, ledger, history, model, counter, gate: registry, clock, logger: silentLogger },
    { windowRounds: 10, maxTokens: 2_000, ...options },
  );
  return Object.assign(world, { keeper });
}

/** A model that answers what it was told to, in order, and keeps what it was asked. A call beyond the last answer is an error. */
export function scribe(...answers: readonly (string | Error)[]): ChatModel & { readonly asked: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  return {
    name: "scribe-1",
    standIn: false,
    asked,
    async *stream(request: ModelRequest) {
      asked.push(request.messages.map((message) => message.content).join("\n"));
      const answer = left.shift();
      if (answer === undefined) throw new Error("the model was called more often than the test expects");
      if (answer instanceof Error) throw answer;
      yield { type: "text", delta: answer };
      yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
    },
  };
}
