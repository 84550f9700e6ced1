/** A text that a simple regular expression matches: its first alternative. Null where this can't find one. */
export function sampleOf(pattern: string): string | null {
  const text = firstOf(pattern).text.replace(/\s+/gu, " ").trim();
  return text !== "" && new RegExp(pattern, "u").test(text) ? text : null;
}

/** Reads alternatives up to the end or a closing bracket; `rest` is behind it. */
function firstOf(pattern: string): { readonly text: string; readonly rest: string } {
  let text = "";
  let rest = pattern;
  let first = true;
  while (rest !== "" && !rest.startsWith(")")) {
    if (rest.startsWith("|")) {
      first = false;
      rest = rest.slice(1);
      continue;
    }
    const gap = /^\.[*+]\??/u.exec(rest);
    const atom = gap ? { text: " ", rest: rest.slice(gap[0].length) } : atomOf(rest);
    const optional = /^[?*]/u.test(atom.rest);
    if (first && !optional) text += atom.text;
    rest = atom.rest.replace(/^[?*+]\??/u, "");
  }
  return { text, rest: rest.slice(1) };
}

function atomOf(pattern: string): { readonly text: string; readonly rest: string } {
  const group = /^\((?:\?:|\?=|\?!|\?<[=!])?/u.exec(pattern);
  if (group) {
    const inner = firstOf(pattern.slice(group[0].length));
    return /[=!]/u.test(group[0]) ? { text: "", rest: inner.rest } : inner;
  }
  const set = /^\[\^?(\\?.)[^\]]*\]/u.exec(pattern);
  if (set) return { text: set[1] ?? "", rest: pattern.slice(set[0].length) };
  const escaped = /^\\(.)/u.exec(pattern);
  if (escaped) {
    const text = { b: "", B: "", d: "1", s: " ", w: "x" }[escaped[1] ?? ""] ?? escaped[1] ?? "";
    return { text, rest: pattern.slice(2) };
  }
  const character = [...pattern][0] ?? "";
  return { text: character === "^" || character === "$" ? "" : character === "." ? "x" : character, rest: pattern.slice(character.length) };
}
