import type { Memory, MessageToRead } from "maitred";
import { folded, wordsIn } from "maitred/stand-in";
import { commandsOf } from "../memory-commands.js";
import { alike } from "./alike.js";
import { clausesOf, type Sentence, sentencesOf } from "./clauses.js";
import type { Vocabulary } from "./domain-words.js";
import { endingOf, isDenial, isDeniedAlone, isSaidOfGuest, trimmed } from "./endings.js";
import { anyLanguage, english, type Language, relationOf, saysLiking } from "./language.js";
import { saysOver } from "./over.js";
import { type PutRight, putRightIn } from "./put-right.js";
import { recoveredIn } from "./recoveries.js";
import { isPet } from "./who.js";

/** What a message does to what is known: forgets, ends, corrects, says again. */
export interface Changes {
  readonly off_record: "this" | "previous" | null;
  /** Ends and forgettings, with the words that ask for them. */
  readonly asked: readonly Asked[];
  /** "Forget what you know about my mum". */
  readonly allAbout: readonly AllAbout[];
  /** "It's walnuts, not almonds". */
  readonly putRight: readonly PutRight[];
  /** "Actually, …": what is said replaces what it is about. */
  readonly corrects: boolean;
  /** Whether a sentence is a command about memory, and so tells nothing. */
  covers(sentence: Sentence): boolean;
}

interface Asked {
  readonly op: "forget" | "end";
  readonly target: Memory;
  readonly quote: string;
  /** Said in the memory's own words: "I'm no longer allergic to nuts", not "no more nuts, please". */
  readonly plain: boolean;
}

interface AllAbout {
  readonly whom: string;
  readonly what: string;
  readonly quote: string;
}

/** What must hold and is none of the domain's needs: one is not the next. */
export const OTHER = "other";

/** A wish not to keep something has one of these. */
const NOT_KEPT = new Set(["mentioned", "don't", "dont", "didn't", "not", "needn't", "no"]);
/** A word of a memory in common with what is to be forgotten; short ones tell nothing. */
const TELLING = 4;

/** A sentence with fewer characters beside a command tells nothing else. */
const BESIDE_CHARS = 10;

type Said = Pick<MessageToRead, "known" | "session_id" | "turn">;

export function changesOf(text: string, said: Said, language: Language, vocabulary: Vocabulary): Changes {
  const { known } = said;
  const commands = commandsOf(text);
  const asked: Asked[] = [];
  const allAbout: AllAbout[] = [];
  const putRight: PutRight[] = [];
  for (const { command, start, end } of commands)
    if (command.kind === "forget" && command.whom !== undefined)
      allAbout.push({ ...command, whom: command.whom, quote: text.slice(start, end) });
    else if (command.kind === "forget") {
      const targets = known.filter((memory) => isNamed(memory, command.what));
      // Where several could be meant, the guest is asked which.
      for (const target of targets.length === 1 ? targets : [])
        asked.push({ op: "forget", target, quote: text.slice(start, end), plain: true });
      // "Forget I mentioned money", "don't keep the medical part": what was said a moment ago, in other words.
      if (targets.length !== 1 && wordsIn(text.slice(start, end)).some((word) => NOT_KEPT.has(word)))
        for (const target of saidBefore(said)) asked.push({ op: "end", target, quote: text.slice(start, end), plain: false });
    }
  const keepsOut = commands.some(({ command }) => command.kind === "do_not_remember");
  const unmeant = anyLanguage("laugh", wordsIn(text)) || english.unmeant.in(wordsIn(text)) !== -1;
  for (const sentence of sentencesOf(text, (word) => english.titles.has(word))) {
    const { text: line, asks } = sentence;
    const words = wordsIn(line);
    if (words.includes("if")) continue;
    const end = (target: Memory, plain = false) => {
      if (!asked.some((each) => each.target === target)) asked.push({ op: "end", target, quote: line.replace(/[.!]+$/u, ""), plain });
    };
    const right = asks ? null : putRightIn(sentence, thoseOf(known, words, language), language, vocabulary);
    if (right !== null) {
      putRight.push(right);
      continue;
    }
    const ends = endingsIn(known, sentence, words, language);
    for (const { target, plain } of ends) end(target, plain && !unmeant);
    if (asks) continue;
    const over = recoveredIn(clausesOf(sentence, language), language, vocabulary);
    // "My wife's knee is fine now".
    const whose = words.map((word) => word.replace(/'s$/u, ""));
    for (const target of over.size === 0 ? [] : thoseOf(known, whose, language))
      if (over.has(target.need ?? "") && (target.need !== OTHER || isAbout(target, words))) end(target);
    const homes = known.filter(({ category, aspect, subject }) => category === "location" && aspect === "home" && subject === "self");
    if (movesHome(words)) for (const home of homes) end(home);
    const lived = english.lived.in(words);
    if (lived !== -1 && isSaidOfGuest(words, lived)) for (const home of homes) if (isNamed(home, line)) end(home);
    if (english.parted.in(words) !== -1) for (const target of known) if (isOfParted(target, words)) end(target);
    // "You can forget the peanuts" may be about the order: the guest is asked. "Forget the budget" ends that number.
    if (english.drops.in(words) === -1) continue;
    const named = vocabulary.categoryOf(words);
    const isMeant = ({ strength, category, text }: Memory) => strength === "soft" && category === named && /\d/u.test(text);
    for (const memory of known) if (isMeant(memory) || (memory.strength === "hard" && isAbout(memory, words))) end(memory);
  }
  return {
    off_record: keepsOut ? (saysNothingElse(text, commands, language) ? "previous" : "this") : null,
    asked,
    allAbout,
    putRight,
    corrects: english.change.in(wordsIn(text)) !== -1,
    covers: (sentence) =>
      putRight.some(({ quote, isAll }) => isAll && quote === sentence.text) ||
      commands.some(({ command, start, end }) => {
        if (command.kind === "remember" || start >= sentence.start + sentence.text.length || end <= sentence.start) return false;
        // "I'm allergic to nuts, but don't keep that" tells of an allergy, about which the guest is asked.
        return command.kind !== "do_not_remember" || sentence.text.length - (end - start) < BESIDE_CHARS;
      }),
  };
}

/** What the message before told. */
export function saidBefore({ known, session_id, turn }: Said): readonly Memory[] {
  return known.filter(({ source }) => source?.session_id === session_id && source.turn === turn - 1);
}

interface EndOf {
  readonly target: Memory;
  readonly plain: boolean;
}

/** The memories that a sentence says are over. */
function endingsIn(known: readonly Memory[], sentence: Sentence, words: readonly string[], language: Language): readonly EndOf[] {
  const isEnglish = language.name === "en";
  const again = english.again.in(words) !== -1;
  const over =
    again ||
    english.ends.in(words) !== -1 ||
    (!isEnglish && saysOver(words)) ||
    (language.name === "de" && words.includes("mehr") && language.not.in(words) !== -1);
  const denied = isEnglish && (english.formerly.in(words) !== -1 || words.some((word) => isDenial(word, language)));
  if (!over && !denied) return [];
  const clauses = clausesOf(sentence, language);
  return thoseOf(known, words, language).flatMap((target): readonly EndOf[] => {
    const isMeant = target.strength === "hard" ? isAbout(target, words) : over && isNamed(target, sentence.text);
    if (!isMeant && !(again && isDietOf(target, words))) return [];
    const ending = endingOf(target, sentence, clauses, language);
    if (ending === null) return [];
    const beside = known.some(
      (other) => other.strength === "hard" && other.subject === target.subject && other !== target && isAbout(other, words),
    );
    return [{ target, plain: (ending === "plain" && !beside) || isDeniedAlone(target, clauses, language) }];
  });
}

/** "We've moved to York": not "my sister moved", "I moved my booking". */
function movesHome(words: readonly string[]): boolean {
  const at = english.moved.in(words);
  const next = at + Math.max(1, english.moved.at(words, at));
  if (at === -1 || !(next === words.length || english.moves_to.has(words[next]))) return false;
  return english.i.has(words[at]) || isSaidOfGuest(words, at);
}

/** "Please don't keep that" by itself is about the message before. */
function saysNothingElse(text: string, commands: ReturnType<typeof commandsOf>, language: Language): boolean {
  let rest = text;
  for (const { start, end } of commands.toReversed()) rest = rest.slice(0, start) + rest.slice(end);
  // "You can forget the peanuts, don't keep that."
  if (english.drops.at(wordsIn(rest), 0) > 0) return true;
  const words = wordsIn(rest);
  // "I'm expecting, so don't store it."
  if (language.first.in(words) !== -1) return false;
  return words.filter((word) => !english.fillers.has(word) && !english.tails.has(word) && word !== "anywhere").length <= 2;
}

/** "My wife is no longer vegan" is said of hers alone, "I'm no longer vegan" of the guest's own. */
function thoseOf(known: readonly Memory[], words: readonly string[], language: Language): readonly Memory[] {
  // "Not cats" is of no cat of the guest's.
  const relations = words.flatMap((word) => relationOf(word) ?? []).filter((relation) => !isPet(relation));
  const named = known.filter(({ subject }) => {
    const name = subject.replace(/^companion:/u, "");
    return subject !== "self" && (words.includes(folded(name)) || relations.includes(relationOf(name) ?? ""));
  });
  if (named.length > 0 || relations.length > 0) return named;
  const pet = petBegun(words, language);
  if (pet !== undefined) return known.filter((memory) => memory.subject === "self" && isAbout(memory, [pet]));
  return language.first.in(words) !== -1 ? known.filter(({ subject }) => subject === "self") : known;
}

/** "My dog is no longer vegan": of the guest's own only "my dog allergy" is over with it. */
function petBegun(words: readonly string[], { mine }: Language): string | undefined {
  const [first = "", ...rest] = trimmed(words).map((word) => word.replace(/'s$/u, ""));
  // "Our old cat": one word may stand between.
  return first === "the" || mine.has(first) ? rest.slice(0, 2).find((word) => isPet(relationOf(word))) : undefined;
}

function isNamed(memory: Memory, what: string): boolean {
  if (memory.aspect === "home" && english.homes.in(wordsIn(what)) !== -1 && wordsIn(what).length <= 4) return true;
  const words = wordsIn(what).filter((word) => word.length >= TELLING || /^\d/u.test(word));
  // "My jazz preference" is not all that the guest prefers.
  const held = wordsIn(`${memory.about} ${memory.text}`).filter((word) => word.length >= TELLING && !saysLiking(word));
  return words.some((word) => held.some((other) => alike(word, other)));
}

/** The thing itself is named: one allergy of several. */
export function isAbout({ about }: Memory, words: readonly string[]): boolean {
  return wordsIn(about).some((own) => words.some((word) => alike(own, word)));
}

/** Who was the guest's and is no more: named, or the one that such words are said of. */
function isOfParted(memory: Memory, words: readonly string[]): boolean {
  const relation = relationOf(memory.subject.replace(/^companion:/u, ""));
  if (memory.subject === "self" || relation === undefined) return false;
  const named = words.some((word) => relationOf(word) === relation);
  return named || (english.lovers.has(folded(relation)) && !words.some((word) => relationOf(word) !== undefined));
}

function isDietOf(memory: Memory, words: readonly string[]): boolean {
  return memory.subject === "self" && memory.aspect === "diet" && words.some((word) => word.startsWith("eat"));
}
