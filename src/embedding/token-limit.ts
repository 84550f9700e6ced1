import { setImmediate } from "node:timers/promises";
import type { TokenCounter } from "../platform/tokens.js";

/** UTF-16 units that are counted at a time: what a tokenizer needs for one unbroken run grows faster than the run. */
const SLICE = 256;
/** Of {@link cutToTokens} without a counter: no current tokenizer needs more than a token for each of so many bytes of usual text. */
const BYTES_PER_TOKEN = 3;

/**
 * A text's beginning of at most `maxTokens`, cut between characters. With a tokenizer at most a slice is lost beyond need; without,
 * tokens are
 * estimated from the bytes. Lets others run between long texts.
 */
export async function cutToTokens(text: string, maxTokens: number, counter: TokenCounter | null): Promise<string> {
  // A token is at least a byte.
  if (Buffer.byteLength(text) <= maxTokens) return text;
  if (counter === null) return cutToBytes(text, maxTokens * BYTES_PER_TOKEN);
  await setImmediate();
  let tokens = 0;
  for (let at = 0; at < text.length; ) {
    const end = characterEnd(text, at + SLICE);
    tokens += counter.count(text.slice(at, end));
    if (tokens > maxTokens) return text.slice(0, at);
    at = end;
  }
  return text;
}

function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text).subarray(0, maxBytes).toString("utf8");
  // At most one character is cut in two, which leaves up to three marks of it.
  const broken = cut.slice(-3).indexOf("\uFFFD");
  return broken === -1 ? cut : cut.slice(0, Math.max(0, cut.length - 3) + broken);
}

/** Not within a surrogate pair. */
function characterEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}
