import type { ScriptCall } from "../../offline-script.js";
import { asMainClause } from "../../platform/language/german-order.js";
import { conceptsIn } from "../../platform/language/lexicon.js";
import { genresIn, partyIn, priceIn, wantsStepFree } from "./words.js";

/** "I prefer aisle seats" → "Prefers aisle seats". */
const THIRD_PERSON: readonly (readonly [RegExp, string])[] = [
  [/^(?:i am|i'm|im)\s+/i, "Is "],
  [/^(?:we are|we're)\s+/i, "Are "],
  [/^(?:i have|i've)\s+/i, "Has "],
  [/^i (?:do not|don't)\s+/i, "Does not "],
  [/^i (?:can't|cannot|can not)\s+/i, "Can't "],
  [/^i (?:always|usually|often|mostly|generally|normally|never|really|also)\s+(\w+)\s+/i, "$verb "],
  [/^i\s+(\w+)\s+/i, "$verb "],
  [/^(?:my|our)\s+/i, ""],
];

/** What is to be remembered, as the memory tool takes it. The quote is the guest's; only its person is turned. */
export function rememberCall(said: string, quote: string, message: string): ScriptCall {
  const text = thirdPerson(asMainClause(said.trim(), message).replace(/[.!]+$/, ""));
  const companion = /^my (mother|mum|mom|father|dad|wife|husband|partner|daughter|son|sister|brother|friend|girlfriend|boyfriend)\b/i.exec(
    said.trim(),
  )?.[1];
  const { category, hard } = categoryOf(said);
  return {
    name: "remember",
    arguments: {
      quote,
      text,
      category,
      type: hard ? "constraint" : category === "other" ? "fact" : "preference",
      strength: hard ? "hard" : "soft",
      ...(companion !== undefined && { subject: `companion:${companion.toLowerCase()}` }),
    },
  };
}

function thirdPerson(said: string): string {
  for (const [pattern, start] of THIRD_PERSON) {
    const match = pattern.exec(said);
    if (match === null) continue;
    const adverb = /^i (always|usually|often|mostly|generally|normally|never|really|also)\s/i.exec(said)?.[1];
    const verb = withS(match[1] ?? "");
    const lead = start !== "$verb " ? start : adverb === undefined ? `${verb} ` : `${adverb} ${verb} `;
    const text = lead + said.slice(match[0].length);
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
  return said.charAt(0).toUpperCase() + said.slice(1);
}

function withS(verb: string): string {
  const word = verb.toLowerCase();
  if (/^(?:can|must|will|would|should|may|might)$/.test(word)) return word;
  if (word === "have") return "has";
  if (word === "do" || word === "go") return `${word}es`;
  if (/(?:s|sh|ch|x|z)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** "No dairy for me". */
const NONE_OF = /^(?:no|without|never(?: any)?|nothing with|kein\p{L}*|ohne|pas de|sin|senza)\s/iu;

/** What it is about where no rule reads it. */
function categoryOf(said: string): { readonly category: string; readonly hard: boolean } {
  if (/\b(?:allerg\w*|intoleran\w*|coeliac|celiac)\b/i.test(said)) return { category: "dietary", hard: true };
  if (wantsStepFree(said) || /\b(?:hearing|deaf|blind|guide dog)\b/i.test(said)) return { category: "accessibility", hard: true };
  if (NONE_OF.test(said) && conceptsIn(said).some(({ topic }) => topic === "substance")) return { category: "dietary", hard: true };
  if (/\b(?:vegetarian|vegan|halal|kosher|pescatarian)\b/i.test(said)) return { category: "dietary", hard: true };
  if (/\b(?:aisle|row|front|back|balcony|stalls|sit|seats? (?:near|by|at))\b/i.test(said)) return { category: "seating", hard: false };
  if (priceIn(said) !== undefined) return { category: "budget", hard: false };
  if (genresIn(said).length > 0) return { category: "genre", hard: false };
  if (partyIn(said) !== undefined) return { category: "party_size", hard: false };
  if (/\b(?:live|staying|home|hotel)\b/i.test(said)) return { category: "location", hard: false };
  if (
    /\b(?:weekends?|evenings?|matinees?|mornings?|afternoons?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)\b/i.test(
      said,
    )
  )
    return { category: "schedule", hard: false };
  return { category: "other", hard: false };
}
