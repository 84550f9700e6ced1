import type { DomainWords } from "maitred";
import { folded, WordList } from "maitred/stand-in";
import { relationAt } from "./language.js";

/** A domain's words, to be looked up in a clause. */

export interface FoundNeed {
  readonly need: string;
  readonly category: string;
  readonly kind: "avoid" | "be";
  /** Where its words begin, and how many they are. */
  readonly at: number;
  readonly length: number;
}

export class Vocabulary {
  readonly #needs: readonly (Pick<FoundNeed, "need" | "category" | "kind"> & { readonly list: WordList })[];
  /** By a whole word, as it is written. */
  readonly #kinds: ReadonlyMap<string, FoundNeed["kind"]>;
  readonly #limits: readonly { readonly need: string; readonly category: string; readonly list: WordList }[];
  readonly #reasons: readonly (readonly [need: string, list: WordList])[];
  readonly #requests: WordList;
  readonly #categories: readonly (readonly [category: string, list: WordList])[];

  /** Needs that the domain doesn't have are `other`. */
  constructor(words: DomainWords, needs: ReadonlySet<string>) {
    const lists = words.needs.map(({ words: phrases, ...each }) => ({ ...each, list: new WordList(phrases) }));
    this.#needs = lists.flatMap(({ need, kind, ...each }) =>
      kind === "limit" ? [] : [{ ...each, kind, need: needs.has(need) ? need : "other" }],
    );
    this.#kinds = new Map(
      words.needs.flatMap(({ kind, words: phrases }) => (kind === "limit" ? [] : phrases.map((phrase) => [folded(phrase), kind] as const))),
    );
    this.#limits = lists.filter(({ need, kind }) => kind === "limit" && needs.has(need));
    this.#reasons = Object.entries(words.reasons ?? {}).map(([need, phrases]) => [need, new WordList(phrases)]);
    this.#requests = new WordList(words.requests ?? []);
    this.#categories = Object.entries(words.categories).map(([category, phrases]) => [category, new WordList(phrases)]);
  }

  /** Every need that the words name, in order; of two at one place the longer. */
  needsIn(words: readonly string[]): readonly FoundNeed[] {
    const found: FoundNeed[] = [];
    for (let at = 0; at < words.length; at++) {
      // What is spelt right is no slip: "laktoseintolerant" is no "lactose-intolerant". A "Schwager" is no misspelt "schwanger".
      const best = this.#needAt(words, at, false) ?? (relationAt(words, at) === undefined ? this.#needAt(words, at, true) : undefined);
      if (best === undefined) continue;
      found.push(best);
      at += best.length - 1;
    }
    return found;
  }

  #needAt(words: readonly string[], at: number, slips: boolean): FoundNeed | undefined {
    let best: FoundNeed | undefined;
    for (const { need, category, kind, list } of this.#needs) {
      const length = list.at(words, at, { slips });
      if (length > (best?.length ?? 0)) best = { need, category, kind, at, length };
    }
    return best;
  }

  /** Of what a word names that is all of a text, folded: for scripts without spaces between words. Undefined: no need. */
  kindOfWord(text: string): FoundNeed["kind"] | undefined {
    return this.#kinds.get(text);
  }

  /** The limit whose words these are; undefined where they name none. */
  limitIn(words: readonly string[]): { readonly need: string; readonly category: string; readonly at: number } | undefined {
    return this.#limits.map(({ list, ...limit }) => ({ ...limit, at: list.in(words) })).find(({ at }) => at !== -1);
  }

  /** The one limit of a category; undefined where it has none, or several. */
  limitOf(category: string): { readonly need: string; readonly category: string } | undefined {
    const [only, another] = this.#limits.filter((limit) => limit.category === category);
    return another === undefined ? only : undefined;
  }

  /** Whether words from `at` on ask for what the domain's tools do. */
  requestsAt(words: readonly string[], at: number): boolean {
    return this.#requests.at(words, at) > 0;
  }

  /** The needs that may come from what the words name. */
  reasonsIn(words: readonly string[]): readonly string[] {
    return this.#reasons.flatMap(([need, list]) => (list.in(words) === -1 ? [] : [need]));
  }

  /** Whether the words name something of a category. */
  isOf(category: string, words: readonly string[]): boolean {
    return this.#categories.some(([name, list]) => name === category && list.in(words) !== -1);
  }

  /**
   * The category of what somebody may like or not, and need not be spared: the words name no need, nor anything of a need's category, and
   * hardly anything else ("loud bars").
   */
  tasteOf(words: readonly string[]): string | undefined {
    const category = this.categoryOf(words);
    const isOfNeeds = this.needsIn(words).length > 0 || this.#needs.some((need) => need.category === category);
    const isNamed = (place: number) =>
      this.#categories.some(([, list]) => words.some((_, at) => at <= place && at + list.at(words, at) > place));
    const others = words.filter((_, place) => !isNamed(place)).length;
    const isOnly = others <= 1 && isNamed(words.length - 1);
    return isOfNeeds || !isOnly || this.reasonsIn(words).length > 0 ? undefined : category;
  }

  /** The category of which the words name something; undefined where none does. The first of the file wins. */
  categoryOf(words: readonly string[]): string | undefined {
    return this.#categories.find(([, list]) => list.in(words) !== -1)?.[0];
  }
}
