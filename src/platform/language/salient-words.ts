import { type WordSegment, wordSegments } from "./word-segments.js";

/**
 * What stands out in a text by its form alone, in any language: sentences, words, names, numbers. Word and sentence boundaries are
 * those of Unicode (UAX #29), through `Intl.Segmenter`, which also parts scripts that are written without blanks. Pure.
 */

const sentenceSegmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** Sentences in order, without list marks and markup; line breaks end a sentence. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\n+/)
    .flatMap((line) => [...sentenceSegmenter.segment(line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/u, "").replace(/[*_`#]+/g, ""))])
    .map(({ segment }) => segment.replace(/\s+/g, " ").trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

/** Words as they stand in the sentence, and its names. */
export function wordsAndNamesOf(sentence: string): { readonly words: readonly string[]; readonly names: readonly string[] } {
  const segments = [...wordSegments(sentence)];
  return { words: segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment), names: namesAmong(segments) };
}

export function hasNumber(text: string): boolean {
  return /\p{N}/u.test(text);
}

/** A question, by its mark in any script. */
export function isQuestion(sentence: string): boolean {
  return /[?？؟;՞]["'”’)\]]*$/u.test(sentence.trim());
}

const CAPITALISED = /^\p{Lu}[\p{L}\p{N}'’.-]+$/u;

/** "I'd", "I'm", "I've": no name, though "O'Brien" is one. */
const CONTRACTION = /^\p{L}['’]\p{L}{1,2}$/u;

/**
 * Names: runs of capitalised words that do not open the sentence ("with Amara Diallo at the Blue Note"). Where a language writes
 * every noun so, these are its nouns. None in scripts without case.
 */
export function namesIn(sentence: string): readonly string[] {
  return namesAmong(wordSegments(sentence));
}

function namesAmong(segments: Iterable<WordSegment>): readonly string[] {
  const names: string[] = [];
  let run: string[] = [];
  const end = () => {
    if (run.length > 0) names.push(run.join(" "));
    run = [];
  };
  let first = true;
  for (const { segment, isWordLike } of segments) {
    if (!isWordLike) {
      if (segment.trim() !== "" && segment !== "-" && segment !== "’" && segment !== "'") end();
      continue;
    }
    if (!first && CAPITALISED.test(segment) && !CONTRACTION.test(segment)) run.push(segment);
    else end();
    first = false;
  }
  end();
  return names;
}
