import { wordsIn } from "../../platform/phrase-list.js";
import type { Vocabulary } from "./domain-words.js";
import { asSaid, type Draft, type ReadClause, subjectFor, withWhom } from "./draft.js";
import type { EnglishClause } from "./english-clause.js";
import { foreign } from "./foreign.js";
import { bare, budget, channel, company, habit, home, loyalty, party } from "./habits.js";
import { english } from "./language.js";
import { type Form, isShown, recurs, type Said, type Told } from "./said.js";
import { ended, favourite, fond, refuses, suits, taste, wished } from "./tastes.js";

/** What is kept softly: tastes, habits, home, party, budget. A table of plain English forms, of which the first that fits counts. */

const MAX_WORDS = 18;

export function statementsOf(read: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { clause, language, parsed, who } = read;
  if (language.unsure.in(clause.words) !== -1 || (who.kind === "companion" && who.stranger)) return [];
  const told = parsed === null ? foreign(read, vocabulary) : inEnglish(read, parsed, vocabulary);
  if (told === null || told.about === "") return [];
  const words = wordsIn(told.about);
  const byVerb = parsed !== null && parsed.verb !== "" && parsed.thing === "" && (who.kind === "self" || who.kind === "companion");
  const text = told.text ?? (byVerb ? parsed.thirdPerson : asSaid(clause.text));
  return [
    {
      clause,
      text: parsed === null ? text : withWhom(who, text),
      about: told.about,
      category: told.category ?? vocabulary.categoryOf(words) ?? (/^\p{Lu}/u.test(told.about) ? "artist" : "other"),
      aspect: told.aspect ?? words.slice(0, 4).join(" ").slice(0, 64),
      condition: conditionIn(clause.text),
      need: null,
      hard: false,
      ...subjectFor(who),
      unsure: false,
      trip: language.once.in(clause.words) !== -1,
    },
  ];
}

function inEnglish(read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Told | null {
  const { who, language, clause } = read;
  const { words, restWords, rest, past, auxiliaries } = parsed;
  const usual = recurs(words) || language.always.in(clause.words) !== -1;
  // Of one evening, or too long to be plain. "Always on a Saturday" lasts.
  const dated = words.some((word) => english.dated.is(word) && !(usual && word.endsWith("day") && word !== "today"));
  // What is said of "you" is about this service.
  const once = language.once.in(clause.words) !== -1;
  if (words.length > MAX_WORDS || (dated && !once) || words.some((word) => english.you.is(word)) || english.ones.has(words.at(-1)))
    return null;
  const self = who.kind === "self";
  const said: Said = {
    ...parsed,
    read,
    vocabulary,
    plain: words.slice(
      Math.max(
        0,
        words.findIndex((word) => !english.fillers.is(word)),
      ),
    ),
    own: self && parsed.thing === "",
    someone: who.kind === "companion" || (self && parsed.thing === ""),
    usual,
    tellsOf: restWords.length > 0 && english.vague.at(restWords, 0) === 0 && !isShown(restWords) && /\p{L}/u.test(rest),
  };
  const supposed = past || auxiliaries.some((word) => ["will", "would", "could", "should", "shall", "did"].includes(word));
  for (const form of supposed ? SUPPOSED : dated ? OF_ONE_TRIP : PLAIN) {
    const told = form(said);
    if (told !== null) return told;
  }
  return null;
}

const ALWAYS_READ: readonly Form[] = [home, wished, ended, refuses];
/** Of what is past, or only would be. */
const SUPPOSED = ALWAYS_READ;
const OF_ONE_TRIP: readonly Form[] = [taste];
const PLAIN: readonly Form[] = [...ALWAYS_READ, ...[fond, budget, party, company, favourite, taste, loyalty, channel, habit, suits, bare]];

/** "For opera", "on trains": a narrowing at the end of a clause. */
function conditionIn(text: string): string {
  for (const { 0: found, 1: thing } of text.matchAll(/\b(?:for|on|at) (?:the )?(\p{L}+(?: trips)?)/giu))
    if (english.occasions.in(wordsIn(thing ?? "")) !== -1) return found;
  return "";
}
