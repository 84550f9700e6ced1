import { cutText } from "../platform/rendering.js";
import type { ModelMessage } from "../ports/chat-model.js";
import { isSummary } from "../ports/context-headings.js";

/** Results of tools are cut to no less than so many characters. */
const MIN_RESULT_CHARS = 500;
const CUT = " … (cut)";

/** For a model that reads less than was thought and doesn't say how much: as {@link shortenedTo}, in half of their characters. */
export function halfContext(messages: readonly ModelMessage[]): ModelMessage[] | null {
  return shortenedTo(messages, charsOf(messages) / 2);
}

/**
 * The messages of a turn in at most so many characters, if that can be: the oldest rounds go first, whole; then this turn's tool results
 * are cut. Prompt, notes, summary and the user's message stay. Null when there is nothing to leave out. Pure.
 */
export function shortenedTo(messages: readonly ModelMessage[], target: number): ModelMessage[] | null {
  const turn = startOfTurn(messages);
  const first = messages.findIndex((message) => message.role !== "system" && !isSummary(message));
  let kept = messages.slice(turn);
  const head = messages.slice(0, first);
  const rounds = roundsOf(messages.slice(first, turn));
  let room = target - charsOf(head) - charsOf(kept);
  const window: ModelMessage[] = [];
  for (const round of rounds.toReversed()) {
    room -= charsOf(round);
    if (room < 0) break;
    window.unshift(...round);
  }
  const over = charsOf(head) + charsOf(kept) - target;
  if (over > 0) kept = withShortResults(kept, over);
  const half = [...head, ...window, ...kept];
  return charsOf(half) < charsOf(messages) ? half : null;
}

/** The last user message, and the notes that stand before it. */
function startOfTurn(messages: readonly ModelMessage[]): number {
  let start = messages.findLastIndex(({ role }) => role === "user");
  while (start > 0 && messages[start - 1]?.role === "system") start -= 1;
  return Math.max(0, start);
}

function roundsOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  const rounds: ModelMessage[][] = [];
  for (const message of messages) {
    const last = rounds.at(-1);
    if (message.role === "user" || last === undefined) rounds.push([message]);
    else last.push(message);
  }
  return rounds;
}

function withShortResults(messages: readonly ModelMessage[], over: number): ModelMessage[] {
  const results = messages.filter(({ role }) => role === "tool");
  const length = Math.max(MIN_RESULT_CHARS, Math.floor((charsOf(results) - over) / Math.max(1, results.length)));
  return messages.map((message) =>
    message.role === "tool" && message.content.length > length ? { ...message, content: cutText(message.content, length) + CUT } : message,
  );
}

function charsOf(messages: readonly ModelMessage[]): number {
  return messages.reduce(
    (sum, message) => sum + message.content.length + (message.role === "assistant" ? JSON.stringify(message.tool_calls ?? []).length : 0),
    0,
  );
}
