import { folded, WordList, wordsIn } from "../platform/phrase-list.js";
import words from "./attitudes.json" with { type: "json" };

/** How somebody is to a thing: "loves ballet", "isn't into it". In English, German, French, Spanish, Italian, Portuguese and Dutch. */
export interface Attitude {
  readonly isAgainst: boolean;
  /** What it is to, folded, without small words: "ballet" of "going to the ballet". May be empty. */
  readonly thing: string;
  /** The words before it, folded, of whoever has it; none of "not a fan of opera", nor where the thing stands first. */
  readonly before: readonly string[];
}

type Lists = Readonly<Record<keyof typeof words.en, WordList>>;

const LANGUAGES: readonly Lists[] = Object.values(words).map((lists) => {
  const made = Object.entries<readonly string[]>(lists).map(([name, lines]) => [name, new WordList(lines)] as const);
  return Object.fromEntries(made) as Record<keyof typeof words.en, WordList>;
});

/** A denial this close before a word denies it: "does not like", "no le gusta". */
const REACH = 2;
/** "L'opéra" is "opéra". */
const ELIDED = /^[ld]'/u;

/** Null where it tells of none, or of one that was once, or may be. */
export function attitudeIn(text: string): Attitude | null {
  const said = wordsIn(text);
  // "Ama il jazz" is Spanish by its verb alone.
  const knownIn = (language: Lists) => said.filter((_, at) => Object.values(language).some((list) => list.at(said, at) > 0)).length;
  let [best, most]: [Attitude | null, number] = [null, 0];
  for (const language of LANGUAGES) {
    const attitude = attitudeOf(said, language);
    const known = attitude === null ? 0 : knownIn(language);
    if (known > most) [best, most] = [attitude, known];
  }
  return best;
}

function attitudeOf(said: readonly string[], language: Lists): Attitude | null {
  const told = without(said, language.degrees);
  const after = told.findIndex((_, at) => at + language.against_after.at(told, at) === told.length);
  if (after > 0) return { isAgainst: true, thing: thingOf(told.slice(0, after), language), before: [] };
  const lengthAt = (at: number) => Math.max(language.for.at(told, at), language.against.at(told, at));
  const at = told.findIndex((_, place) => lengthAt(place) > 0);
  if (at === -1 || language.not_now.in(told.slice(0, at)) !== -1) return null;
  const [before, rest] = [told.slice(0, at), told.slice(at + lengthAt(at))];
  const thing = without(rest, language.not, { atEnds: true });
  const isDenied = language.not.in(before.slice(-REACH)) !== -1 || thing.length < rest.length;
  const isFor = language.for.at(told, at) >= language.against.at(told, at);
  return {
    isAgainst: isFor === isDenied,
    thing: thingOf(thing, language),
    before: without(before, language.not).filter((word) => !language.small.has(word)),
  };
}

function thingOf(told: readonly string[], { small }: Lists): string {
  return without(told, small, { atEnds: true })
    .map((word) => word.replace(ELIDED, ""))
    .join(" ");
}

/** Words without the phrases of a list; `atEnds`: only those that they begin or end with. */
function without(all: readonly string[], list: WordList, { atEnds = false } = {}): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < all.length; ) {
    const length = list.at(all, at);
    const isDropped = length > 0 && (!atEnds || kept.length === 0 || at + length === all.length);
    if (!isDropped) kept.push(all[at] ?? "");
    at += isDropped ? length : 1;
  }
  return kept;
}

/** Whether nobody has both at once: of one thing, one for it and one against. "Musicals" are "a musical". */
export function contradicts(a: Attitude | null, b: Attitude | null): boolean {
  if (a === null || b === null || a.isAgainst === b.isAgainst) return false;
  return a.thing !== "" && singular(a.thing) === singular(b.thing);
}

/** Whether a text may tell of an attitude to the same thing: without working out which it tells of. */
export function mayTellOf(text: string, { thing }: Attitude): boolean {
  return thing !== "" && folded(text).includes(singular(thing.split(" ", 1)[0] ?? ""));
}

function singular(thing: string): string {
  return thing.replace(/(?<=\p{L}{3})s(?= |$)/gu, "");
}
