import { type Sent, tokensOf, wire } from "./provider.js";

export interface Figures {
  readonly calls: number;
  readonly input: number;
  /** Of the input, what no request before began with: what a provider that keeps prefixes reads anew. */
  readonly uncached: number;
  readonly output: number;
}

/** Of one task, or of all. */
export function figuresOf(sent: readonly Sent[], task?: string): Figures {
  const own = sent.flatMap((each, place) => (task === undefined || each.task === task ? [{ ...each, place }] : []));
  const sumOf = (of: (each: (typeof own)[number]) => number) => own.reduce((sum, each) => sum + of(each), 0);
  return {
    calls: own.length,
    input: sumOf(({ tokens }) => tokens),
    uncached: sumOf(({ tokens, text, place }) => tokens - cachedOf(text, sent.slice(0, place))),
    output: sumOf(({ output }) => output),
  };
}

/** OpenAI's: a shorter prefix is not kept, and a longer one in steps. */
const LEAST_CACHED = 1_024;
const CACHE_STEP = 128;

function cachedOf(text: string, before: readonly Sent[]): number {
  const longest = Math.max(0, ...before.map((each) => commonLength(each.text, text)));
  const tokens = tokensOf(text.slice(0, longest));
  return tokens < LEAST_CACHED ? 0 : tokens - (tokens % CACHE_STEP);
}

/** The part of what chat calls sent that stood at the beginning of the call before, the same to the byte: what a provider can keep. */
export function stablePrefix(sent: readonly Sent[]): number {
  const chat = sent.filter(({ task }) => task === "chat");
  let shared = 0;
  let all = 0;
  for (const [place, { text, tokens }] of chat.entries()) {
    const before = chat[place - 1]?.text;
    if (before === undefined) continue;
    all += tokens;
    shared += tokensOf(text.slice(0, commonLength(before, text)));
  }
  return all === 0 ? 1 : shared / all;
}

function commonLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/**
 * What chat calls would have sent with the whole conversation in each: prompt and tools as they are, every message as it was said, every
 * tool call with its result. `turns`: how many chat calls each turn made, with what it said and answered.
 */
export function everything(
  sent: readonly Sent[],
  turns: readonly { readonly message: string; readonly answer: string; readonly calls: number }[],
): number {
  const chat = sent.filter(({ task }) => task === "chat");
  const { tools = [], messages } = chat[0]?.body ?? { messages: [] };
  const prompt = messages.filter(({ role }) => role === "system").slice(0, 1);
  let before = tokensOf(wire({ tools, messages: prompt }));
  let place = 0;
  let sum = 0;
  for (const { message, answer, calls } of turns) {
    before += tokensOf(JSON.stringify({ role: "user", content: message }));
    const own = chat.slice(place, place + calls);
    place += calls;
    for (const { body } of own) sum += before + tokensOf(steps(body.messages));
    before += tokensOf(steps(own.at(-1)?.body.messages ?? [])) + tokensOf(JSON.stringify({ role: "assistant", content: answer }));
  }
  return sum;
}

/** Tool calls and results of the turn itself: behind the last message of the guest. */
function steps(messages: Sent["body"]["messages"]): string {
  const last = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(last + 1)
    .map((message) => JSON.stringify(message))
    .join("\n");
}
