import type { DomainWords } from "maitred";
import { WordList } from "maitred/stand-in";

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
  readonly #reasons: readonly (readonly [need: string, list: WordList])[];
  readonly #categories: readonly (readonly [category: string, list: WordList])[];

  /** Needs that the domain doesn't have are `other`. */
  constructor(words: DomainWords, needs: ReadonlySet<string>) {
    this.#needs = words.needs.map(({ need, category, kind, words: phrases }) => ({
      need: needs.has(need) ? need : "other",
      category,
      kind,
      list: new WordList(phrases),
    }));
    this.#reasons = Object.entries(words.reasons ?? {}).map(([need, phrases]) => [need, new WordList(phrases)]);
    this.#categories = Object.entries(words.categories).map(([category, phrases]) => [category, new WordList(phrases)]);
  }

  /** Every need that the words name, in order; of two at one place the longer. */
  needsIn(words: readonly string[]): readonly FoundNeed[] {
    const found: FoundNeed[] = [];
    for (let at = 0; at < words.length; at++) {
      let best: FoundNeed | undefined;
      for (const { need, category, kind, list } of this.#needs) {
        const length = list.at(words, at, { slips: true });
        if (length > (best?.length ?? 0)) best = { need, category, kind, at, length };
      }
      if (best === undefined) continue;
      found.push(best);
      at += best.length - 1;
    }
    return found;
  }

  /** The needs that may come from what the words name. */
  reasonsIn(words: readonly string[]): readonly string[] {
    return this.#reasons.flatMap(([need, list]) => (list.in(words) === -1 ? [] : [need]));
  }

  /** The category of which the words name something; undefined where none does. The first of the file wins. */
  categoryOf(words: readonly string[]): string | undefined {
    return this.#categories.find(([, list]) => list.in(words) !== -1)?.[0];
  }
}
