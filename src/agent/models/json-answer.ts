/**
 * The JSON value in what a model wrote: all of it, what a fence holds, or the first object or list that stands in prose. Null where
 * there is none.
 */
export function jsonIn(text: string): string | null {
  const whole = text.trim();
  if (isJson(whole)) return whole;
  const fence = whole.indexOf("```");
  if (fence !== -1) {
    const inner =
      whole
        .slice(whole.indexOf("\n", fence) + 1)
        .split("```")[0]
        ?.trim() ?? "";
    if (isJson(inner)) return inner;
  }
  return firstValue(whole);
}

function isJson(text: string): boolean {
  if (!text.startsWith("{") && !text.startsWith("[")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** At most so many places are tried, so that a text of brackets costs no more than a few readings. */
const MAX_PLACES = 20;

function firstValue(text: string): string | null {
  let from = 0;
  for (let place = 0; place < MAX_PLACES; place += 1) {
    const start = nextOpening(text, from);
    if (start === -1) return null;
    const end = endOfValue(text, start);
    // A value within one that never ends is not the answer.
    if (end === -1) return null;
    if (isJson(text.slice(start, end))) return text.slice(start, end);
    from = start + 1;
  }
  return null;
}

function nextOpening(text: string, from: number): number {
  const [object, list] = [text.indexOf("{", from), text.indexOf("[", from)];
  return object === -1 || list === -1 ? Math.max(object, list) : Math.min(object, list);
}

/** Behind the bracket that closes the one at `start`, brackets in strings apart; -1 where none does. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
