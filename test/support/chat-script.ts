import type { ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import { ScriptedModel } from "../../src/testing/scripted-model.js";

/** Scripted for the turns alone: what follows them (titles, summaries, readings) is answered without a step. */
export class ChatScript extends ScriptedModel {
  /** Whether it takes images. */
  sees = false;
  /** What was given to be read for memories. */
  readonly read: string[] = [];

  takesImages(): boolean {
    return this.sees;
  }

  override async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<ModelEvent, void, undefined> {
    if (request.task === "chat") return yield* super.stream(request, options);
    if (request.task === "extraction") this.read.push(JSON.stringify(request.messages));
    yield { type: "text", delta: request.task === "extraction" ? '{"off_record":null,"operations":[]}' : "Weather" };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  }
}
