import { wordsOf } from "./format.js";

/** What codes of the server mean, in words; one that isn't here is read as it is. */

const WHY_RECALLED: Readonly<Record<string, string>> = {
  own_need: "a need of the guest's",
  companion_need: "a need of a companion's",
  occasion: "fits the occasion",
  party: "fits who comes",
  likeness: "like what was said",
  standing: "holds always",
};
const WHY_HELD_BACK: Readonly<Record<string, string>> = {
  idle: "the message asks for nothing",
  occasion: "for another occasion",
  not_coming: "about somebody who doesn't come",
  outdated: "another value holds",
  limit: "others come before it",
};

const inWords = (words: Readonly<Record<string, string>>) => (code: string) =>
  Object.hasOwn(words, code) ? (words[code] ?? code) : wordsOf(code);

export const whyRecalled = inWords(WHY_RECALLED);
export const whyHeldBack = inWords(WHY_HELD_BACK);
