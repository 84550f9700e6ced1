import { folded } from "./phrases.js";

/** English numbers, as guests write out small parties. */
export const NUMBER_WORDS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
};

export const MONTHS = "(?:january|february|march|april|may|june|july|august|september|october|november|december)";
/** Of a pattern: a number in digits or as a word. */
export const NUMBER = `(\\d{1,2}|${Object.keys(NUMBER_WORDS).join("|")})`;

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const ORDINAL = `(${ORDINALS.join("|")})`;
/** "2nd", not of a month. */
const NUMBERED = new RegExp(`\\b([1-9])(?:st|nd|rd|th)\\b(?!\\s+(?:of\\s+)?${MONTHS})`, "g");
const PLACED = new RegExp(`\\b(?:the|your|that|my|option|number|for|of|and)\\s+${ORDINAL}\\b|^\\W*${ORDINAL}\\b`);
const COUNTED = new RegExp(`(?:#|\\b(?:number|option|no\\.|item)\\s*)${NUMBER}\\b`);

/** Position in a list, from 0; -1 for the last. */
export function ordinalIn(text: string): number | undefined {
  const words = folded(text).replace(NUMBERED, (_, digit: string) => ORDINALS[Number(digit) - 1] ?? "");
  const [, inside, ahead] = PLACED.exec(words) ?? [];
  const name = inside ?? ahead;
  if (name !== undefined) return ORDINALS.indexOf(name);
  const number = COUNTED.exec(words)?.[1];
  if (number !== undefined) return (NUMBER_WORDS[number] ?? Number(number)) - 1;
  return /\blast one\b/.test(words) ? -1 : undefined;
}
