import { setImmediate as nextTick } from "node:timers/promises";
import type { ChatModel, ModelEvent, ModelRequest, OfflineScript, ScriptMove } from "maitred";
import { MaitredError } from "maitred/stand-in";
import { toView } from "./script-view.js";

/**
 * Stands in where no model is configured: plays a domain's script through the same port, tool calls and all.
 * Deterministic: the same messages and tools give the same events. It understands nothing beyond its script.
 * Tokens are words; usage is 0, as no tokenizer is involved. Writes no JSON: @throws MODEL_UNAVAILABLE when asked to.
 */
export class OfflineModel implements ChatModel {
  readonly name: string;
  readonly standIn = true;
  readonly #script: OfflineScript;

  constructor({ script }: { readonly script: OfflineScript }) {
    this.#script = script;
    this.name = `OfflineModel (${this.#script.name})`;
  }

  async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<ModelEvent, void, undefined> {
    if (options.signal.aborted) throw new MaitredError("ABORTED", { cause: options.signal.reason });
    if (request.json !== undefined)
      throw new MaitredError("MODEL_UNAVAILABLE", { detail: "The stand-in for a model plays a script; it can't write JSON." });
    // A script reads a long message for some milliseconds at each step: each is a turn of the event loop.
    await nextTick();
    const view = toView(request);
    const move = this.#script.next(view);
    const calls = request.messages.reduce(
      (sum, message) => sum + (message.role === "assistant" ? (message.tool_calls?.length ?? 0) : 0),
      0,
    );
    yield* eventsOf(move, view.tools.size > 0, calls, options.signal);
  }
}

async function* eventsOf(
  move: ScriptMove,
  mayCall: boolean,
  calledBefore: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const usage = { input_tokens: 0, output_tokens: 0 };
  if (move.type === "call" && mayCall) {
    for (const [index, call] of move.calls.entries()) {
      // Numbered on from the calls in the messages: the same conversation gives the same ids, and none twice in a turn.
      const id = `call_${calledBefore + index + 1}`;
      yield { type: "tool_call", call: { id, name: call.name, arguments: JSON.stringify(call.arguments) } };
    }
    yield { type: "end", reason: "tool_calls", usage };
    return;
  }
  const text = move.type === "say" ? move.text : "I could not finish this in the steps that I have. Please ask for a part of it.";
  for (const delta of text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [text]) {
    if (signal.aborted) throw new MaitredError("ABORTED", { cause: signal.reason });
    yield { type: "text", delta };
  }
  yield { type: "end", reason: "stop", usage };
}
