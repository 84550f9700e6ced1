import { wordsIn } from "../../platform/phrase-list.js";
import type { Vocabulary } from "./domain-words.js";
import { asSaid, type Draft, type ReadClause, subjectFor, withWhom } from "./draft.js";
import type { EnglishClause } from "./english-clause.js";
import { foreign } from "./foreign.js";
import { english, relationAt } from "./language.js";

/** What is kept softly: tastes, habits, home, party, budget. A table of plain English forms, of which the first that fits counts. */

export interface Told {
  /** What it is about, as it was said. */
  readonly about: string;
  /** Default: what is said of the subject, in the third person; without a subject as it was said. */
  readonly text?: string;
  /** Default: by the words of `about`, else `other`. */
  readonly category?: string;
  readonly aspect?: string;
}

interface Said extends EnglishClause {
  readonly read: ReadClause;
  readonly vocabulary: Vocabulary;
  /** The words without those that lead into a clause. */
  readonly plain: readonly string[];
  /** The guest is the subject, not a thing of theirs. */
  readonly own: boolean;
  /** The guest or a companion is. */
  readonly someone: boolean;
  /** It happens again and again. */
  readonly usual: boolean;
  /** What follows the verb is a thing: not "it", "that", "the first one". */
  readonly tellsOf: boolean;
}
type Form = (said: Said) => Told | null;

const MAX_WORDS = 18;
const MAX_ABOUT_WORDS = 12;
const MAX_BARE_WORDS = 9;
/** Of a habit that no category knows. */
const MAX_PLAIN = 8;

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

const OFTEN = /\b(?:every|each|most|any|(?:once|twice|times) (?:a|per)) (?!thing|time soon)\p{L}/u;
const ON_DAYS = /\bon (?:\p{L}{3,12}days|weekends|weeknights)\b/u;

/** "Always", "every spring", "twice a year", "on Mondays". */
function recurs(words: readonly string[]): boolean {
  const text = words.join(" ");
  return words.some((word) => english.seldom.has(word) && word !== "only") || OFTEN.test(text) || ON_DAYS.test(text);
}

/** "The room", "the new seats": what the guest has before them. */
function isShown(words: readonly string[]): boolean {
  return english.shown.is(words[0] ?? "") && english.here.has(words.at(-1));
}

/** "I love jazz", "my husband doesn't like techno", "I can't stand crowds". */
const taste: Form = ({ read, verb, rest, restWords, auxiliaries, negated, someone, tellsOf }) => {
  const unable = negated && auxiliaries.join() === "can" && english.borne.is(verb) && !restWords.includes("for");
  const likes = read.language.like.has(verb) || (read.language.dislike.has(verb) && !negated);
  if (!tellsOf || !(unable || (likes && !auxiliaries.includes("can")))) return null;
  // "Like" without a subject is as often "such as", "love waiting" a sigh.
  if (read.who.kind === "nobody" && restWords[0]?.endsWith("ing")) return null;
  return someone || (read.who.kind === "nobody" && (verb !== "like" || (negated && read.clause.index > 0))) ? { about: rest } : null;
};

/** "Big fan of …", "we're not keen on …", "she's into …". */
const fond: Form = ({ plain, verb, someone, read }) => {
  const at = plain.findIndex((_, index) => english.fond.at(plain, index) > 0);
  if (at === -1 || at > 6 || !((someone && verb === "be") || read.who.kind === "nobody")) return null;
  const thing = plain.slice(at + english.fond.at(plain, at)).filter((word) => !english.tails.is(word));
  return thing.length === 0 || english.vague.at(thing, 0) > 0 || /^my$|ing$/u.test(thing[0] ?? "") ? null : { about: thingIn(read, thing) };
};

/** The words as they stand in the clause. */
function thingIn({ clause }: ReadClause, words: readonly string[]): string {
  const raw = clause.text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  const from = raw.findIndex((_, at) => words.slice(0, 2).every((word, index) => wordsIn(raw[at + index] ?? "")[0] === word));
  return from === -1 ? words.join(" ") : raw.slice(from, from + words.length).join(" ");
}

/** "I live in Cork", "home is Pune", "we moved to Lund". A place is a name. */
const home: Form = ({ read, own, thing, plain, negated, past, words, rest }) => {
  const moved = words.includes("moved") || words.includes("relocated");
  const theirs = own || thing === "home" || (read.who.kind === "nobody" && plain[0] === "home");
  if (!theirs || negated || words.includes("used") || (past && !moved) || read.language.home.in(words) === -1) return null;
  const { text } = read.clause;
  // All in small letters: the one word that ends it.
  const small = /\p{Lu}/u.test(text) ? undefined : /^(?:based )?in (?!the |a |an |my |our )(\p{L}{3,})$/u.exec(rest)?.[1];
  const place = small ?? /\b(?:in|is|to)\s+(\p{Lu}[\p{L}'’-]*(?:\s+(?:upon|on|am|de|la|\p{Lu}[\p{L}'’-]*)){0,3})/u.exec(text)?.[1];
  return place === undefined ? null : { text: `Lives in ${place}`, about: place, category: "location", aspect: "home" };
};

/** "My budget is 80", "nothing over £160", "never more than 40 euros". */
const budget: Form = ({ read, thing, words }) => {
  const amount = /\p{Sc}?\s?\d[\d.,]{1,6}\s?(?:\p{Sc}|k\b)?/u.exec(read.clause.text)?.[0]?.trim();
  if (amount === undefined) return null;
  const money = /\p{Sc}/u.test(amount) || english.money.in(words) !== -1;
  const own = english.limits.has(thing) || (english.limits.in(words) !== -1 && words.length <= 8 && english.bounds.in(words) !== 0);
  const bounded = english.bounds.in(words) !== -1 && ["nothing", "never", "not", "max"].some((word) => words.includes(word));
  if (!own && !(money && bounded) && !(money && read.goesOn && words.length <= 4)) return null;
  const text = read.clause.text.replace(/^(?:(?:my|our|so|and|but|budget|keep it)\s+)+|[\s.!]+$/giu, "");
  return { text: `Budget: ${text}`, about: amount, category: "budget", aspect: "budget" };
};

const isNumber = (word = "") => /^\d{1,2}$/u.test(word) || english.numbers.has(word);

/** "There are always five of us", "always two tickets", "we're usually four". */
const party: Form = ({ read, usual, words, restWords, verb }) => {
  const at = words.findIndex(
    (word, index) =>
      isNumber(word) &&
      (english.counted.at(words, index + 1) > 0 || (words[index - 1] === "of" && ["party", "group"].includes(words[index - 2] ?? ""))),
  );
  const count = words[at] ?? (verb === "be" && restWords.length <= 2 && isNumber(restWords[0]) ? restWords[0] : undefined);
  if (count === undefined || !usual || read.who.kind === "companion") return null;
  const bare = verb === "be" || verb === "";
  return { about: count, category: "party_size", aspect: "party size", ...(bare && { text: `Usually a party of ${count}` }) };
};

/** "Techno is my thing", "opera's not for me", "Sunday matinees suit me best", "the balcony is where we like to sit". */
const suits: Form = ({ read, plain }) => {
  if (read.who.kind !== "nobody" && read.who.kind !== "other") return null;
  const at = plain.findIndex((_, index) => index > 0 && english.suits.at(plain, index) > 0);
  const theme = plain.slice(0, Math.max(0, at)).filter((word) => !/^(?:is|are|not|do)$/u.test(word) && !english.seldom.is(word));
  const [first = ""] = theme;
  // "The 8 pm one is not for me" is about what was shown; "the balcony is where we sit" lasts.
  const shown = english.shown.is(first) && plain[at + 1] !== "where";
  const last = theme.at(-1) ?? "";
  if (theme.length === 0 || theme.length > 5 || shown || !/^\p{L}{2,}/u.test(last) || english.stand_for.is(last)) return null;
  return { about: thingIn(read, theme), text: asSaid(read.clause.text) };
};

/** "My favourite band is Big Thief", "my usual is a table by the window", "my seat is always C12". */
const favourite: Form = ({ read, own, thing, plain, usual }) => {
  const at = plain.findIndex((word) => word === "is" || word === "are");
  const named = plain.slice(0, 4).some((word) => english.favourite.has(word)) || (english.owned.has(thing) && usual);
  const about = plain.slice(at + 1);
  if (!named || own || at < 1 || at > 6 || about.length === 0 || english.vague.at(about, 0) > 0) return null;
  if (read.who.kind === "companion" || read.who.kind === "other") return null;
  return { about: thingIn(read, about), text: asSaid(read.clause.text), ...byCategory(read, plain) };
};

const byCategory = (_: ReadClause, words: readonly string[]) => ({ aspect: words.slice(0, 4).join(" ") });

/** "I'm Hilton Diamond", "Flying Blue Gold here", "my railcard …", "I've a season ticket". */
const loyalty: Form = ({ read, own, thing, negated, plain, vocabulary, rest, verb }) => {
  const begin = plain.slice(0, 8);
  if (negated || !vocabulary.has("loyalty", begin) || (read.who.kind !== "self" && read.who.kind !== "nobody")) return null;
  const about = verb === "be" || verb === "have" ? rest : plain.join(" ");
  if (own && (verb === "be" || verb === "have") && begin.length <= 8) return { about, category: "loyalty" };
  const card = begin.findIndex((word) => english.cards.has(word));
  const mine = thing !== "" && card !== -1;
  const held = mine ? `Has a ${thingIn(read, plain.slice(1, card + 1))}` : asSaid(read.clause.text);
  return mine || (read.who.kind === "nobody" && read.clause.index === 0 && plain.length > 1 && plain.length <= 6 && verb === "")
    ? { about, text: held, category: "loyalty" }
    : null;
};

/** "Only contact me by text", "email me instead", "call me Theo" is none. */
const channel: Form = ({ read, words, plain }) => {
  const way = words.find((word) => english.contact.has(word));
  const only = read.standing || ["only", "just", "always", "instead", "never", "not"].some((word) => words.includes(word));
  const asks = ["if", "when", "i", "you"].some((word) => words.includes(word)) || words.length > 10;
  if (way === undefined || !only || asks || !(words.includes("me") || plain.length <= 4)) return null;
  return { about: way, text: asSaid(read.clause.text), category: "communication", aspect: "channel" };
};

/** "I'm a night owl": what somebody is, by a noun that a category knows. Not what they are at the moment. */
const being: Form = ({ own, verb, negated, restWords, vocabulary }) => {
  const [article, ...told] = restWords;
  const end = told.findIndex((word) => english.bounds.is(word) || word === "from" || word === "who");
  const noun = end === -1 ? told : told.slice(0, end);
  if (!own || verb !== "be" || negated || (article !== "a" && article !== "an") || noun.length === 0 || noun.length > 4) return null;
  const passing = noun.some((word) => english.momentary.has(word) || /^\d|ing$/u.test(word));
  return passing || vocabulary.categoryOf(noun) === undefined ? null : { about: noun.join(" ") };
};

/** "I get carsick", "my son gets anxious in crowds". */
const ails: Form = ({ someone, verb, negated, restWords, rest }) =>
  someone && verb === "get" && !negated && english.ails.at(restWords, 0) > 0 ? { about: rest } : null;

/** "I've got three kids", "I travel with two toddlers", "it's nearly always just me and my sister", "my mother is always with us". */
const company: Form = ({ read, own, negated, usual, verb, words, restWords }) => {
  const at = restWords.findIndex((_, index) => relationAt(restWords, index) !== undefined);
  const relation = relationAt(restWords, at)?.relation ?? "";
  if (negated || words.length > MAX_ABOUT_WORDS + 4) return null;
  if (read.who.kind === "companion")
    return usual && (words.includes("me") || words.includes("us")) ? { about: read.who.relation, category: "companions" } : null;
  const counted = verb === "have" && (isNumber(restWords[0]) || /^\d/u.test(restWords[0] ?? "") || restWords[0] === "a");
  const along = english.join.has(verb) && words.includes("with");
  const told = own ? counted || along : usual && words.includes("me") && read.who.kind === "other";
  return at === -1 || !told
    ? null
    : { about: restWords[at] ?? "", category: "companions", aspect: relation, ...(!own && { text: asSaid(read.clause.text) }) };
};

/** "I always take the aisle", "we come by car", "I don't drink": an action in the present tense is a habit. */
const habit: Form = ({ read, own, someone, usual, verb, adverbs, auxiliaries, negated, rest, restWords, tellsOf, vocabulary, words }) => {
  const regular = usual || adverbs.includes("only");
  const action = verb !== "" && !english.states.has(verb);
  const often = OFTEN.test(words.join(" ")) || ON_DAYS.test(words.join(" "));
  const isOwnState = usual && own && verb !== "" && (verb !== "be" || (often && !negated)) && (tellsOf || rest === "");
  if (!someone || !(action || isOwnState) || (restWords.length > 0 && restWords.length < 3 && !tellsOf)) return null;
  if (auxiliaries.some((word) => !["do", "does"].includes(word)) && verb !== "be") return null;
  const category = vocabulary.categoryOf(restWords);
  const shuns = negated && auxiliaries.length > 0 && english.shunned.is(verb);
  if (negated && !regular && !shuns) return null;
  // Of others, and by itself, only what is known to last: "he snores", "I drink".
  if (!regular && !shuns && (rest === "" || !own || category === undefined) && !english.take.has(verb)) return null;
  if (!own && rest === "" && (usual || !english.take.has(verb))) return null;
  // What has no place among the categories is small talk as often as not: "I always get lost".
  if (
    category === undefined &&
    (read.laughs || (!action && !often) || restWords.length > MAX_PLAIN || (negated && !shuns && !words.includes("never")))
  )
    return null;
  return { about: rest === "" ? verb : rest, ...(category !== undefined && { category }) };
};

/** "I can't do Mondays", "we won't sit upstairs". */
const refuses: Form = ({ own, negated, verb, auxiliaries, restWords, rest, tellsOf, vocabulary, read }) => {
  const unable = auxiliaries.join() === "can" && english.managed.has(verb);
  const refused = auxiliaries.join() === "will" && !english.states.has(verb);
  if (!(own || read.who.kind === "nobody") || !negated || !(unable || refused) || !tellsOf) return null;
  return vocabulary.categoryOf(restWords) === undefined ? null : { about: rest };
};

/** "I gave up alcohol", "I no longer drink": what ended is a statement of what holds now. */
const ended: Form = ({ read, words, vocabulary }) => {
  const at = english.gave_up.in(words);
  const thing = words.slice(at + english.gave_up.at(words, at), at + 6);
  if (at === -1 || at > 4 || read.who.kind !== "self" || vocabulary.categoryOf(thing) === undefined) return null;
  return { text: `No longer: ${thing.slice(0, 4).join(" ")}`, about: thing[0] ?? "" };
};

/** "I'd always rather take the tram", "I'll take jazz over opera any day". */
const rather: Form = ({ read, own, usual, negated, adverbs, words, restWords, rest, auxiliaries }) => {
  const chooses = adverbs.includes("rather") || (words.includes("over") && auxiliaries.includes("will"));
  return own && usual && chooses && !negated && restWords.length >= 2 ? { about: rest, text: asSaid(read.clause.text) } : null;
};

/** "For the future, I'd like to be near the exit". */
const wished: Form = ({ read, own, verb, auxiliaries, negated, tellsOf, rest }) => {
  const wants = verb === "need" || verb === "want" || (verb === "like" && auxiliaries.includes("would"));
  if (!read.standing || !own || negated || !wants || !tellsOf) return null;
  return { about: rest, text: `${verb === "need" ? "Needs" : "Wants"} ${rest}` };
};

/** "Window seat always", "no ground floor please", "nothing before 11", "never on Mondays", "front rows for me". */
const bare: Form = ({ read, plain, vocabulary }) => {
  const { who, language, standing, goesOn, clause, laughs } = read;
  if (
    who.kind !== "nobody" ||
    english.nothings.has(plain[1]) ||
    plain.length < 2 ||
    plain.length > MAX_BARE_WORDS ||
    english.requests.in(plain) !== -1
  )
    return null;
  const [first = "", second = ""] = plain;
  const thing = plain.filter((word) => !english.seldom.is(word) && !english.tails.is(word) && !["no", "not", "for", "me"].includes(word));
  const category = vocabulary.categoryOf(plain);
  const bounded = english.bounds.is(second);
  const forMe = plain.at(-1) === "me" && plain.at(-2) === "for";
  const always = clause.words.some((word) => english.seldom.has(word)) || language.always.in(clause.words) !== -1;
  const shown = plain.some((word) => word === "one" || /^\d+(?:st|nd|rd|th)$/u.test(word));
  const polite = forMe || /\b(?:please|pls|ever)\b/iu.test(clause.text);
  const refused = first === "no" && plain.length <= 3 && (polite || (clause.index > 0 && category !== undefined));
  const ruledOut = (first === "nothing" && bounded) || (["never", "not"].includes(first) && (bounded || second === "the"));
  const says = !plain.some((word) => english.be.is(word));
  const known = category !== undefined && (always || ruledOut || refused || (says && (forMe || standing || goesOn)));
  const plainly = (refused && plain.length === 2) || (first === "nothing" && bounded) || (first === "never" && plain.includes("me"));
  if (shown || !(known || (plainly && !laughs))) return null;
  return {
    about: thing.join(" "),
    text: asSaid(clause.text),
    ...(category !== undefined && { category }),
    ...(category === "seating" && { aspect: "position" }),
  };
};

const ALWAYS_READ: readonly Form[] = [home, wished, rather, ended, refuses];
/** Of what is past, or only would be. */
const SUPPOSED = ALWAYS_READ;
const OF_ONE_TRIP: readonly Form[] = [taste];
const PLAIN: readonly Form[] = [
  ...ALWAYS_READ,
  ...[fond, budget, party, company, favourite, taste, ails, loyalty, being, channel, habit, suits, bare],
];

/** "For opera", "on trains": a narrowing at the end of a clause. */
function conditionIn(text: string): string {
  for (const { 0: found, 1: thing } of text.matchAll(/\b(?:for|on|at) (?:the )?(\p{L}+(?: trips)?)/giu))
    if (english.occasions.in(wordsIn(thing ?? "")) !== -1) return found;
  return "";
}
