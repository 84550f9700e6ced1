import type { Memory } from "maitred";
import { folded, wordsIn } from "maitred/stand-in";
import { alike } from "./alike.js";
import type { Clause, Sentence } from "./clauses.js";
import { english, type Language, relationOf } from "./language.js";

/*
 * What words that something is over ("no longer", "stopped", "used to") do to a memory. They end it plainly where a whole sentence says
 * nothing else: whose it is, the ending, and the thing itself. All else that may end it is asked about. English; in other languages such
 * words are always asked about.
 */

/** `unclear`: the guest is asked. Null: they are about something else. */
export type Ending = "plain" | "unclear" | null;

/** A word of a memory that tells something; shorter ones don't. */
const TELLING = 4;
/** Words of so few letters are no thing. */
const SMALL = 2;

export function endingOf(target: Memory, sentence: Sentence, clauses: readonly Clause[], language: Language): Ending {
  if (language.name !== "en") return sentence.text.includes("?") ? null : "unclear";
  const told = clauses.map(({ words }) => trimmed(words)).filter((words) => words.length > 0);
  const endings = told.map((words) => new ClauseEnding(target, words, language).read());
  // "I'm no longer vegan, what do you have?"
  if (sentence.text.includes("?")) return endings.includes("plain") ? "unclear" : null;
  if (told.length === 1 && endings[0] === "plain") return "plain";
  return endings.some((ending) => ending !== null) || correctsBeside(told) ? "unclear" : null;
}

/** "I meant raspberries, not strawberries": what is put right is asked about, wherever the thing stands. */
function correctsBeside(told: readonly (readonly string[])[]): boolean {
  return told.some((words) => english.misspoken.in(words) !== -1);
}

/** "… I'm allergic to raspberries, not strawberries", where the guest puts right what they said. */
export function isDeniedAlone(target: Memory, clauses: readonly Clause[], language: Language): boolean {
  return (
    clauses.some(({ words }) => english.misspoken.in(words) !== -1) &&
    clauses.some(({ words: [first, ...rest] }) => language.not.has(first) && rest.length > 0 && rest.every((word) => isOf(target, word)))
  );
}

/** Whether somebody whose it is said these words: "we moved", "I have just moved", "moved last week"; of nobody else. */
export function isSaidOfGuest(words: readonly string[], at: number): boolean {
  const before = withoutAuxiliaries(trimmed(words.slice(0, at)));
  return before.length === 0 || english.i.has(before.at(-1));
}

/** Whether a word denies what follows it. */
export function isDenial(word: string, { not }: Language): boolean {
  return not.has(word) || word.endsWith("n't");
}

/** One clause, for one memory. */
class ClauseEnding {
  readonly #target: Memory;
  readonly #words: readonly string[];
  readonly #language: Language;

  constructor(target: Memory, words: readonly string[], language: Language) {
    this.#target = target;
    this.#words = words;
    this.#language = language;
  }

  read(): Ending {
    const endings = this.#words.map((_, at) => this.#at(at));
    return endings.find((ending) => ending === "plain") ?? endings.find((ending) => ending !== null) ?? null;
  }

  #at(at: number): Ending {
    const words = this.#words;
    const stop = english.stops.at(words, at);
    if (stop > 0) return this.#stopped(at, at + stop);
    if (english.again.at(words, at) > 0) return words.slice(0, at).some((word) => isDenial(word, this.#language)) ? null : "unclear";
    const adverb = english.ends.at(words, at);
    if (adverb > 0) return words[at + adverb] === "than" ? null : this.#noLonger(at, at + adverb);
    return this.#deniedFrom(at) ?? (english.formerly.at(words, at) > 0 && this.#whose(at) === "own" ? "unclear" : null);
  }

  /** "I have stopped being vegan". */
  #stopped(at: number, next: number): Ending {
    const [before, after] = [this.#words.slice(0, at), this.#words.slice(next)];
    // "I never stopped", "I stopped by a vegan place", "I've given up explaining that I'm vegan".
    if (before.some((word) => isDenial(word, this.#language)) || english.stops_by.at(this.#words, at) > 0) return null;
    const thing = after.findIndex((word) => this.#isOwn(word));
    if (after.slice(0, Math.max(0, thing)).some((word) => english.i.has(word))) return null;
    const whose = this.#whose(at);
    if (whose === "other") return null;
    return whose === "own" && this.#isWhole(after) ? "plain" : "unclear";
  }

  /** "I'm no longer vegan", "I don't have a nut allergy any more". */
  #noLonger(at: number, next: number): Ending {
    const whose = this.#whose(at);
    if (whose === "own" && this.#words[at] === "no" && this.#isWhole(this.#words.slice(next))) return "plain";
    const denied = this.#words.findIndex((word) => isDenial(word, this.#language));
    if (denied > 0 && denied < at && next === this.#words.length && this.#whose(denied) === "own")
      return this.#isWhole(this.#words.slice(denied + 1, at)) ? "plain" : "unclear";
    const isGuests =
      this.#words.some((word) => this.#language.first.has(word)) || this.#words.slice(0, at).some((word) => this.#isOwn(word));
    return whose === "other" && !isGuests ? null : "unclear";
  }

  /** "I'm not vegan" of one who is known to be: it may have been a mistake. */
  #deniedFrom(at: number): Ending {
    const isOne = isDenial(this.#words[at] ?? "", this.#language) && this.#whose(at) === "own";
    return isOne && this.#isWhole(this.#words.slice(at + 1)) ? "unclear" : null;
  }

  /** Of whom words from `at` on are said. `within`: in a larger clause, or of one who is not named. */
  #whose(at: number): "own" | "within" | "other" {
    const before = withoutAuxiliaries(this.#words.slice(0, at));
    if (before.length === 0) return at === 0 ? "within" : "other";
    const { mine } = this.#language;
    const last = before.at(-1) ?? "";
    const names = [this.#target.subject.replace(/^companion:/u, ""), ...this.#target.entities].map(folded);
    const relation = relationOf(names[0] ?? "");
    const isThem = (word: string) => names.includes(word) || (relation !== undefined && relationOf(word) === relation);
    const isSelf = this.#target.subject === "self";
    if (isSelf && english.i.has(last)) return before.length === 1 ? "own" : "within";
    const bare = before.map((word) => word.replace(/'s$/u, ""));
    if (!isSelf && bare.every((word) => isThem(word) || mine.has(word))) return "own";
    // "My nut allergy stopped years ago".
    if (before.every((word) => this.#isOwn(word) || mine.has(word) || english.glue.has(word))) return "within";
    return !isSelf && (isThem(bare.at(-1) ?? "") || this.#language.pronounAt([last], 0).length > 0) ? "within" : "other";
  }

  #isOwn(word: string): boolean {
    return isOf(this.#target, word);
  }

  /** The thing, all of it, and nothing else. */
  #isWhole(words: readonly string[]): boolean {
    if (words.length === 0 || !words.every((word) => english.glue.has(word) || this.#isOwn(word))) return false;
    const telling = wordsIn(this.#target.text).filter((word) => word.length >= TELLING && relationOf(word) === undefined);
    return telling.every((word) => words.some((said) => alike(word, said)) || isNameOf(this.#target, word));
  }
}

function isOf({ about, text }: Memory, word: string): boolean {
  return wordsIn(`${about} ${text}`).some((own) => own.length > SMALL && alike(own, word));
}

function isNameOf({ entities }: Memory, word: string): boolean {
  return entities.some((name) => folded(name) === word);
}

/** Without what leads into a clause, and polite words at its end. */
export function trimmed(words: readonly string[]): readonly string[] {
  let from = 0;
  for (let more = 1; more > 0; from += more) more = english.fillers.at(words, from);
  let end = words.length;
  while (end > from && english.tails.has(words[end - 1])) end--;
  return words.slice(from, end);
}

function withoutAuxiliaries(words: readonly string[]): readonly string[] {
  let end = words.length;
  while (end > 0 && english.auxiliaries.has(words[end - 1])) end--;
  return words.slice(0, end);
}
