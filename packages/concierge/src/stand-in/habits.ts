import type { MemoryLine } from "maitred";
import { says } from "../phrases.js";
import { citiesIn, dietsIn, genresIn, partyIn, priceIn } from "../script/words.js";
import { isDisliked } from "../tastes.js";
import type { City, Diet, Genre } from "../vocabulary.js";

interface Habit<Value> {
  readonly value: Value;
  /** Where it comes from. */
  readonly memory: MemoryLine;
}

/** What memory adds where the message says nothing. */
export interface Habits {
  readonly genres: readonly Habit<Genre>[];
  readonly disliked: readonly Habit<Genre>[];
  readonly city: Habit<City> | undefined;
  readonly maxPrice: Habit<number> | undefined;
  readonly party: Habit<number> | undefined;
  readonly stepFree: Habit<true> | undefined;
  readonly diet: Habit<Diet> | undefined;
}

export function habitsOf(memories: readonly MemoryLine[]): Habits {
  const ofSelf = memories.filter(({ subject }) => subject === "self");
  const own = ofSelf.filter(({ text }) => !isDisliked(text));
  const against = ofSelf.filter(({ text, category }) => category === "genre" && isDisliked(text));
  const known = <Value>(category: string, read: (text: string) => readonly Value[]): readonly Habit<Value>[] =>
    own.flatMap((memory) => (memory.category === category ? read(memory.text).map((value) => ({ value, memory })) : []));
  const listed = <Value>(value: Value | undefined) => (value === undefined ? [] : [value]);
  return {
    genres: known("genre", genresIn),
    disliked: against.flatMap((memory) => genresIn(memory.text).map((value) => ({ value, memory }))),
    city: known("location", (text) => (says(text, "home") ? citiesIn(text) : []))[0],
    maxPrice: known("budget", (text) => listed(priceIn(text)))[0],
    party: known("party_size", (text) => listed(partyIn(text) ?? firstNumber(text)))[0],
    stepFree: known("accessibility", (text) => (says(text, "step_free") ? ([true] as const) : []))[0],
    diet: known("dietary", dietsIn)[0],
  };
}

function firstNumber(text: string): number | undefined {
  const digits = /\b[1-9]\d?\b/.exec(text)?.[0];
  return digits === undefined ? undefined : Number(digits);
}
