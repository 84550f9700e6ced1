import { cutText } from "../platform/rendering.js";
import type { TokenCounter } from "../platform/tokens.js";

const MARK = " … (cut)";

/** The text, or as much of its beginning as fits into `maxTokens`, with a mark that something is missing. Never half a character. */
export function cutTo(text: string, maxTokens: number, counter: TokenCounter): string {
  // No token is less than a byte: what is as short as that need not be counted here and again by the caller.
  if (Buffer.byteLength(text) <= maxTokens || counter.count(text) <= maxTokens) return text;
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (counter.count(text.slice(0, middle) + MARK) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return cutText(text, fits) + MARK;
}
