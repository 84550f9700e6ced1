import type { Language } from "./language.js";

/** What is over. A need that ended is found by the words that stated it, so that the same shapes read both. */

const OVER: Readonly<Record<Language, readonly (readonly [pattern: RegExp, stillHolding: string])[]>> = {
  en: [
    // "I can't eat nuts any more" begins something: only a plain "not" ends.
    [/^(?<a>.*?)\s+no longer\s+(?<b>.+)$/iu, "$<a> $<b>"],
    [/^(?<a>.*?(?:'m|'re|'s|\bam|\bare|\bis))(?:n't| not)\s+(?<b>.+?),?\s+(?:any ?more|any longer|these days|now)\b.*$/iu, "$<a> $<b>"],
    [/^(?<a>.*?)\s+(?:do|does)(?:n't| not)\s+(?<b>.+?),?\s+(?:any ?more|any longer|these days)\b.*$/iu, "$<a> $<b>"],
    [/^(?:i|we)(?:'ve| have)? (?:stopped|quit|given up|gave up) being (?<b>.+)$/iu, "I am $<b>"],
    [/^(?:i|we) used to be (?<b>.+)$/iu, "I am $<b>"],
    [/^(?:i|we) can (?<b>(?:eat|have|drink|tolerate|climb|manage) .+?),? (?:again|now|these days)\b.*$/iu, "I can not $<b>"],
    [/^(?:i|we)(?:'ve| have)? (?:outgrown|outgrew|got(?:ten)? over|lost) (?:my|our) (?<b>.*allergy(?: to .+)?)$/iu, "I have a $<b>"],
    [/^(?:my|our) (?<b>.*allergy(?: to .+)?) (?:is|has) (?:gone|gone away|over|disappeared|been cured|cured)\b.*$/iu, "I have a $<b>"],
  ],
  de: [[/^(?<a>.*?)\s+(?:nicht|keine?n?)\s+mehr(?:\s+(?<b>.+))?$/iu, "$<a> $<b>"]],
  fr: [[/^(?<a>.*?)\s*\bn(?:e |['’])(?<b>.*?)\s+plus(?<c>\s.+)?$/iu, "$<a> $<b>$<c>"]],
  es: [[/^(?<a>.*?)\bya no\s+(?<b>.+)$/iu, "$<a>$<b>"]],
  it: [[/^(?<a>.*?)\bnon\s+(?<b>.*?)\s+più(?<c>\s.+)?$/iu, "$<a>$<b>$<c>"]],
};

/** "I am no longer allergic to shellfish" → "I am allergic to shellfish"; null for a clause that says nothing is over. */
export function whatIsOver(clause: string, language: Language): string | null {
  const said = clause
    .replace(/[’‘]/gu, "'")
    .replace(/[\s.!…]+$/u, "")
    .trim();
  for (const [pattern, stillHolding] of OVER[language]) {
    if (pattern.test(said)) return said.replace(pattern, stillHolding).replace(/\s+/gu, " ").trim();
  }
  return null;
}
