import { anyPhrase, phrasesIn, plain } from "maitred/stand-in";
import talk from "../data/talk.json" with { type: "json" };

/** Lists of phrases, each looked up by its name; how guests answer and ask, whatever the domain. */

/** Finds phrases of lists in texts, as whole words. */
export function phraseLists<Name extends string>(lists: Readonly<Record<Name, readonly string[]>>) {
  const found = new Map<string, RegExp>();
  /** Finds any phrase of the lists in {@link folded} text, the longest first. */
  const phrase = (...names: readonly Name[]): RegExp => {
    const key = names.join();
    const phrases = () => names.flatMap((name) => phrasesIn(lists[name])).map(folded);
    const made = found.get(key) ?? anyPhrase(phrases().toSorted((a, b) => b.length - a.length));
    found.set(key, made);
    return made;
  };
  return {
    phrase,
    /** Whether a text has a phrase of any of the lists. */
    says: (text: string, ...names: readonly Name[]): boolean => phrase(...names).test(folded(text)),
    beginsWith: (text: string, ...names: readonly Name[]): boolean =>
      folded(text)
        .trimStart()
        .search(phrase(...names)) === 0,
    /** Whether a text has phrases of the lists and nothing else. */
    saysOnly: (text: string, ...names: readonly Name[]): boolean =>
      !/[\p{L}\p{N}]/u.test(
        folded(text)
          .split(phrase(...names))
          .join(" "),
      ),
    /** A list of single words with spaces between. */
    wordSet: (name: Name): ReadonlySet<string> => new Set(lists[name].flatMap((line) => line.split(" "))),
  };
}

/** As the lists are compared: lower case without accents, apostrophes straight. */
export function folded(text: string): string {
  return plain(text).replace(/[\u2018\u2019\u02BC]/g, "'");
}

export const TALK = talk;
export const { phrase, says, beginsWith, saysOnly, wordSet } = phraseLists(talk);
