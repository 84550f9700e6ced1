import { wordsIn } from "../../platform/phrase-list.js";
import type { Vocabulary } from "./domain-words.js";
import { type Draft, type ReadClause, subjectFor, withWhom } from "./draft.js";
import { capital, type EnglishClause } from "./english-clause.js";
import { english } from "./language.js";
import { ownWords } from "./needs.js";
import { filed, has, isDated, isOwn, type Rule, type Said, unfit } from "./said.js";
import { being, ended, evaluated, family, having, ownThing, rather, recurs, ruledOut, unable } from "./standing.js";

/** Tastes, habits, home, party, budget: what is kept softly. English by the clause's verb; elsewhere by its small words alone. */

const MAX_ABOUT_WORDS = 12;

export function tastesOf(read: ReadClause, vocabulary: Vocabulary): readonly Draft[] {
  const { clause, language, parsed, who } = read;
  if (who.kind === "other" && parsed === null) return [];
  const rules = who.kind === "other" && !clause.words.includes("us") ? RULES_OF_THINGS : ENGLISH_RULES;
  if (language.unsure.in(clause.words) !== -1) return [];
  const said = parsed === null ? foreign(read, vocabulary) : firstOf(rules, read, parsed, vocabulary);
  if (said === null || said.about === "") return [];
  return [
    {
      clause,
      ...said,
      text: parsed === null ? said.text : withWhom(who, said.text),
      condition: conditionIn(clause.text),
      need: null,
      hard: false,
      ...subjectFor(who),
      unsure: false,
      trip: language.once.in(clause.words) !== -1,
    },
  ];
}

function firstOf(rules: readonly Rule[], read: ReadClause, parsed: EnglishClause, vocabulary: Vocabulary): Said | null {
  for (const rule of rules) {
    const said = rule(read, parsed, vocabulary);
    if (said !== null) return said;
  }
  return null;
}

/** "I love jazz", "prefer aisle seats", "my husband doesn't like techno". */
const taste: Rule = ({ who, language, clause }, parsed, vocabulary) => {
  const likes = language.like.has(parsed.verb);
  const stand =
    (parsed.verb === "stand" || parsed.verb === "bear") && !has(parsed, "for") && parsed.negated && parsed.auxiliaries.includes("can");
  if (!likes && !language.dislike.has(parsed.verb) && !stand) return null;
  if (parsed.past || parsed.auxiliaries.some((word) => word !== "do" && word !== "does" && !(stand && word === "can"))) return null;
  if (who.kind === "self" && parsed.thing !== "") return null;
  // "Like" without a subject is as often "such as".
  if (who.kind === "nobody" && ((parsed.verb === "like" && !parsed.negated) || (clause.index === 0 && parsed.verb === "like"))) return null;
  return onThing(parsed, vocabulary, parsed.thirdPerson);
};

function onThing(parsed: EnglishClause, vocabulary: Vocabulary, text: string): Said | null {
  const { restWords, rest } = parsed;
  if (restWords.length === 0 || restWords.length > MAX_ABOUT_WORDS || english.vague.at(restWords, 0) > 0 || !/\p{L}/u.test(rest))
    return null;
  return { text, about: rest, ...filed(restWords, rest, vocabulary) };
}

/** "Big fan of …", "not a fan of …", "into …", "… is my thing". */
const fan: Rule = ({ who, clause }, parsed, vocabulary) => {
  if (unfit(parsed) || who.kind === "other") return null;
  const at = parsed.words.indexOf("of");
  if (at > 0 && parsed.words[at - 1] === "fan" && (parsed.verb === "be" || who.kind === "nobody") && at <= 6) {
    const thing = rawAfter(clause.text, "of");
    if (thing === "" || english.vague.at(thing.toLowerCase().split(" "), 0) > 0) return null;
    const negated = parsed.negated || has(parsed, "not");
    return { text: `Is ${negated ? "not " : ""}a fan of ${thing}`, about: thing, ...filed(parsed.words.slice(at + 1), thing, vocabulary) };
  }
  if (parsed.verb === "be" && who.kind !== "nobody" && parsed.restWords[0] === "into" && !parsed.negated) {
    const thing = rawAfter(parsed.rest, "into");
    return { text: `Is into ${thing}`, about: thing, ...filed(parsed.restWords.slice(1), thing, vocabulary) };
  }
  return null;
};

function rawAfter(text: string, word: string): string {
  const words = text.split(/\s+/u);
  const at = words.findIndex((each) => each.toLowerCase() === word);
  const rest = words.slice(at + 1);
  while (rest.length > 1 && english.tails.has((rest.at(-1) ?? "").toLowerCase().replace(/[^\p{L}]+$/u, ""))) rest.pop();
  return at === -1 ? "" : rest.join(" ").replace(/[\s.!,]+$/u, "");
}

/** "I live in Cork", "we're based in Vienna". A place is a name. */
const home: Rule = (read, parsed) => {
  const { clause, language } = read;
  if (
    !isOwn(read, parsed) ||
    (unfit(parsed) && !has(parsed, "moved", "relocated")) ||
    parsed.negated ||
    language.home.in(parsed.words) === -1
  )
    return null;
  // All in small letters: the one word that ends it.
  const small = /\p{Lu}/u.test(clause.text) ? undefined : /^(?:based )?in (?!the |a |an |my |our )(\p{L}{3,})$/u.exec(parsed.rest)?.[1];
  const place =
    small ?? /\b(?:in|is|to)\s+(\p{Lu}[\p{L}'’-]*(?:\s+(?:upon|on|am|de|la|an der|\p{Lu}[\p{L}'’-]*)){0,3})/u.exec(clause.text)?.[1];
  return place === undefined ? null : { text: `Lives in ${place}`, about: place, category: "location", aspect: "home" };
};

/** "I always take the aisle", "we usually book 2 tickets", "I only fly SkyTeam", "I smoke". */
const habit: Rule = (read, parsed, vocabulary) => {
  const { who } = read;
  const wish = parsed.verb === "want" || parsed.verb === "need" || parsed.verb === "have" || parsed.verb === "see" || parsed.verb === "get";
  const usual = recurs(parsed.words) || read.language.always.in(read.clause.words) !== -1;
  const known = english.habit.has(parsed.verb) || (usual && parsed.verb !== "" && parsed.verb !== "be");
  if (!known || (who.kind !== "self" && who.kind !== "companion") || (who.kind === "self" && parsed.thing !== "")) return null;
  const refuses = parsed.negated && parsed.auxiliaries.includes("will");
  if (
    parsed.past ||
    (unfit(parsed) && !refuses) ||
    parsed.auxiliaries.some((word) => ["can", "must", "am", "is", "are"].includes(word)) ||
    (has(parsed, "have", "has") && parsed.auxiliaries.length > 0 && !has(parsed, "since"))
  )
    return null;
  // "I don't drink", "we don't do ground floors".
  const shuns = parsed.negated && parsed.auxiliaries.some((word) => word === "do" || word === "does") && english.shunned.is(parsed.verb);
  if (!usual && !refuses && !shuns && (!english.take.has(parsed.verb) || parsed.negated)) return null;
  if (wish && !usual) return null;
  if (who.kind === "companion" && parsed.rest === "" && !english.take.has(parsed.verb)) return null;
  if (isDated(parsed) || parsed.restWords.length > MAX_ABOUT_WORDS * 2) return null;
  if (english.vague.at(parsed.restWords, 0) > 0 && parsed.restWords.length < 3) return null;
  const category = vocabulary.categoryOf(parsed.restWords);
  // "I always get lost": what has no place among the categories is small talk as often as not.
  if (category === undefined && (read.laughs || wish || !english.habit.has(parsed.verb))) return null;
  const party = countIn(parsed);
  const about = parsed.rest === "" ? parsed.verb : parsed.rest;
  if (party !== null && /^(?:book|buy|get|order)$/u.test(parsed.verb))
    return { text: parsed.thirdPerson, about, category: "party_size", aspect: "party size" };
  return {
    text: parsed.thirdPerson,
    about,
    category: category ?? "other",
    aspect: (parsed.restWords.slice(0, 4).join(" ") || parsed.verb).slice(0, 64),
  };
};

const isNumber = (word = "") => /^\d{1,2}$/u.test(word) || english.numbers.has(word);

function countIn(parsed: EnglishClause): string | null {
  const { words } = parsed;
  for (let at = 0; at < words.length; at++) {
    if (!isNumber(words[at])) continue;
    if (english.counted.at(words, at + 1) > 0) return words[at] ?? null;
    if (words[at - 1] === "of" && (words[at - 2] === "party" || words[at - 2] === "group")) return words[at] ?? null;
  }
  return null;
}

/** "There are always five of us", "always two tickets". */
const party: Rule = (read, parsed) => {
  const usual = recurs(parsed.words) || read.language.always.in(parsed.words) !== -1;
  const bare = parsed.verb === "be" && parsed.restWords.length <= 2 && isNumber(parsed.restWords[0]) ? parsed.restWords[0] : null;
  const count = countIn(parsed) ?? bare ?? null;
  if (count === null || !usual || unfit(parsed) || read.who.kind === "companion" || english.habit.has(parsed.verb)) return null;
  return { text: `Usually a party of ${count}`, about: count, category: "party_size", aspect: "party size" };
};

/** "My budget is 80", "nothing over £160", "never more than 40 euros". */
const budget: Rule = (read, parsed) => {
  const { clause } = read;
  const amount = /[€£$]?\s?\d{2,4}\s?(?:[€£$]|k\b)?/u.exec(clause.text)?.[0]?.trim();
  if (amount === undefined || unfit(parsed)) return null;
  const words = parsed.words.join(" ");
  const own = english.limits.has(parsed.thing) || (english.limits.in(parsed.words) !== -1 && parsed.words.length <= 6);
  const money = /[€£$]/u.test(amount) || english.money.in(parsed.words) !== -1;
  const bounded = / (?:over|under|above|below|more than|up to|exceed) /u.test(` ${words} `);
  if (!own && !(money && bounded && (has(parsed, "nothing", "never", "keep") || words.includes("can do")))) return null;
  return {
    text: `Budget: ${clause.text.replace(/^(?:(?:my|our|so|and|but|budget|keep it)\s+)+|[\s.!]+$/giu, "")}`,
    about: amount,
    category: "budget",
    aspect: "budget",
  };
};

/** "I'm Hilton Diamond", "Flying Blue Gold since forever". */
const loyalty: Rule = (read, parsed, vocabulary) => {
  if (parsed.negated || unfit(parsed) || !vocabulary.has("loyalty", parsed.words)) return null;
  const rest = parsed.rest.replace(/^(?:a|an|the)\s+/iu, "");
  if (isOwn(read, parsed) && parsed.verb === "be" && parsed.restWords.length <= 6)
    return { text: `Is ${parsed.rest}`, about: rest, category: "loyalty", aspect: rest.toLowerCase().slice(0, 64) };
  return null;
};

/** "Only contact me by text", "email me instead". */
const channel: Rule = ({ clause, standing }, parsed) => {
  const { words } = parsed;
  const at = words.findIndex((word) => english.contact.has(word));
  const only = standing || has(parsed, "only", "just", "always", "instead", "never") || words.join(" ").includes("rather");
  if (
    at === -1 ||
    !only ||
    words.length > 10 ||
    !(has(parsed, "me") || words.length <= 4) ||
    has(parsed, "if", "when", "i", "you", "tomorrow")
  )
    return null;
  return {
    text: capital(clause.text.replace(/^(?:please|pls|and|so|just)\s+|[\s.!]+$/giu, "")),
    about: words[at] ?? "",
    category: "communication",
    aspect: "channel",
  };
};

/** "Window seat always", "no ground floor please", "front rows for me", and what is to hold "from now on". */
const bare: Rule = (read, parsed, vocabulary) => {
  const { clause, who, language, standing, goesOn } = read;
  if (who.kind !== "nobody" || unfit(parsed)) return null;
  const words = parsed.words.filter((word) => !english.fillers.has(word));
  const text = capital(
    clause.text.replace(/^(?:(?:and|but|so|please|pls|just|ok|okay)\s+)+/iu, "").replace(/(?:\s+(?:please|pls|lol|haha))?[\s.!]*$/iu, ""),
  );
  if (words.length < 2 || words.length > 9) return null;
  const category = vocabulary.categoryOf(words);
  const usual = language.always.in(parsed.words) !== -1;
  if (
    words[0] === "no" &&
    words.length <= 3 &&
    !english.nothings.has(words[1]) &&
    (category !== undefined || words.length === 2) &&
    (clause.index > 0 || /\b(?:please|pls|ever)\b/iu.test(clause.text))
  )
    return { text, about: words.slice(1).join(" "), category: category ?? "other", aspect: words.slice(1).join(" ") };
  if (words[0] === "never" && has(parsed, "me", "us") && words.length >= 4)
    return { text, about: words.slice(1).join(" "), category: category ?? "other", aspect: words.slice(1, 5).join(" ") };
  const forMe = / for (?:me|us)$/u.test(words.join(" "));
  if (category === undefined) return null;
  if (
    usual ||
    (forMe && !english.habit.has(words[0]) && !isDated(parsed)) ||
    ((standing || (goesOn && !words.some((word) => english.be.is(word)))) && !isDated(parsed))
  )
    return { text, about: words.join(" "), category, aspect: category === "seating" ? "position" : words.slice(0, 4).join(" ") };
  return null;
};

/** "Please note for next time: I need a cot", "for the future, I'd like to be near the exit". */
const wished: Rule = (read, parsed, vocabulary) => {
  if (!read.standing || !isOwn(read, parsed) || parsed.past || parsed.negated || isDated(parsed)) return null;
  const wants = parsed.verb === "need" || parsed.verb === "want" || (parsed.verb === "like" && parsed.auxiliaries.includes("would"));
  if (!wants) return null;
  return onThing(parsed, vocabulary, `${parsed.verb === "need" ? "Needs" : "Wants"} ${parsed.rest}`);
};

const ENGLISH_RULES: readonly Rule[] = [
  ...[wished, fan, home, budget, party, family, ended, ownThing, rather, habit, taste, unable],
  ...[loyalty, having, being, channel, evaluated, bare, ruledOut],
];

/** Of a clause that is not about the guest by its subject. */
const RULES_OF_THINGS: readonly Rule[] = [family, evaluated];

const NEVER = new Set(["nie", "niemals", "jamais", "nunca", "mai", "nooit", "aldrig", "nigdy"]);

/** Not English: a short plain clause of the guest's with a word of liking, of always or of home. */
function foreign(read: ReadClause, vocabulary: Vocabulary): Said | null {
  const { clause, language, who } = read;
  const { words } = clause;
  if (words.length < 2 || words.length > 14 || language.once.in(words) !== -1) return null;
  const reach = words.find((word, at) => english.contact.has(word) && english.by.is(words[at - 1] ?? ""));
  if (reach !== undefined && english.only.in(words) !== -1 && words.length <= 8)
    return { text: ownWords(read), about: reach, category: "communication", aspect: "channel" };
  if (who.kind !== "self" && who.kind !== "companion" && !(read.standing && who.kind === "nobody")) return null;
  const isHome = language.home.in(words) !== -1;
  const feels = language.like.in(words) !== -1 || language.dislike.in(words) !== -1;
  const usual = language.always.in(words) !== -1 || words.some((word) => NEVER.has(word));
  const told = read.standing && words.length <= 10;
  if (!isHome && !feels && !told && !(usual && (language.first.in(words) !== -1 || vocabulary.categoryOf(words) !== undefined)))
    return null;
  const category = isHome ? "location" : (vocabulary.categoryOf(words) ?? "other");
  return { text: ownWords(read), about: clause.text, category, aspect: isHome ? "home" : words.slice(0, 4).join(" ").slice(0, 64) };
}

/** "For opera", "on trains": a narrowing at the end of a clause. */
function conditionIn(text: string): string {
  for (const { 0: found, 1: thing } of text.matchAll(/\b(?:for|on|at) (?:the )?(\p{L}+(?: trips)?)/giu))
    if (english.occasions.in(wordsIn(thing ?? "")) !== -1) return found;
  return "";
}
