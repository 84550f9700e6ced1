import { attitudeIn, folded, wordsIn } from "maitred/stand-in";
import type { Vocabulary } from "./domain-words.js";
import type { Draft, ReadClause } from "./draft.js";
import { beginsAt, english, type Language, relationAt } from "./language.js";
import { rawWords } from "./names.js";
import { withWhom } from "./needs.js";
import { told } from "./said.js";
import { isUnsure, subjectFor } from "./who.js";

/** What is kept softly where it is said most plainly: a word of liking, of always or of home, in the guest's own clause. */

const MAX_WORDS = 14;
/** What is disliked plainly is so short: "loud bars", not "the way that they seat us". */
const MAX_DISLIKED_WORDS = 3;

export function statementsOf(read: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { clause, language, who, standing } = read;
  const { words } = clause;
  if (words.length < 2 || words.length > MAX_WORDS || language.unsure.in(words) !== -1) return [];
  const always = language.always.in(words) !== -1;
  const isEnglish = language.name === "en";
  // Of one evening, of this service, or a request.
  const trip = language.once.in(words) !== -1;
  // "I moved to Hamburg last month": there they live since.
  const moved = english.moved.in(words) !== -1;
  const passing = !always && !trip && !moved && [english.dated, english.requests].some((list) => list.in(words) !== -1);
  if (isEnglish && (passing || english.you.in(words) !== -1)) return [];
  if (isEnglish && !standing && words.some((word) => /^(?:i|we)'d$/u.test(word))) return [];
  const slot = slotOf(words, language, vocabulary);
  const disliked = isEnglish && !trip && !read.laughs && !isUnsure(who) ? dislikedIn(read, vocabulary) : null;
  // "Not a fan of opera", not "avoid the opera, please".
  const isOwn = disliked?.isBare === true && language.avoid.at(words, beginsAt(words)) === 0;
  const someone = who.kind === "self" || who.kind === "companion" || ((standing || isOwn) && who.kind === "nobody");
  const feeling = words.findIndex((word) => language.like.has(word) || language.dislike.has(word));
  const usual = (always || standing) && slot !== null;
  // "Love the hall though" is about what is here.
  const isShown =
    isEnglish &&
    feeling !== -1 &&
    (english.vague.at(words, feeling + 1) > 0 || feeling === words.length - 1 || language.first.has(words[feeling + 1]));
  if (!someone || !(slot?.aspect === "home" || (feeling !== -1 && !isShown) || usual || disliked !== null)) return [];
  // "We always sit there" tells of what was said before.
  if (english.ones.has(words.at(-1)) || english.again.in(words) !== -1) return [];
  if (trip && (feeling === -1 || slot === null)) return [];
  const raw = rawWords(clause.text).slice(feeling + 1);
  const about = disliked?.thing ?? raw.join(" ");
  const text = told(clause.text, who, language);
  return [
    {
      clause,
      // "Opera isn't my thing" is nobody's in a memory.
      text: disliked !== null && language.first.in(wordsIn(text)) !== -1 ? withWhom(who, `Dislikes ${about}`) : text,
      about,
      category: disliked?.category ?? slot?.category ?? (feeling !== -1 && /^\p{Lu}/u.test(about) ? "artist" : "other"),
      aspect: slot?.aspect ?? wordsIn(about).slice(0, 4).join(" ").slice(0, 64),
      condition: conditionIn(clause.text),
      need: null,
      hard: false,
      plain: disliked !== null,
      ...subjectFor(who),
      unsure: false,
      trip,
    },
  ];
}

interface Disliked {
  readonly thing: string;
  readonly category: string;
  readonly isBare: boolean;
}

/**
 * "I can't stand opera", "musicals aren't our thing": so plain that no judge is asked, of what the domain knows as a taste. Null: none, or
 * it may be what must not be, or somebody else's: "a colleague told me the crowd hates opera".
 */
function dislikedIn({ clause, who, language }: ReadClause, vocabulary: Vocabulary): Disliked | null {
  const attitude = attitudeIn(clause.text);
  if (attitude?.isAgainst !== true) return null;
  const { thing, before } = attitude;
  const words = wordsIn(thing);
  const category = words.length <= MAX_DISLIKED_WORDS ? vocabulary.tasteOf(words) : undefined;
  const name = who.kind === "companion" ? folded(who.name ?? who.relation) : "";
  const small = [language.first, english.fillers, english.auxiliaries];
  const isPerson = (at: number) => relationAt(before, at) !== undefined || language.pronounAt(before, at).length > 0;
  const isOfThem = (word: string, at: number) => word === name || isPerson(at) || small.some((list) => list.has(word));
  return category === undefined || !before.every(isOfThem) ? null : { thing, category, isBare: before.length === 0 };
}

/** Where among the domain's categories words belong, and as what: one home, one party, one limit at a time. */
export function slotOf(
  words: readonly string[],
  language: Language,
  vocabulary: Vocabulary,
): { readonly category: string; readonly aspect: string | undefined } | null {
  if (language.home.in(words) !== -1) return { category: "location", aspect: "home" };
  const isNumber = (word: string) => /^\d{1,2}$/u.test(word) || english.numbers.has(word);
  const isCounted = (word: string, at: number) => isNumber(word) && english.counted.at(words, at + 1) > 0;
  const isGroup = (word: string, at: number) => english.groups.has(word) && words[at + 1] === "of" && isNumber(words[at + 2] ?? "");
  if (words.some(isCounted) || words.some(isGroup)) return { category: "party_size", aspect: "party size" };
  // "My wife always comes with me."
  const withWhom = words.map((_, at) => relationAt(words, at)?.relation).find((relation) => relation !== undefined);
  if (withWhom !== undefined && words.includes("with")) return { category: "companions", aspect: withWhom };
  const category = vocabulary.categoryOf(words);
  return category === undefined ? null : { category, aspect: category === "budget" ? "budget" : undefined };
}

/** "For opera", "on trains": a narrowing at the end of a clause. */
function conditionIn(text: string): string {
  for (const { 0: found, 1: thing } of text.matchAll(/\b(?:for|on|at) (?:the )?(\p{L}+(?: trips)?)/giu))
    if (english.occasions.in(wordsIn(thing ?? "")) !== -1) return found;
  return "";
}
