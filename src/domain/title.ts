import { withoutSecrets } from "./secrets.js";

/** What a session is called where nobody named it. */
export const UNTITLED = "New conversation";
export const MAX_TITLE_CHARS = 80;
/** UTF-16 code units: as many as a user may give. An emoji may take a dozen of them, and count as one character. */
export const MAX_TITLE_UNITS = 200;

/** Of a message, UTF-16 code units that a title is made of. */
const MAX_READ_UNITS = 4_000;

/** More than this many words' worth of blanks at the end is given up for a word boundary: a quarter of the title. */
const SHORTEST_CUT = 0.75;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out here
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/**
 * A title from the first user message, or from a model's for it, {@link withoutSecrets}, as a {@link shortLine}. {@link UNTITLED} for a
 * message that is blank or nothing but a secret, and for one whose first character alone is too long.
 */
export function titleFrom(message: string): string {
  const said = withoutSecrets(lineOf(message).slice(0, MAX_READ_UNITS));
  return said.replaceAll("…", " ").trim() === "" ? UNTITLED : shortLine(said);
}

/**
 * One line, at most 80 characters as a reader counts them (grapheme clusters) and 200 UTF-16 code units, an ellipsis included. Cut between
 * words, in any script; inside a word only where it alone would take up more than a quarter of the line, inside a character never.
 * {@link UNTITLED} where nothing is left.
 */
export function shortLine(text: string): string {
  const line = lineOf(text);
  if (line === "") return UNTITLED;
  if (leading(line, MAX_TITLE_CHARS, MAX_TITLE_UNITS) === line) return line;
  const room = leading(line, MAX_TITLE_CHARS - 1, MAX_TITLE_UNITS - 1);
  return room === "" ? UNTITLED : `${cutAtWord(line, room)}…`;
}

function lineOf(text: string): string {
  return text.replace(CONTROL, " ").replace(/\s+/g, " ").trim();
}

/** As many whole grapheme clusters as there is room for. */
function leading(text: string, maxGraphemes: number, maxUnits: number): string {
  let count = 0;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    if (count === maxGraphemes || index + segment.length > maxUnits) break;
    count += 1;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** The longest part of `room` (a prefix of `line`) that ends where a word of `line` does. */
function cutAtWord(line: string, room: string): string {
  let end = 0;
  // A bounded look ahead: the word at the edge must be seen whole to know that it is cut.
  const seen = line.slice(0, room.length * 2);
  for (const { index, segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(seen)) {
    if (index + segment.length > room.length) break;
    if (isWordLike) end = index + segment.length;
  }
  const cut = end >= room.length * SHORTEST_CUT ? room.slice(0, end) : room;
  return cut.trimEnd();
}
