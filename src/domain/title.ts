/** What a session is called where nobody named it. */
export const UNTITLED = "New conversation";
export const MAX_TITLE_CHARS = 80;

/** More than this many words' worth of blanks at the end is given up for a word boundary: a quarter of the title. */
const SHORTEST_CUT = 0.75;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out here
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/**
 * A title from the first user message: one line, at most 80 characters as a reader counts them (grapheme clusters), an ellipsis
 * included. Cut between words, in any script; inside a word only where it alone would take up more than a quarter of the title.
 * {@link UNTITLED} for a blank message.
 */
export function titleFrom(message: string): string {
  const line = message.replace(CONTROL, " ").replace(/\s+/g, " ").trim();
  if (line === "") return UNTITLED;
  const graphemes = leadingGraphemes(line, MAX_TITLE_CHARS + 1);
  if (graphemes.length <= MAX_TITLE_CHARS) return line;
  const room = graphemes.slice(0, MAX_TITLE_CHARS - 1).join("");
  return `${cutAtWord(line, room)}…`;
}

function leadingGraphemes(text: string, count: number): string[] {
  const graphemes: string[] = [];
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    graphemes.push(segment);
    if (graphemes.length === count) break;
  }
  return graphemes;
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
