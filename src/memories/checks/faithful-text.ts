import { folded } from "./folded-text.js";
import type { SaidWords } from "./said-words.js";
import { wordsOf } from "./words.js";

/**
 * Whether numbers and links of a text stand in what was said, and names in one of `named`. Names are words with a capital that don't begin
 * a sentence.
 */
export function isFaithful(text: string, said: string, named: readonly SaidWords[]): boolean {
  return numbersStand(text, said) && linksStand(text, said) && namesStand(text, named);
}

/** "1,000", "1'000" and "1 000" are one number. */
const GROUPING = /(?<=\p{Nd})[.,' ](?=\p{Nd}{3})/gu;

function numbersStand(text: string, said: string): boolean {
  const asWritten = numbersOf(text);
  if (asWritten.length === 0) return true;
  const known = new Set([...numbersOf(said), ...numbersOf(said.replace(GROUPING, ""))]);
  const stand = (numbers: readonly string[]) => numbers.every((number) => known.has(number));
  return stand(asWritten) || stand(numbersOf(text.replace(GROUPING, "")));
}

function numbersOf(text: string): readonly string[] {
  return (text.normalize("NFKC").match(/\p{Nd}+/gu) ?? []).map((digits) => digits.replace(/^0+(?=.)/u, ""));
}

function linksStand(text: string, said: string): boolean {
  const links = text.split(/\s+/u).filter((token) => token.includes("://") || token.includes("@") || /^www\./iu.test(token));
  if (links.length === 0) return true;
  const known = folded(said);
  return links.every((link) => known.includes(folded(link)));
}

const WORD = /[\p{L}\p{N}'’-]+/gu;
const SENTENCE_ENDS = ".!?:\n。！？";

/** Words with a capital that don't begin a sentence: in German every noun, which then must have been said too. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    const before = text.slice(Math.max(0, index - 4), index).replace(/[\s"'“”„«»(]/gu, "");
    const begins = index === 0 || before === "" ? text.slice(0, index).trim() === "" : SENTENCE_ENDS.includes(before.at(-1) ?? "");
    return /^\p{Lu}/u.test(word) && !begins ? [word] : [];
  });
}

/** Different words of each that names are looked for among: its first ones. */
const MAX_SAID_WORDS = 2_000;

function namesStand(text: string, named: readonly SaidWords[]): boolean {
  return namesIn(text.slice(0, 500)).every((name) =>
    wordsOf(name).every(({ text: part }) => named.some((said) => said.hasFormOf(part, MAX_SAID_WORDS))),
  );
}
