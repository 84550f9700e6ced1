import type { Owner } from "../../domain/owner.js";
import type { TaskTokens } from "../../domain/tokens.js";
import { cutText } from "../../platform/cut-text.js";
import { estimatedTokens } from "../../platform/tokens.js";
import { withMembers } from "../../platform/with-members.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelRequest } from "../../ports/chat-model.js";
import type { TokenMeter } from "../token-meter.js";

/** More than anybody reads of one answer, in characters; its record in a journal holds it in any script. */
export const MAX_ANSWER_CHARS = 100_000;

/** A model's answer as it comes; one that goes on without end is cut, and ends as one that came to the model's own limit. */
async function* boundedAnswer(events: AsyncIterable<ModelEvent>, maxChars = MAX_ANSWER_CHARS): AsyncGenerator<ModelEvent, void, undefined> {
  let left = maxChars;
  for await (const event of events) {
    if (event.type === "text" && event.delta.length > left) {
      yield { type: "text", delta: cutText(event.delta, left) };
      yield { type: "end", reason: "length", usage: { input_tokens: 0, output_tokens: 0 } };
      return;
    }
    if (event.type === "text") left -= event.delta.length;
    else if (event.type === "retract") left = maxChars;
    yield event;
  }
}

/**
 * A model whose calls are counted, by what they are for. Where the provider tells no usage, request and answer are estimated. A call that
 * fails is not counted: nothing is told of it. `mayCall` is asked before each call that is made for somebody, and throws where it may not
 * be made. Default: it may. An answer without end is cut ({@link boundedAnswer}), and counted as it was written.
 */
export function meteredModel(
  model: ChatModel,
  meter: Pick<TokenMeter, "add" | "owner">,
  mayCall: (owner: Owner) => Promise<void> = async () => {},
): ChatModel {
  if (model.standIn) return model;
  return withMembers(model, {
    async *stream(request, options) {
      if (meter.owner !== null) await mayCall(meter.owner);
      yield* counted(model, meter, request, options);
    },
  });
}

async function* counted(
  model: ChatModel,
  meter: Pick<TokenMeter, "add">,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  let written = "";
  for await (const event of boundedAnswer(model.stream(request, options))) {
    if (event.type === "text") written += event.delta;
    else if (event.type === "tool_call") written += event.call.arguments;
    else if (event.type === "end") {
      const { input_tokens: input, cached_tokens: cached = 0, output_tokens: output } = event.usage;
      const tokens: TaskTokens = input > 0 ? { calls: 1, input, cached, output } : estimateOf(request, written);
      // Where one model takes over from another, each has its price.
      meter.add(request.task ?? "chat", event.model ?? model.name, tokens);
    }
    yield event;
  }
}

function estimateOf({ messages, tools = [] }: ModelRequest, written: string): TaskTokens {
  const sent = JSON.stringify([messages, tools]);
  return { calls: 1, input: estimatedTokens.count(sent), cached: 0, output: estimatedTokens.count(written), estimated: true };
}
