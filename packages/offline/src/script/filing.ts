import type { DomainWords, ScriptCall } from "maitred";
import { plain } from "maitred/stand-in";

/** Files what is said of memory by the words that a domain has for its needs and categories. */
export class Filing {
  readonly #words: DomainWords;

  constructor(words: DomainWords) {
    this.#words = words;
  }

  /** What is to be remembered, as the memory tool takes it: the guest's own sentence, filed by the words in it. */
  rememberCall(said: string, quote: string): ScriptCall {
    const text = said.trim().replace(/[.!]+$/, "");
    const need = this.#needIn(text);
    const category = this.categoryIn(text) ?? "other";
    return {
      name: "remember",
      arguments: {
        quote,
        text: text.charAt(0).toUpperCase() + text.slice(1),
        category,
        ...(need !== undefined && { need: need.need }),
        strength: need !== undefined ? "hard" : "soft",
      },
    };
  }

  /** The category that the words speak of; undefined where they name none. */
  categoryIn(text: string): string | undefined {
    const names = namedIn(text);
    return this.#needIn(text)?.category ?? Object.entries(this.#words.categories).find(([, phrases]) => names(phrases))?.[0];
  }

  /** Whether a text names the same need as other words. Undefined where those name none. */
  namesNeedOf(words: string, text: string): boolean | undefined {
    const wanted = namedIn(words);
    const needs = this.#words.needs.filter((each) => wanted(each.words)).map(({ need }) => need);
    const held = namedIn(text);
    return needs.length === 0 ? undefined : this.#words.needs.some((each) => needs.includes(each.need) && held(each.words));
  }

  /** Whether a text speaks of a need at all. */
  speaksOfNeed(text: string): boolean {
    return this.#needIn(text) !== undefined;
  }

  #needIn(text: string): DomainWords["needs"][number] | undefined {
    const names = namedIn(text);
    return this.#words.needs.find((each) => names(each.words));
  }
}

function namedIn(text: string): (phrases: readonly string[]) => boolean {
  const words = ` ${singular(text)} `;
  return (phrases) => phrases.some((phrase) => words.includes(` ${singular(phrase)} `));
}

/** "Nut allergy" is about nuts. */
function singular(text: string): string {
  const words = plain(text).match(/[\p{L}\p{N}'-]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/u, "") : word)).join(" ");
}
