import type { ModelEvent } from "../../ports/chat-model.js";

/** More than anybody reads of one answer, in characters; its record in a journal holds it in any script. */
export const MAX_ANSWER_CHARS = 100_000;
/** A cut must not leave half of a surrogate pair. */
const HALF_PAIR = /[\uD800-\uDBFF]$/;

/** A model's answer as it comes; one that goes on without end is cut, and ends as one that came to the model's own limit. */
export async function* boundedAnswer(
  events: AsyncIterable<ModelEvent>,
  maxChars = MAX_ANSWER_CHARS,
): AsyncGenerator<ModelEvent, void, undefined> {
  let left = maxChars;
  for await (const event of events) {
    if (event.type === "text" && event.delta.length > left) {
      yield { type: "text", delta: event.delta.slice(0, left).replace(HALF_PAIR, "") };
      yield { type: "end", reason: "length", usage: { input_tokens: 0, output_tokens: 0 } };
      return;
    }
    if (event.type === "text") left -= event.delta.length;
    else if (event.type === "retract") left = maxChars;
    yield event;
  }
}
