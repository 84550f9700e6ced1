import { folded } from "maitred/stand-in";
import type { Sentence } from "./clauses.js";
import { english } from "./language.js";

/** So many digits in words are a code, and their name stands so many words before them. */
const MIN_DIGITS = 3;
const NAMED_WITHIN = 6;
const MARK = /[,;:]/u;
const FIGURES = /^\d{3,}$/u;

/**
 * "The gate code is one seven four two and loud noises set my son off", without the code: what stands before it, and behind it. English.
 * Empty where there is nothing else.
 */
export function withoutSpeltCode(sentence: Sentence): readonly Sentence[] {
  const words = [...sentence.text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].map(({ index, 0: text }) => ({
    text: folded(text),
    start: index,
    end: index + text.length,
  }));
  const isFigures = (at: number) => FIGURES.test(words[at]?.text ?? "");
  const isDigit = (at: number) => isFigures(at) || english.digits.has(words[at]?.text);
  const areDigits = (at: number) => Array.from({ length: MIN_DIGITS }, (_, more) => at + more).every(isDigit);
  const from = words.findIndex((_, at) => isFigures(at) || areDigits(at));
  const name = words.findLastIndex(({ text }, at) => at < from && at >= from - NAMED_WITHIN && english.codes.has(text));
  if (from === -1 || name === -1) return [sentence];
  const behind = words.slice(from).find((_, at) => !isDigit(from + at));
  const joined = words.slice(0, name).findLast(({ text, end }) => english.joins_code.has(text) || MARK.test(sentence.text[end] ?? ""));
  const ends = joined === undefined ? 0 : english.joins_code.has(joined.text) ? joined.start : joined.end;
  const begins = behind === undefined ? sentence.text.length : english.joins_code.has(behind.text) ? behind.end : behind.start;
  return [
    { start: 0, end: ends },
    { start: begins, end: sentence.text.length },
  ].flatMap(({ start, end }) => {
    const part = sentence.text.slice(start, end);
    const text = part.trim();
    const rest = { ...sentence, text, start: sentence.start + start + part.indexOf(text) };
    // It may name another code.
    return text === "" ? [] : withoutSpeltCode(rest);
  });
}
