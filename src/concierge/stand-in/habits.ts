import type { MemoryLine } from "../../ports/offline-script.js";
import { says } from "../phrases.js";
import { cityIn, dietIn, genresIn, partyIn, priceIn, wantsStepFree } from "../script/words.js";
import { type City, type Diet, type Genre, plain } from "../vocabulary.js";

/** What memory adds where the message says nothing, each with the memory it comes from. */
export interface Habits {
  readonly genres: readonly { readonly genre: Genre; readonly memory: MemoryLine }[];
  readonly city: { readonly city: City; readonly memory: MemoryLine } | undefined;
  readonly maxPrice: { readonly euros: number; readonly memory: MemoryLine } | undefined;
  readonly party: { readonly size: number; readonly memory: MemoryLine } | undefined;
  readonly stepFree: MemoryLine | undefined;
  readonly diet: { readonly diet: Diet; readonly memory: MemoryLine } | undefined;
}

export function habitsOf(memories: readonly MemoryLine[]): Habits {
  const own = memories.filter((memory) => memory.subject === "self" && !says(memory.text, "dislikes"));
  const first = <T>(pick: (memory: MemoryLine) => T | undefined): T | undefined => {
    for (const memory of own) {
      const found = pick(memory);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const is = (memory: MemoryLine, category: string) => memory.category === category || memory.category === "";
  return {
    genres: own.filter((memory) => is(memory, "genre")).flatMap((memory) => genresIn(memory.text).map((genre) => ({ genre, memory }))),
    city: first((memory) => {
      const city =
        is(memory, "location") && /\b(?:lives?|based|home|resides?|stays?)\b/i.test(memory.text) ? cityIn(memory.text) : undefined;
      return city === undefined ? undefined : { city, memory };
    }),
    maxPrice: first((memory) => {
      const euros = is(memory, "budget") && !/\b(?:meal|room|night)\b/i.test(memory.text) ? priceIn(memory.text) : undefined;
      return euros === undefined ? undefined : { euros, memory };
    }),
    party: first((memory) => {
      const size = is(memory, "party_size")
        ? (partyIn(memory.text) ?? (memory.category === "party_size" ? firstNumber(memory.text) : undefined))
        : undefined;
      return size === undefined ? undefined : { size, memory };
    }),
    stepFree: first((memory) => (is(memory, "accessibility") && wantsStepFree(memory.text) ? memory : undefined)),
    diet: first((memory) => {
      const diet = is(memory, "dietary") ? dietIn(memory.text) : undefined;
      return diet === undefined ? undefined : { diet, memory };
    }),
  };
}

function firstNumber(text: string): number | undefined {
  const digits = /\b([1-9]\d?)\b/.exec(plain(text))?.[1];
  return digits === undefined ? undefined : Number(digits);
}
