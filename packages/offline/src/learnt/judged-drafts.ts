// Over 300 lines: what is kept of a sentence as it was said, and all that speaks against it.

import { type WordList, wordsIn } from "maitred/stand-in";
import { type Clause, clausesOf } from "../reading/clauses.js";
import { saysWhoComes } from "../reading/company.js";
import { isDenied } from "../reading/denied-needs.js";
import type { FoundNeed, Vocabulary } from "../reading/domain-words.js";
import type { Draft } from "../reading/draft.js";
import { isDenial } from "../reading/endings.js";
import { asksForSeats, beginsAt, english, type Language, relationAt, UNKNOWN } from "../reading/language.js";
import { isName, rawWords } from "../reading/names.js";
import { namesHarm } from "../reading/no-needs.js";
import { saysOver } from "../reading/over.js";
import { told } from "../reading/said.js";
import { slotOf } from "../reading/statements.js";
import { type Companion, isUnsure, type Named, subjectFor, whoIn } from "../reading/who.js";
import type { Judgement } from "./sentence-judge.js";

/** From here on words are kept that no rule understands: then 19 of 20 that are kept of conversations that were left out are right. */
const KEEP_FROM = 2.8;
/** From here on a sentence is kept of which a rule understood a part. */
export const PARTLY_READ_FROM = 1.2;
/** From here on a taste is kept beside what must hold, where a rule understood all of its clause. */
export const UNDERSTOOD_KEEP_FROM = 0;
/** So much more in other languages, of which less was learnt. */
const ABROAD = 0.8;
/** From here on the guest is asked about what seems to have to hold, and where it may not be meant. */
const ASK_FROM = -1.5;
const DOUBTED_ASK_FROM = -0.7;
/** From here on what must hold is kept without a question. */
const HARD_KEEP_FROM = 1.7;
/** From here on it seems to have to hold. */
const HARD_FROM = -0.3;
/** From here on, both together, the guest is asked about what names no need, and is of no category that needs are of. */
const UNNAMED_FROM = 2;
/** From here on it may, where less is sure: it is asked about. */
const MAYBE_HARD_FROM = -1.5;
/** Below, the guest is asked about what must hold by the rules. */
export const BELIEVE_HARD_FROM = 0;
/** From here on a sentence takes back what the message before told; from less on where its words plainly take something back. */
export const BACK_FROM = -1.8;
export const BACK_FROM_PLAIN = -3.5;
/** In other languages, of which less was learnt: an order or a yes takes nothing back. */
export const BACK_FROM_ABROAD = -2;
/** Longer ones tell more than one thing, and what is asked beside it. */
const MAX_CHARS = 240;
const MIN_WORDS = 4;

/** What the rules read by themselves: what must hold, and what is whole. */
export function isRead({ hard, whole }: Draft): boolean {
  return hard || whole === true;
}

/**
 * A sentence without what must hold by the rules: all of it, or its longest run of clauses. Null where these have no four words, and no
 * rule understood them.
 */
export function unreadIn(clauses: readonly Clause[], whole: Clause, drafts: readonly Draft[]): Clause | null {
  if (!drafts.some(isRead)) return whole;
  let [from, longest]: [Clause | null, Clause | null] = [null, null];
  for (const clause of clauses) {
    const within = ({ clause: { start, text } }: Draft) => start <= clause.start && start + text.length > clause.start;
    from = drafts.some((draft) => isRead(draft) && within(draft)) ? null : (from ?? clause);
    if (from === null) continue;
    const text = whole.text.slice(from.start - whole.start, clause.start - whole.start + clause.text.length);
    if (text.length > (longest?.text.length ?? 0)) longest = { text, start: from.start, words: wordsIn(text), index: from.index };
  }
  if (longest === null) return null;
  const isUnderstood = drafts.some((draft) => !isRead(draft) && draft.clause.start === longest.start);
  return longest.words.length >= MIN_WORDS || isUnderstood ? longest : null;
}

/** Words in which the rules understood several things that the guest says of themself ("I love jazz, and I usually book 2"), one by one. */
export function partsOf(unread: Clause, clauses: readonly Clause[], drafts: readonly Draft[], { first }: Language): readonly Clause[] {
  const end = unread.start + unread.text.length;
  const inside = clauses.filter(({ start }) => start >= unread.start && start < end);
  const things = drafts.filter(
    ({ hard, clause, category, aspect }, at) =>
      !hard &&
      inside.includes(clause) &&
      first.has(clause.words[0]) &&
      !drafts.slice(0, at).some((other) => other.category === category && other.aspect === aspect),
  );
  if (things.length < 2) return [unread];
  return things.map(({ clause }, at) => {
    const from = at === 0 ? unread.start : clause.start;
    const until = things[at + 1]?.clause.start ?? end;
    const last = inside.findLast(({ start }) => start < until) ?? clause;
    const text = unread.text.slice(from - unread.start, last.start + last.text.length - unread.start);
    return { text, start: from, words: wordsIn(text), index: clause.index };
  });
}

export interface AsSaidOptions {
  readonly language: Language;
  readonly vocabulary: Vocabulary;
  /** A rule understood a part of it. */
  readonly plain: boolean;
  /** It may not be meant: nothing but a question comes of it. */
  readonly doubted: boolean;
  /** It tells that somebody has no need: nothing that must hold. */
  readonly none: boolean;
  /** Whom "he" and "her" mean. Null: nobody was named. */
  readonly companion: Companion | null;
  /** Whose name begins the words, who may be nobody's. */
  readonly called: Companion | null;
  /** What must hold, as the rules read it in the message. */
  readonly beside: readonly Draft[];
  /** It is what is left of a sentence in which they read some of it. */
  readonly isRest: boolean;
}

/** What is kept of words as they were said. */
export function keptAsSaid(clause: Clause, judgement: Judgement, options: AsSaidOptions): readonly Draft[] {
  const { language, vocabulary, plain, doubted, none, companion, called } = options;
  const { words } = clause;
  const keepFrom = (plain ? PARTLY_READ_FROM : KEEP_FROM) + (language.name === "en" ? 0 : ABROAD);
  const named = speaksOfNeeds(words, language, vocabulary);
  const isNamed = named || refuses(words, language);
  const ofNeeds = named && (judgement.category === "dietary" || judgement.category === "accessibility");
  // What may have to hold, and names nothing that must, is a guess: "my sister comes too", "I adore the theatre".
  const isTheirs = isToldOfAnother(words, language, vocabulary);
  const hard = isTheirs || judgement.hard >= (ofNeeds || (isNamed && judgement.keep < keepFrom) ? MAYBE_HARD_FROM : HARD_FROM);
  if (hard && isGuess(words, judgement, named, options)) return [];
  if (hard && asksForSeats(words)) return [];
  // "My wife always comes along" is a habit.
  if (saysWhoComes(clause, language, vocabulary) && language.always.in(words) === -1) return [];
  const isFree = none || mindsNothing(words, vocabulary);
  if (isFree && (hard || judgement.category === "dietary" || judgement.category === "accessibility")) return [];
  const said = whoIn(clause, language, false);
  if (hard && !named && isOfThirdParty(clause, judgement, said, language)) return [];
  const isCalled = called !== null && (said.kind === "nobody" || said.kind === "pronoun");
  const who = said.kind === "pronoun" && companion !== null && !isCalled ? companion : said;
  // "The couple we met are both deaf" is not about the guest.
  const isPlain = said.kind === "companion" || (who.kind === "self" && !language.others.has(words[0]));
  // "Flashing lights set me off" must hold from less on than a taste is kept, where nothing denies it.
  const denied = language.name !== "en" || [language.not, english.ends].some((list) => list.in(words) !== -1);
  const sureFrom = denied || !isPlain ? Math.max(keepFrom, KEEP_FROM) : HARD_KEEP_FROM;
  const passing = doubted || language.once.in(words) !== -1 || english.again.in(words) !== -1;
  if (judgement.keep < (hard ? (passing ? DOUBTED_ASK_FROM : ASK_FROM) : keepFrom) || clause.text.length > MAX_CHARS || (passing && !hard))
    return [];
  // "Book the second one for me and Leo" tells of one evening.
  const begins = beginsAt(words);
  const asks = english.orders.at(words, begins) > 0 || vocabulary.requestsAt(words, begins);
  // "How far is the walk from there?", "find us a table": nothing in it is anybody's need.
  const isQuestion = clause.text.includes("?") || (language.name === "en" && english.openers.at(words, begins) > 0);
  if (hard && !isNamed && (asks || isQuestion)) return [];
  // "Camarão nem pensar, viu?" asks nothing.
  if (hard && isQuestion && !refuses(words, language) && isOfNobody(clause, language, vocabulary)) return [];
  if (hard && (asks || isQuestion) && isWanted(words, begins, language, vocabulary)) return [];
  if (asks && !hard && language.always.in(words) === -1) return [];
  // "Uncle's a platinum member": nobody says that he comes along.
  const isOfAnother = relationAt([words[0]?.replace(/'s$/u, "") ?? ""], 0) !== undefined && language.first.in(words) === -1;
  if (isOfAnother && !hard) return [];
  // Who is no family may come along all the same: the guest is asked.
  const isOfAnotherOne = isTheirs || deniesForAnother(words, language);
  const goesOver = said.kind === "self" && isOfAnotherOne;
  const another = isCalled ? called : said.kind === "other" ? said.acquaintance : goesOver ? companion : null;
  // "Private room, Dad's hearing aids go mental": nobody else is named.
  const theirs = said.kind === "nobody" ? onlyRelationIn(words) : null;
  const acquaintance = hard ? (another ?? theirs) : null;
  const meant = who.kind === "companion" ? who : (acquaintance ?? ({ kind: "self" } as const));
  const text = told(clause.text, meant, language);
  const needs = vocabulary.needsIn(words);
  const isNone = [looksForOne, isSimile].some((speaksAgainst) => speaksAgainst(clause, language, vocabulary));
  if (hard && (isNone || isMarkup(clause, vocabulary) || goesOn(clause, options))) return [];
  const slot = slotOf(words, language, vocabulary);
  // What must hold is asked about where it is said of nobody, too.
  // "Ruth and Tom can't have nuts", "callum cant eat egg, the rest of us are fine": somebody is told of, and nobody knows who.
  const tellsAt = language.tells.in(words);
  const isOfUnknown =
    tellsAt > begins &&
    language.first.in(words.slice(0, tellsAt)) === -1 &&
    needs.every(({ at }) => at > tellsAt) &&
    who.kind !== "companion";
  const doubtful =
    passing ||
    who.kind === "pronoun" ||
    who.kind === "other" ||
    isOfUnknown ||
    isUnsure(who) ||
    isOfAnother ||
    isDoubtedFirst(words, language, vocabulary) ||
    (companion === null && isOfAnotherOne) ||
    acquaintance !== null ||
    judgement.keep < sureFrom ||
    judgement.hard < HARD_FROM;
  const need = hard ? needNamedIn(clause, language, vocabulary, doubtful) : null;
  // A sentence that names no need holds by the guest's yes alone.
  const unsure = hard && (doubtful || need === null);
  return [
    {
      clause,
      text,
      about: text.slice(0, 200),
      category: hard ? (need?.category ?? judgement.category) : (slot?.category ?? judgement.category),
      aspect: slot?.aspect ?? "",
      condition: "",
      need: hard ? (need?.need ?? "other") : null,
      hard,
      ...subjectFor(meant),
      unsure,
      trip: false,
    },
  ];
}

/** "I might be allergic to kiwi": the doubt stands before what it is about. */
function isDoubtedFirst(words: readonly string[], { name, unsure }: Language, vocabulary: Vocabulary): boolean {
  const at = unsure.in(words);
  return name === "en" && at !== -1 && vocabulary.needsIn(words).every((need) => need.at > at);
}

/**
 * "My doctor can come and tell me himself", "one of the ladies told me in confidence …": of nobody of the guest's, and nothing of it is a
 * need, by its words or to the judge.
 */
function isOfThirdParty({ words }: Clause, { keep, hard }: Judgement, said: Named, { name }: Language): boolean {
  return name === "en" && english.hearsay.in(words) !== -1 && said.kind !== "companion" && keep + hard < UNNAMED_FROM;
}

/**
 * "Hebben jullie plaats voor een rolstoel?" asks what there is; "silla de ruedas, ¿se puede?" tells a need before it asks, and an allergy
 * is somebody's. Elsewhere than in English, of which more is known.
 */
function isOfNobody({ text, words }: Clause, language: Language, vocabulary: Vocabulary): boolean {
  const { name, first, mine, pronounAt } = language;
  if (namesHarm(words, language)) return false;
  if (vocabulary.needsIn(wordsIn(text.slice(0, Math.max(0, text.lastIndexOf(","))))).length > 0) return false;
  const isSomebody = (word: string, at: number) =>
    first.has(word) || mine.has(word) || relationAt(words, at) !== undefined || pronounAt(words, at).length > 0;
  return name !== "en" && name !== UNKNOWN && !words.some(isSomebody);
}

/** The one relation that words name, which may not be who is meant. Null: none, or several, or the guest is named too. */
function onlyRelationIn(words: readonly string[]): Companion | null {
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  const named = new Set(bare.flatMap((_, at) => relationAt(bare, at)?.relation ?? []));
  const [relation, ...more] = named;
  const isOne = relation !== undefined && more.length === 0 && english.only_ones.has(relation);
  return isOne && english.first_person.in(words) === -1 ? { kind: "companion", relation, name: null, unsure: true } : null;
}

/** "I find fusion like being trapped in a lift": what something is like is nobody's need, but "like being stabbed if I eat gluten". */
function isSimile({ words }: Clause, language: Language, vocabulary: Vocabulary): boolean {
  const at = english.similes.in(words);
  const needs = vocabulary.needsIn(words);
  const isMeant = refuses(words.slice(at), language) || tellsOfNeeds(words) || english.not_yet.in(words) !== -1;
  return language.name === "en" && at !== -1 && !isMeant && needs.length > 0 && needs.every((need) => need.at > at);
}

/** What only goes on is so short. */
const MAX_GOING_ON = 12;

/** What follows from needs of one category alone. */
const FOLLOWS = [
  { category: "dietary", list: english.follows_dietary },
  { category: "accessibility", list: english.follows_accessibility },
];

/**
 * "Ruth can't manage stairs, since her fall, so ground floor", "no nuts. Really none, not even traces": it begins as what goes on about
 * what was read does, and tells of no need of its own, nor of anybody.
 */
function goesOn({ text, words }: Clause, { language, vocabulary, beside, isRest, called }: AsSaidOptions): boolean {
  const needs = vocabulary.needsIn(words);
  const held = needs.filter(({ need }) => need !== "other" && beside.some((draft) => draft.need === need));
  if (beside.length === 0) return false;
  const follows = FOLLOWS.filter(({ category }) => isRest && beside.every((draft) => draft.category === category)).map(({ list }) => list);
  if (addsNothing(words, held, language, [english.how_bad, ...follows])) return true;
  const leads = [english.so, english.theirs].some((list) => list.has(words[0]));
  const begun = english.goes_on.at(words, 0) > 0 || (leads && needs.length > 0);
  if (!begun || held.length < needs.length || words.length > MAX_GOING_ON || vocabulary.reasonsIn(words).length > 0 || called !== null)
    return false;
  if (language.first.in(words) !== -1 || english.harms.in(words) !== -1 || rawWords(text).slice(1).some(isName)) return false;
  const isOfSomebody = words.some(
    (word, at) => relationAt(words, at) !== undefined || (!english.theirs.has(word) && language.pronounAt(words, at).length > 0),
  );
  return !isOfSomebody && !saysMust(words) && english.dated.in(words) === -1;
}

/**
 * "Actual coeliac, not fashion coeliac", "epipen and everything", "not a bit of cake even", "so packed lunch would be great": how bad is
 * what was read, or what follows from it. Every other word may be what else must hold.
 */
function addsNothing(words: readonly string[], held: readonly FoundNeed[], { name }: Language, lists: readonly WordList[]): boolean {
  if (name !== "en" || lists.every((list) => list.in(words) === -1) || english.second.in(words) !== -1) return false;
  const small = [english.fillers, english.tails, english.glue, english.articles];
  const known = (at: number) => Math.max(...[...lists, ...small].map((list) => list.at(words, at)));
  const named = (at: number) => held.find((need) => need.at === at)?.length ?? 0;
  for (let at = 0; at < words.length; ) {
    const length = Math.max(known(at), named(at));
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/**
 * Nothing of the body, food or faith is named, nor the guest, and the judge alone takes it for what must hold, a little: to ask about it
 * makes no sense. Nor does it about what is well again ("his knee is fine again").
 */
function isGuess(words: readonly string[], { keep, hard, category }: Judgement, named: boolean, options: AsSaidOptions): boolean {
  const { language, vocabulary } = options;
  if (saysMust(words)) return false;
  const isOfNeeds = category === "dietary" || category === "accessibility";
  // "No, she's fine with walking" answers, and denies nothing.
  const told = words.slice(english.answers_no.has(words[0]) ? 1 : 0);
  if (!named) return !isOfNeeds && language.first.in(words) === -1 && keep + hard < UNNAMED_FROM;
  return (
    vocabulary.needsIn(words).length === 0 &&
    language.not.in(told) === -1 &&
    [english.well, english.was_so].some((list) => list.in(told) !== -1)
  );
}

/** "I need a fridge", "it must have one". */
function saysMust(words: readonly string[]): boolean {
  return words.some((word) => english.needing.is(word.replace(/s$/u, ""))) || english.musts.in(words) !== -1;
}

/** Words for a need, for what it comes from, or for what must be. */
function speaksOfNeeds(words: readonly string[], language: Language, vocabulary: Vocabulary): boolean {
  if (vocabulary.needsIn(words).length > 0 || vocabulary.reasonsIn(words).length > 0) return true;
  return language.name === "en" && tellsOfNeeds(words);
}

/** By words that need no thing beside them. */
function tellsOfNeeds(words: readonly string[]): boolean {
  const telling = [english.cued, english.needing, english.musts, english.harms, english.health, english.advice];
  return telling.some((list) => list.in(words) !== -1);
}

/** "Book the almond oil massage", "can I have the nut cake": what somebody else would avoid is just what is asked for. */
function isWanted(words: readonly string[], from: number, language: Language, vocabulary: Vocabulary): boolean {
  const needs = vocabulary.needsIn(words);
  const first = Math.min(...needs.map(({ at }) => at));
  const last = Math.max(...needs.map(({ at, length }) => at + length));
  const isNeed = (place: number) => needs.some(({ at, length }) => place >= at && place < at + length);
  const areOne = words.slice(first, last).every((_, place) => isNeed(first + place));
  const isNext = first > from && words.slice(from + 1, first).every((word) => english.before_ordered.has(word));
  const isAvoided = refuses(words, language) || (language.name === "en" && tellsOfNeeds(words));
  return needs.length > 0 && areOne && isNext && !isAvoided && needs.every(({ kind }) => kind === "avoid");
}

const MIND = "mind";

/** "I don't mind stairs", "she eats anything": not "everything but pork", nor what is named besides. */
function mindsNothing(words: readonly string[], vocabulary: Vocabulary): boolean {
  const at = english.unminding.in(words);
  if (at === -1 || english.exceptions.in(words) !== -1) return false;
  const next = at + english.unminding.at(words, at);
  const isMinded = (need: FoundNeed) => words[next - 1] === MIND && words.slice(next, need.at).every((word) => english.glue.has(word));
  return vocabulary.needsIn(words).every(isMinded);
}

/** "We have ice cream, but she can't have milk": of whom nobody spoke. English. */
function deniesForAnother(words: readonly string[], language: Language): boolean {
  if (language.name !== "en") return false;
  const isOne = (at: number) => language.pronounAt(words, at).some((meant) => meant !== "they");
  const denies = (at: number) => words.slice(at + 1, at + 3).some((word) => isDenial(word, language));
  return words.some((_, at) => isOne(at) && denies(at)) && !words.some((_, at) => relationAt(words, at) !== undefined);
}

/** "We're only here two days and she is coeliac": between the guest and the need stands somebody else. */
function isToldOfAnother(words: readonly string[], language: Language, vocabulary: Vocabulary): boolean {
  const need = Math.min(...vocabulary.needsIn(words).map(({ at }) => at));
  const isOne = (at: number) => language.pronounAt(words, at).some((meant) => meant !== "they");
  const another = words.findLastIndex((_, at) => at < need && isOne(at));
  const between = words.slice(Math.max(another, 0), need);
  const isTold = between.some((word) => word.endsWith("'s")) || language.tells.in(between) !== -1;
  return another !== -1 && isTold && [language.first, language.mine].every((list) => list.in(between) === -1);
}

/** Something is denied, or avoided. */
function refuses(words: readonly string[], language: Language): boolean {
  return language.avoid.in(words) !== -1 || words.some((word) => isDenial(word, language));
}

const MARKUP = /<\/?[a-z!]|\w\(|[{}\\]|=>/iu;

/** "<script>…</script>": no words of a need stand in it. */
function isMarkup({ text, words }: Clause, vocabulary: Vocabulary): boolean {
  return MARKUP.test(text) && vocabulary.needsIn(words).length === 0 && english.cued.in(words) === -1;
}

/** "For two", "for 4". */
const FOR = "for";
const IN_A_PLACE = /\bin \p{Lu}/u;

/**
 * "Vegan dinner in Berlin for two": a search for one evening. It names nobody, a diet of a table, a menu or a place, and for how many,
 * where or when. What is asked for always, only, or for somebody may have to hold, and so may what does harm ("nut free"): it is asked
 * about.
 */
function looksForOne({ text, words }: Clause, language: Language, vocabulary: Vocabulary): boolean {
  if (language.name !== "en") return false;
  const needs = vocabulary.needsIn(words);
  const isOfNeed = (at: number) => needs.some((need) => at >= need.at && at < need.at + need.length);
  const others = words.filter((_, at) => !isOfNeed(at));
  const telling = [language.first, language.always, language.avoid, language.not, language.like, english.seldom];
  const isOfSomebody = telling.some((list) => list.in(others) !== -1) || words.some((_, at) => relationAt(words, at) !== undefined);
  if (needs.length === 0 || isOfSomebody || !needs.every((each) => isDietOfPlace(each, words))) return false;
  const counted = words.some((word, at) => word === FOR && (/^\d{1,2}$/u.test(words[at + 1] ?? "") || english.numbers.has(words[at + 1])));
  return counted || IN_A_PLACE.test(text) || [english.dated, english.requests, language.once].some((list) => list.in(words) !== -1);
}

function isDietOfPlace({ need, at, length }: FoundNeed, words: readonly string[]): boolean {
  return english.diets.is(need) && english.nouns_after.at(words, at + length, { slips: true }) > 0;
}

/** Of whom it is told stands so close before what they can't have. */
const SUBJECT_WITHIN = 4;

/**
 * The one need that words name which must hold; null where they name none, several, or deny something. `asked`: the guest is asked, so that
 * what somebody is or does is enough of a thing that must not be ("I'm coeliac"); "it's the walnuts" corrects what was said.
 */
function needNamedIn(clause: Clause, language: Language, vocabulary: Vocabulary, asked: boolean): FoundNeed | null {
  const { words } = clause;
  const [first, ...more] = vocabulary.needsIn(words);
  if (first === undefined || isOver(words, language, vocabulary) || more.some(({ need }) => need !== first.need)) return null;
  // Whoever is asked knows what denies it.
  if (language.name === UNKNOWN) return first;
  if (first.kind === "be") return isDeniedNeed(clause, first, language, vocabulary) ? null : first;
  const subject = words.slice(Math.max(0, first.at - SUBJECT_WITHIN), first.at);
  const isOfSomebody = asked && [language.first, language.mine].some((list) => list.in(subject) !== -1);
  return isOfSomebody || language.avoid.in(words, { slips: true }) !== -1 ? first : null;
}

/**
 * Abroad by the need's own clause alone: "nie słyszę dobrze, noszę aparat słuchowy" denies none, and of what is over the guest is asked:
 * "ich komme nicht mehr aus dem Rollstuhl".
 */
function isDeniedNeed(clause: Clause, { need }: FoundNeed, language: Language, vocabulary: Vocabulary): boolean {
  const parts = language.name === "en" ? [clause] : clausesOf({ ...clause, asks: false }, language);
  const named = parts.find(({ words }) => vocabulary.needsIn(words).some((each) => each.need === need)) ?? clause;
  return language.not.in(named.words) !== -1 && (language.name === "en" || !saysOver(named.words));
}

/** "I used to be vegan", "he said I'm no longer allergic": it names what may not hold. */
function isOver(words: readonly string[], language: Language, vocabulary: Vocabulary): boolean {
  if (isDenied(words, language, vocabulary)) return true;
  return language.name === "en" && [english.no_longer, english.formerly, english.grown].some((list) => list.in(words) !== -1);
}
