import type { Span } from "../../domain/compared-words.js";

/** Lines that were forwarded or pasted, by their form: quoted lines, what stands between rules, mail headers, a log of who said what. */

interface Line extends Span {
  readonly text: string;
}

/** Longer lines are prose. */
const MAX_FORMED = 200;

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const at = text.indexOf("\n", start);
    const end = at === -1 ? text.length : at;
    lines.push({ start, end, text: text.slice(start, Math.min(end, start + MAX_FORMED + 1)).trim() });
    start = end + 1;
  }
  return lines;
}

/** Quoted lines, logs, the stretches between rules, and all that follows mail headers. */
export function pastedLines(text: string): readonly Span[] {
  const lines = linesOf(text);
  const spans: Span[] = lines.filter(({ text: line }) => isQuotedLine(line) || isLogLine(line) || isRoleLine(line));
  return [...spans, ...betweenRules(lines, text.length), ...behindHeaders(lines, text.length)];
}

/** The line that ends in a colon right before quoted lines: it says who wrote them. */
export function attributedLines(text: string): readonly Span[] {
  const lines = linesOf(text);
  return lines.filter((line, i) => line.text.endsWith(":") && /\d|@/u.test(line.text) && isQuotedLine(lines[i + 1]?.text ?? ""));
}

function isQuotedLine(line: string): boolean {
  return line.startsWith(">") || line.startsWith("&gt;") || line.startsWith("| ");
}

/** "[12:30] Anna: …", "12.03.26, 12:30 - Anna: …" */
function isLogLine(line: string): boolean {
  const from = line.startsWith("[") ? 1 : 0;
  const stamp = /^[\d./:, -]{4,30}/u.exec(line.slice(from, 40))?.[0] ?? "";
  if (!/\d[:.]\d\d/u.test(stamp)) return false;
  const behind = line.slice(from + stamp.length, from + stamp.length + 60);
  const colon = behind.indexOf(": ");
  return colon > 0 && colon <= 44 && !/\d/u.test(behind.slice(0, colon));
}

/** The labels of chat transcripts, which are no language's words. */
function isRoleLine(line: string): boolean {
  return /^[[(<*#]{0,3}(?:system|assistant|user|human|developer|tool)[\])>*]{0,3}\s?:/iu.test(line);
}

/**
 * Paragraphs that a line ending in a colon sets apart with an empty line. Mostly pasted, now and then the author's own words: no list is,
 * for one. What stands there and must hold is asked about.
 */
export function introducedBlocks(text: string): readonly Span[] {
  const lines = linesOf(text);
  const spans: Span[] = [];
  for (let i = 0; i + 2 < lines.length; i++) {
    const [line, empty, first] = [lines[i], lines[i + 1], lines[i + 2]];
    if (!line?.text.endsWith(":") || empty?.text !== "" || first === undefined || /^[-*•–\d]/u.test(first.text)) continue;
    let last = i + 2;
    while (lines[last + 1] !== undefined && lines[last + 1]?.text !== "") last++;
    spans.push({ start: first.start, end: lines[last]?.end ?? text.length });
    i = last;
  }
  return spans;
}

/** A line of dashes, equal signs or the like, with or without words between. */
function isRule(line: string): boolean {
  if (line.length > MAX_FORMED || !/^[-_=*~#–—]{2}/u.test(line)) return false;
  return /^[-_=*~#–—\s]{3,}$/u.test(line) || line === "--" || (/^[-_=*~]{3}/u.test(line) && /[-_=*~]{3}$/u.test(line));
}

/** From the first rule to the last where they come in pairs, else from the first one to the end. */
function betweenRules(lines: readonly Line[], length: number): readonly Span[] {
  const rules = lines.filter((line) => isRule(line.text));
  const [first, last] = [rules[0], rules.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ start: first.start, end: rules.length % 2 === 0 ? last.end : length }];
}

/** Two header lines one after the other, one with an address, a time or a reply mark: a mail, to its end. */
function behindHeaders(lines: readonly Line[], length: number): readonly Span[] {
  for (let i = 0; i + 1 < lines.length; i++) {
    const [line, next] = [lines[i], lines[i + 1]];
    if (line === undefined || next === undefined || !isHeader(line.text) || !isHeader(next.text)) continue;
    const block = lines.slice(i, i + 6).filter(({ text }) => isHeader(text));
    if (block.some(({ text }) => isMailHeader(text))) return [{ start: line.start, end: length }];
  }
  return [];
}

function isHeader(line: string): boolean {
  return line.length <= MAX_FORMED && /^\p{L}[\p{L} -]{0,20}:\s{0,4}\S/u.test(line);
}

function isMailHeader(line: string): boolean {
  const value = line.slice(line.indexOf(":") + 1).trim();
  const words = value.split(/\s+/u);
  const address = words.length <= 6 && /^[^@]{1,64}@[^@]{3,100}$/u.test(words.at(-1) ?? "");
  return address || /\d:\d{2}/u.test(value) || /^\p{L}{2,3}: /u.test(value);
}
