import type { Sentence } from "../../platform/language/own-words.js";
import type { PlainClause } from "./draft.js";

/** Cuts English sentences into clauses and makes them plain, so that the shapes stay few. */

const CUT =
  /\s*[;—–]\s*|\s+-\s+|,?\s+(?:and|but|so|yet|plus|because|since|although|though|while|whereas)\s+(?=(?:(?:i|i'm|i've|i'd|i'll|we|we're|we've|my|our|please|never|always|usually|now|no|not|the|some|he|she|he's|she's|loves?|hates?|likes?|prefers?|enjoys?|needs?|uses?|is|has|can't|cannot|doesn't|normally|generally|mostly|often|typically)\b))|,\s+(?=(?:usually|always|normally|generally|mostly|often|typically|he|she|he's|she's|i|i'm|i've|i'd|i'll|we|we're|we've|my|our|please\s+\p{L}|rather|so|but|never|not|that's|and)\b)/giu;

/** Clauses with their offsets in the sentence. A clause without letters is passed over. */
export function clausesOf(sentence: Sentence): Sentence[] {
  const text = sentence.text.replace(/[’‘]/gu, "'");
  const clauses: Sentence[] = [];
  let start = 0;
  const push = (end: number) => {
    const raw = sentence.text.slice(start, end);
    if (/\p{L}/u.test(raw)) clauses.push({ text: raw.trim(), start: sentence.start + start, end: sentence.start + end });
  };
  for (const cut of text.matchAll(CUT)) {
    push(cut.index);
    start = cut.index + cut[0].length;
  }
  push(text.length);
  return clauses;
}

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:can't|cannot|cant)\b/giu, "can not"],
  [/\bwon't\b/giu, "will not"],
  [/n't\b/giu, " not"],
  [/\bI'm\b|\bIm\b/giu, "I am"],
  [/\bwe're\b/giu, "we are"],
  [/'ve\b/giu, " have"],
  [/'d\b/giu, " would"],
  [/'ll\b/giu, " will"],
  [/\b(it|there|that|he|she|here)'s\b/giu, "$1 is"],
  [/\bwe are\b/giu, "I am"],
  [/\bwe\b/giu, "I"],
  [/\bour\b/giu, "my"],
  [/\bus\b/giu, "us"],
];

const OPENING =
  /^(?:and|but|so|also|well|ok(?:ay)?|yes|yeah|no(?=,)|oh|actually|honestly|personally|by the way|btw|please(?: note(?: that)?)?|note that|just so you know|for (?:future reference|the record|next time|your information)|fyi|(?:please )?(?:always )?(?:remember|keep in mind|bear in mind|don't forget|do not forget)(?: that)?|careful|be careful|as (?:i|you) (?:said|know|mentioned)|you should know(?: that)?|i should (?:say|mention|add)(?: that)?|i must say(?: that)?|to be honest|in general|as a rule|as always|when (?:i|we) (?:eat|go|dine|travel) out|when (?:i|we) travel|ideally|unfortunately|sadly|luckily|(?:because|since|as) (?:i|we|my|our)\b[^,]{2,60}(?=,)|(?:since|because|as) i(?:'m| am) \p{L}+|hi|hello|thanks|thank you|sorry|rather)(?=[\s,.:!-])[\s,.:!-]*/iu;
const ENDING =
  /(?:[\s,]+)(?:please|,? thanks|thank you|if (?:at all )?possible|if (?:it|that) is possible|if available|if there is one|myself|as well|too|a lot|so much|very much|the most|here|in general|at all|on the whole|whenever possible|where(?:ver)? possible|that is all|you know|though|actually|,? ever|,? remember)$/iu;
const USUAL =
  /\b(?:always|usually|generally|normally|mostly|often|typically|regularly|as a rule|every time|tend to|never|ever|in general|when(?:ever)? (?:i|we) (?:eat|go|dine|travel)(?: out)?)\b/iu;
const CHANGED = /\b(?:any ?more|any longer|no longer|now|nowadays|these days|recently|lately|since|from now on)\b/iu;
const ADVERBS =
  /\b(?:really|absolutely|always|usually|generally|normally|mostly|often|typically|regularly|definitely|simply|particularly|especially|also|still|nowadays|these days|now|recently|lately|personally|totally|truly|just|severely|highly|deathly|badly|strictly|terribly|extremely|quite|rather(?= (?:like|enjoy|fond))|strongly|completely|from now on)\s+/giu;

/** The clause made plain; `passing` is the caller's to know. */
export function plainClause(clause: string, passing: boolean): PlainClause {
  let text = clause.replace(/[’‘]/gu, "'").replace(/\s+/gu, " ").trim();
  const usual = USUAL.test(text);
  const changed = CHANGED.test(text);
  for (let before = ""; before !== text; ) {
    before = text;
    text = text
      .replace(OPENING, "")
      .replace(/[\s.!,;:…]+$/u, "")
      .replace(ENDING, "");
  }
  for (const [pattern, plain] of CONTRACTIONS) text = text.replace(pattern, plain);
  text = text
    .replace(/\btend to\b/giu, "")
    .replace(ADVERBS, "")
    .replace(/\s+(?:always|usually|often|normally|now|nowadays|these days|lately|any ?more|any longer)$/iu, "");
  return { text: text.replace(/\s+/gu, " ").trim(), usual, changed, passing };
}
