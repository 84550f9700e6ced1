import type { Span } from "../../domain/compared-words.js";
import { QuotedMessage } from "./locate-quote.js";
import { attributedLines, pastedLines } from "./pasted-lines.js";
import { overlaps, united } from "./spans.js";

/**
 * The parts of a message that its author brought along rather than said: quotations of several words, code, quoted lines, forwarded and
 * pasted blocks. Told by their form, in any language. One pass over the text for each form.
 */
export function broughtAlong(text: string): readonly Span[] {
  return united([
    ...fences(text),
    ...quotations(text),
    ...taggedBlocks(text),
    ...comments(text),
    ...pastedLines(text),
    ...attributedLines(text),
  ]);
}

/** Shorter ones are titles and names: “Hamlet”, "The Blue Room". */
const MIN_WORDS = 4;

/** What closes a quotation, by what opens it. */
const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "“": "”",
  "„": "“”",
  "‟": "”",
  "«": "»",
  "»": "«",
  "‹": "›",
  "「": "」",
  "『": "』",
  "《": "》",
  "＂": "＂",
  "‘": "’",
  "‚": "‘’",
  "'": "'",
  "`": "`",
};
/** Apostrophes too: they open only before a word and close only behind one. */
const SINGLE = new Set(["'", "‘", "‚", "’"]);
/** Where one that is not closed ends the paragraph belongs to it. */
const UNCLOSED = new Set(["“", "„", "«", "「", "『", "《"]);

function quotations(text: string): readonly Span[] {
  const spans: Span[] = [];
  let open: { readonly mark: string; readonly at: number } | null = null;
  const end = (at: number, closed: boolean) => {
    if (open !== null && (closed || UNCLOSED.has(open.mark)) && isQuotation(text.slice(open.at + 1, at)))
      spans.push({ start: open.at, end: closed ? at + 1 : at });
    open = null;
  };
  for (let at = 0; at < text.length; at++) {
    const mark = text[at] ?? "";
    if (mark === "\n" && text[at + 1] === "\n") end(at, false);
    else if (open !== null && (CLOSING[open.mark] ?? "").includes(mark)) {
      if (!SINGLE.has(mark) || closesSingle(text, at)) end(at, true);
    } else if (open === null && CLOSING[mark] !== undefined && opens(text, at, mark)) open = { mark, at };
    else if (open !== null && SINGLE.has(open.mark) && CLOSING[mark] !== undefined && !SINGLE.has(mark) && opens(text, at, mark))
      // An apostrophe that was taken for an opening mark.
      open = { mark, at };
  }
  end(text.length, false);
  return spans;
}

function opens(text: string, at: number, mark: string): boolean {
  return !SINGLE.has(mark) || (!isWordLike(text[at - 1]) && isWordLike(text[at + 1]));
}

function closesSingle(text: string, at: number): boolean {
  return !isWordLike(text[at + 1]) && !/\s/u.test(text[at - 1] ?? " ");
}

function isWordLike(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

/** Several words, and not a title with its words in capitals. */
function isQuotation(inner: string): boolean {
  const words = inner.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < MIN_WORDS) return unspacedLetters(inner) >= MIN_WORDS * 2;
  const long = words.filter((word) => word.length > 3);
  const capital = long.filter((word) => /^[\p{Lu}\p{N}]/u.test(word));
  return !(words.length <= 10 && long.length > 0 && capital.length === long.length && /^\s*[\p{Lu}\p{N}]/u.test(inner));
}

function unspacedLetters(inner: string): number {
  return (inner.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu) ?? []).length;
}

/** Blocks between ``` or ~~~, to the end where they are not closed. */
function fences(text: string): readonly Span[] {
  return ["```", "~~~"].flatMap((fence) => {
    const spans: Span[] = [];
    for (let start = text.indexOf(fence); start !== -1; ) {
      const close = text.indexOf(fence, start + fence.length);
      const end = close === -1 ? text.length : close + fence.length;
      spans.push({ start, end });
      start = text.indexOf(fence, end);
    }
    return spans;
  });
}

/** Markup that is not to be seen: from `<!--` to `-->`, or to the end where it isn't closed. */
function comments(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (let start = text.indexOf("<!--"); start !== -1; ) {
    const close = text.indexOf("-->", start + 4);
    const end = close === -1 ? text.length : close + 3;
    spans.push({ start, end });
    start = text.indexOf("<!--", end);
  }
  return spans;
}

/** From a tag to its end, or to the end of the text where it isn't closed. */
function taggedBlocks(text: string): readonly Span[] {
  const spans: Span[] = [];
  let open: { readonly name: string; readonly start: number } | null = null;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) {
    const tag = tagAt(text, at);
    if (tag === null) continue;
    if (open === null && !tag.closes) open = { name: tag.name, start: at };
    else if (open !== null && tag.closes && open.name === tag.name) {
      spans.push({ start: open.start, end: tag.end });
      open = null;
    }
  }
  if (open !== null) spans.push({ start: open.start, end: text.length });
  return spans;
}

/** Longer ones are no tags. */
const MAX_TAG_CHARS = 400;

function tagAt(text: string, at: number): { readonly name: string; readonly closes: boolean; readonly end: number } | null {
  const inner = text.slice(at + 1, at + MAX_TAG_CHARS);
  const end = inner.indexOf(">");
  const name = /^\/?[a-zA-Z][\w:-]{0,40}/u.exec(inner)?.[0];
  if (name === undefined || end < name.length || inner.slice(0, end).includes("<")) return null;
  if (end > name.length && !/\s|\//u.test(inner[name.length] ?? "")) return null;
  return { name: name.replace("/", "").toLowerCase(), closes: name.startsWith("/"), end: at + 1 + end + 1 };
}

/** Whether a quote stands in the guest's own words of a message: typos and all, outside what they brought along. Linear. */
export function inOwnWords(quote: string, message: string): boolean {
  const span = new QuotedMessage(message).locate(quote);
  return span !== null && !broughtAlong(message).some((brought) => overlaps(span, brought));
}
