/**
 * JSON in a model's answer: bare, in a code fence, with words around it, or cut off in the middle. Brackets in words before a fence are
 * none of it. Linear in the answer's length, but for at most {@link MAX_STARTS} tries.
 */

const MAX_CHARS = 200_000;
const MAX_STARTS = 20;
/** A code fence that begins with a bracket. */
const FENCE = /```\w*\s*[[{]/;

interface FoundJson {
  readonly value: unknown;
  readonly text: string;
  /** False where the text ended before the JSON did: `value` is what could be closed. */
  readonly whole: boolean;
}

/** An object or a list; null where there is none. */
export function jsonIn(text: string): FoundJson | null {
  const clipped = text.slice(0, MAX_CHARS);
  const bare = clipped.trim();
  const direct = parsed(bare);
  if (direct !== undefined) return { value: direct, text: bare, whole: true };
  const fence = FENCE.exec(clipped);
  const fenced = fence === null ? null : jsonAt(clipped, fence.index + fence[0].length - 1);
  if (fenced !== null) return fenced;
  let start = nextStart(clipped, 0);
  for (let tries = 0; start !== -1 && tries < MAX_STARTS; tries++) {
    const found = jsonAt(clipped, start);
    if (found !== null) return found;
    start = nextStart(clipped, start + 1);
  }
  return null;
}

/** The text of one that is whole. */
export function wholeJsonIn(text: string): string | null {
  const found = jsonIn(text);
  return found?.whole === true ? found.text : null;
}

function jsonAt(text: string, start: number): FoundJson | null {
  const scanned = scan(text, start);
  const value = parsed(scanned.text);
  return value === undefined ? null : { value, ...scanned };
}

function nextStart(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === "{" || text[at] === "[") return at;
  return -1;
}

function parsed(text: string): unknown {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null ? value : undefined;
}

/** From an opening bracket to the one that closes it; where it is missing, all whole elements, closed. Commas before it go. */
function scan(text: string, start: number): { readonly text: string; readonly whole: boolean } {
  const open: string[] = [];
  let inString = false;
  let complete: { readonly text: string; readonly closing: string } | null = null;
  let out = "";
  let from = start;
  let comma = -1;
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? "";
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
      continue;
    }
    if (character === ",") comma = at;
    else if (character === '"') inString = true;
    else if (character === "{") open.push("}");
    else if (character === "[") open.push("]");
    else if (character === "}" || character === "]") {
      if (comma !== -1) {
        out += text.slice(from, comma);
        from = comma + 1;
      }
      open.pop();
      if (open.length === 0) return { text: out + text.slice(from, at + 1), whole: true };
      if (open.length <= 2) {
        out += text.slice(from, at + 1);
        from = at + 1;
        complete = { text: out, closing: [...open].reverse().join("") };
      }
    }
    if (character !== "," && !SPACE.has(character)) comma = -1;
  }
  return complete === null ? { text: "", whole: false } : { text: complete.text + complete.closing, whole: false };
}

const SPACE = new Set([" ", "\n", "\r", "\t"]);

/** What a text says as JSON; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON with sorted keys: two values that say the same have the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
