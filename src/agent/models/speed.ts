import type { Usage } from "../../domain/session.js";
import type { ModelMeasure, ModelRequest } from "../../ports/chat-model.js";
import type { ProviderEvent } from "./answer-sorter.js";

type Speed = Pick<ModelMeasure, "inputPerSecond" | "outputPerSecond">;

/** Of what was not told in tokens. */
const CHARS_A_TOKEN = 4;
/** What is over more quickly says nothing of how fast it is. */
const LEAST_MS = 5;
/** Nor does what is shorter, in tokens, and came in fewer pieces: a pause on the way would make a fast model slow. */
const LEAST_TOKENS = 20;
const LEAST_PIECES = 4;
/** How much of what is known the newest answer is. */
const NEWEST = 0.3;
/** How much longer than it should take something may take. */
const MARGIN = 3;
/** No call takes longer, however slow its model, in milliseconds. */
export const LONGEST_CALL_MS = 15 * 60_000;

/**
 * An answer as it comes, and how fast it came: what was read until its first piece, and what was written from then on. One that is broken
 * off tells it too, as far as it came; one that comes whole tells only how fast it was in all.
 */
export async function* timed(
  events: AsyncIterable<ProviderEvent>,
  request: ModelRequest,
  known: Speed,
  learn: (seen: Partial<Speed>) => void,
): AsyncGenerator<ProviderEvent, void, undefined> {
  const began = performance.now();
  let first: number | null = null;
  let last = began;
  let chars = 0;
  let pieces = 0;
  let usage: Usage = { input_tokens: 0, output_tokens: 0 };
  try {
    for await (const event of events) {
      last = performance.now();
      if (event.type === "end") usage = event.usage;
      else first ??= last;
      if (event.type === "text") {
        chars += event.delta.length;
        pieces += 1;
      }
      yield event;
    }
  } finally {
    const input = usage.input_tokens > 0 ? usage.input_tokens - (usage.cached_tokens ?? 0) : charsOf(request) / CHARS_A_TOKEN;
    const output = usage.output_tokens > 0 ? usage.output_tokens : chars / CHARS_A_TOKEN;
    if (first !== null) {
      const isWhole = last - first < LEAST_MS;
      const writing = isWhole ? last - began : last - first;
      learn({
        ...(!isWhole && first - began >= LEAST_MS && { inputPerSecond: blended(known.inputPerSecond, input, first - began) }),
        ...(writing >= LEAST_MS &&
          output > 0 &&
          (output >= LEAST_TOKENS || pieces >= LEAST_PIECES) && { outputPerSecond: blended(known.outputPerSecond, output, writing) }),
      });
    }
  }
}

/** How long a call may last that nobody waits for, in milliseconds: `leastMs`, or as long as the model's speed says that it takes. */
export function callBoundMs(
  leastMs: number,
  { inputPerSecond, outputPerSecond }: Speed,
  tokens: { input: number; output: number },
): number {
  const seconds =
    tokens.input / (inputPerSecond ?? Number.POSITIVE_INFINITY) + tokens.output / (outputPerSecond ?? Number.POSITIVE_INFINITY);
  return Math.max(leastMs, Math.min(LONGEST_CALL_MS, seconds * 1_000 * MARGIN));
}

export function requestBoundMs(leastMs: number, speed: Speed, request: ModelRequest): number {
  return callBoundMs(leastMs, speed, { input: charsOf(request) / CHARS_A_TOKEN, output: request.maxOutputTokens ?? 0 });
}

function blended(before: number | null, tokens: number, ms: number): number {
  const now = (tokens * 1_000) / ms;
  return before === null ? now : before * (1 - NEWEST) + now * NEWEST;
}

function charsOf({ messages, tools = [] }: ModelRequest): number {
  return messages.reduce((sum, { content }) => sum + content.length, tools.length === 0 ? 0 : JSON.stringify(tools).length);
}
