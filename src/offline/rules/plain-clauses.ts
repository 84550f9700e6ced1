import type { Sentence } from "../../platform/language/own-words.js";
import { withoutAsides } from "./asides.js";
import type { PlainClause } from "./draft.js";
import type { Language } from "./language.js";
import { personAt } from "./people.js";
import { spelt } from "./spelling.js";

/** Cuts English sentences into clauses and makes them plain, so that the shapes stay few. */

const CUT =
  /\s*[;—–]\s*|\s+-\s+|,\s+so\s+(?!(?:please\s+)?(?:be\s+)?careful|you|watch|that)|,?\s+(?:and|but|so|yet|plus|because|since|although|though|while|whereas)\s+(?=(?:(?:i|i'm|i've|i'd|i'll|we|we're|we've|my|our|please|never|always|usually|now|no|not|the|some|he|she|they|he's|she's|they're|neither|both|loves?|joins?|comes?|brings?|eats?|drinks?|hates?|likes?|prefers?|enjoys?|needs?|uses?|is|has|can't|cannot|doesn't|normally|generally|mostly|often|typically)\b))|,\s+(?=(?:(?:usually|always|normally|generally|mostly|often|typically)\b(?!\s*[.!?]*$)|he|she|they|he's|she's|they're|both of|neither|nothing|i|i'm|i've|i'd|i'll|we|we're|we've|my|our|please\s+\p{L}|rather|so|but|never|not|that's|and)\b)/giu;

/** The other languages are cut where a new statement of the guest's own begins. */
const CUT_ABROAD =
  /\s*[;—–]\s*|,?\s+(?:und|aber|et|mais|y|pero|e|ma)\s+(?=(?:ich|wir|meine?|unsere?|sitze|esse|trinke|mag|brauche|habe|bin|kann|liebe|hasse|vertrage|allergisch|je|nous|on|ma|mon|mes|soy|tengo|no|me|mi|uso|vivo|siempre|sono|ho|non|mio|mia|preferisco|odio)(?!\p{L})|j')|,\s+(?=(?:ich|wir|meine?|je|nous|soy|tengo|sono|ho)(?!\p{L})|j')/giu;

/** Clauses with their offsets in the sentence. A clause without letters is passed over. */
export function clausesOf(sentence: Sentence, language: Language = "en"): Sentence[] {
  const text = sentence.text.replace(/[’‘]/gu, "'");
  const clauses: Sentence[] = [];
  let start = 0;
  const push = (end: number) => {
    const raw = sentence.text.slice(start, end);
    if (/\p{L}/u.test(raw)) clauses.push({ text: raw.trim(), start: sentence.start + start, end: sentence.start + end });
  };
  for (const cut of text.matchAll(language === "en" ? CUT : CUT_ABROAD)) {
    const left = text.slice(start, cut.index);
    if (language === "en" ? isUnfinished(left) : WITHOUT_VERB.test(left)) continue;
    push(cut.index);
    start = cut.index + cut[0].length;
  }
  push(text.length);
  return clauses;
}

/** "Meine Tochter und ich", "ma femme et moi". */
const WITHOUT_VERB = /^\s*(?:(?:mein|meine|unsere?|ma|mon|mi|mio|mia) \p{L}+|moi|io|yo)$/iu;

/** People without a verb ("my wife and I are …"), or a thing that what follows is about ("anything by Mozart and I'm happy"). */
function isUnfinished(clause: string): boolean {
  const said = withoutOpening(clause);
  if (/^(?:neither|anything (?:by|with|from|featuring))\b/iu.test(said)) return true;
  const rest = said.replace(/^.*\b(?:and|&)\s+(?=(?:my|our)\b)/iu, "");
  return personAt(said)?.length === said.length || personAt(rest)?.length === rest.length;
}

/** The clause from its subject on. */
export function withoutOpening(clause: string): string {
  let text = clause.trim();
  for (let before = ""; before !== text; ) {
    before = text;
    text = withoutAsides(text).replace(OPENING, "").replace(GROUNDS, "");
  }
  return text;
}

const CONTRACTIONS: readonly (readonly [RegExp, string | ((said: string) => string)])[] = [
  [/\b(?:can't|cannot|cant)\b/giu, "can not"],
  [/\b(do|does|is|are|was|did)nt\b/giu, "$1 not"],
  [/\bwon't\b/giu, "will not"],
  [/n't\b/giu, " not"],
  [/\bI'm\b|\bIm\b/giu, "I am"],
  [/\bwe're\b/giu, "we are"],
  [/\bthey're\b/giu, "they are"],
  [/\b(?:money|price|cost|air con|birthday|anniversary|name)'s\b/giu, (said: string) => `${said.slice(0, -2)} is`],
  [/'ve\b/giu, " have"],
  [/'d\b/giu, " would"],
  [/'ll\b/giu, " will"],
  [/\b(it|there|that|he|she|here)'s\b/giu, "$1 is"],
  [/\bwe are\b/giu, "I am"],
  [/\bwe\b/giu, "I"],
  [/\bour\b/giu, "my"],
  [/\b(for|to|with|suits?|fits?|bores?|leaves?|put|give|book|seat|send|call|text|email|write|contact|ring) us\b/giu, "$1 me"],
];

const OPENING =
  /^(?:and|but|so|also|well|ok(?:ay)?|yes|yeah|no(?=,)|oh|actually|honestly|personally|by the way|btw|please(?: note(?: that)?)?|note that|just so you know|for (?:future reference|the record|next time|your information)|fyi|(?:please )?(?:always )?(?:remember|keep in mind|bear in mind|don't forget|do not forget)(?: that)?|careful|be careful|as (?:i|you) (?:said|know|mentioned)|you should know(?: that)?|i should (?:say|mention|add)(?: that)?|i must say(?: that)?|to be honest|in general|as a rule|as always|when (?:i|we) (?:eat|go|dine|travel) out|when (?:i|we) travel|ideally|unfortunately|sadly|luckily|(?:because|since|as) (?:i|we|my|our)\b[^,]{2,60}(?=,)|(?:since|because|as) i(?:'m| am) \p{L}+|hi|hello|thanks|thank you|sorry|rather|just|great|oh and|hi there|hello there|hey(?: there)?|good (?:morning|afternoon|evening)|dear \p{L}+|turns out(?: that)?|(?:i'd|i would) say|it turns out(?: that)?|(?:if|when(?:ever)?) [^,]{2,50}(?:,|(?= (?:i|we) (?:always|usually|normally|generally|like|prefer|love|tend))))(?=[\s,.:!-])[\s,.:!-]*/iu;
/** What the clause starts from: "Since my knee surgery", "After Hamilton", "With my stick". */
const GROUNDS =
  /^(?:(?:ever )?since|after|because of|due to|owing to|following|given|thanks to|with|on account of|from) (?:(?:my|our|the|an?) [^,]{2,50}?|\p{L}[\p{L}' ]{1,30}?),?\s+(?=(?:i|i'm|i've|we|we're|we've)\s)/iu;
const ENDING =
  /(?:[\s,]+)(?:please|,? thanks|thank you|if (?:at all )?possible|if (?:it|that) is possible|if available|if there is one|myself|as well|too|a lot|so much|very much|the most|here|in general|at all|on the whole|whenever possible|where(?:ver)? possible|that is all|you know|though|actually|,? ever|,? remember)$/iu;
const USUAL =
  /\b(?:always|usually|generally|normally|mostly|often|typically|regularly|as a rule|every time|each time|any day|or nothing|tend to|never|ever|in (?:general|future)|for (?:the future|next time)|when(?:ever)? (?:i|we) (?:eat|go|dine|travel)(?: out)?)\b/iu;
const CHANGED = /\b(?:any ?more|any longer|no longer|now|nowadays|these days|recently|lately|since|from now on)\b/iu;
const ADVERBS =
  /\b(?:really|absolutely|always|usually|generally|normally|mostly|often|typically|regularly|definitely|simply|particularly|especially|also|still|nowadays|these days|now|recently|lately|personally|totally|truly|actually|just|severely|highly|deathly|badly(?= (?:allergic|intolerant))|strictly|terribly|extremely|quite|rather(?= (?:like|enjoy|fond))|strongly|completely|from now on)\s+/giu;

/** The clause made plain; `passing` is the caller's to know. */
export function plainClause(clause: string, passing: boolean, reasoned = false): PlainClause {
  let text = spelt(clause.replace(/[’‘]/gu, "'").replace(/\s+/gu, " ").trim());
  // "Could you always answer in Italian?" asks for what is to hold.
  if (/^(?:can|could|would|will) you (?:please )?(?:always|never|only)\b/iu.test(text)) text = text.replace(/[\s?]+$/u, "");
  const usual = USUAL.test(text);
  const changed = CHANGED.test(text);
  for (let before = ""; before !== text; ) {
    before = text;
    text = withoutAsides(text)
      .replace(OPENING, "")
      .replace(GROUNDS, "")
      .replace(/[\s.!,;:…]+$/u, "")
      .replace(ENDING, "");
  }
  for (const [pattern, plain] of CONTRACTIONS) text = text.replace(pattern, plain as string);
  text = text
    .replace(/^(?:can|could|would|will) you (?:please )?(?=(?:always|never|only|please) )/iu, "")
    .replace(/^I would (?:prefer|like) (?:it if )?you(?: to|(?: would| could)?) /iu, "")
    .replace(
      /^I have (?:always |long )(lov|lik|enjoy|ador|hat|dislik|prefer)e?d /iu,
      (_, verb: string) => `I ${/^(?:lov|lik|ador|hat|dislik)$/iu.test(verb) ? `${verb}e` : verb} `,
    )
    .replace(/^I have never (lik|lov|enjoy|car)e?d /iu, (_, verb: string) => `I do not ${verb === "enjoy" ? verb : `${verb}e`} `)
    .replace(/\bI (?:both|all) /iu, "I ")
    .replace(/^I am (?:both|all) /iu, "I am ")
    .replace(/\btend to\b/giu, "")
    .replace(ADVERBS, "")
    .replace(/[\s,]+(?:always|usually|often|normally|now|nowadays|these days|lately|any ?more|any longer)$/iu, "");
  return { text: text.replace(/\s+/gu, " ").trim(), usual, changed, reasoned, passing };
}

/** What a clause ends with and stands without: why, what for, since when, how much. */
const TAIL =
  /(?:,\s+|\s+)(?:because|due to|on account of|thanks to|so (?:that )?(?=(?:I|nobody|no one|my|the)\b)|since|as (?=(?:I|my|the)\b)|after|before (?=my)|whenever|while|for (?:medical|health|religious|ethical|many|ages|years|some|about|the (?:last|past)|\d+|two|three|five|ten|twenty|over)\b|when (?=(?:I|they|it|there)\b)|all my life|most of the time|if (?:at all )?possible|(?:the|it|that|which) (?:\p{L}+ )?(?:is|are|was)|everyone|everybody|in my (?:house|family|home)|at home|the (?:sound|view|last) ).*$/iu;

/** The clause without what is said behind it; null where there is nothing. */
export function withoutTail(clause: PlainClause): PlainClause | null {
  const text = clause.text.replace(TAIL, "").replace(/[\s,]+$/u, "");
  return text === clause.text || text.split(" ").length < 2 ? null : { ...clause, text };
}
