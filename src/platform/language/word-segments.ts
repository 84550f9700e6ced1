/** A stretch of a text between two boundaries of words, as `Intl.Segmenter` finds them. */
export interface WordSegment {
  readonly segment: string;
  /** False for white space and punctuation. */
  readonly isWordLike: boolean;
}

const segmenter = new Intl.Segmenter("und", { granularity: "word" });
/** A piece ends at the first place behind so many UTF-16 units where a word can't go on. */
const PIECE_CHARS = 512;
/** Where there is no such place, it ends here all the same. */
const MAX_PIECE_CHARS = 2_048;
/** No word goes on over white space or the full stops and commas of scripts without spaces. */
const BETWEEN_WORDS = /[\s。、，！？；：]/u;
/** The second half of a character, or a mark on the one before. */
const BELONGS_TO_BEFORE = /[\udc00-\udfff]|\p{M}/u;

/**
 * The segments of a text, in order. What `Intl.Segmenter` takes for each grows with the length of the whole text, so it is given pieces:
 * the same segments, in time that is linear. Only a run of over 2,048 UTF-16 units without a space is cut somewhere.
 */
export function* wordSegments(text: string): Generator<WordSegment> {
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from);
    for (const { segment, isWordLike = false } of segmenter.segment(text.slice(from, to))) yield { segment, isWordLike };
    from = to;
  }
}

function endOfPiece(text: string, from: number): number {
  const last = Math.min(text.length, from + MAX_PIECE_CHARS);
  for (let at = from + PIECE_CHARS; at < last; at++) if (BETWEEN_WORDS.test(text[at] ?? "")) return at;
  if (last === text.length) return last;
  let at = last;
  while (at > from + PIECE_CHARS && BELONGS_TO_BEFORE.test(text[at] ?? "")) at--;
  return at;
}
