import type { Clause } from "./clauses.js";
import { english, type Language, relationAt } from "./language.js";
import { isName, rawWords } from "./names.js";

/**
 * "Dad is coming along", "for me and my friend Leanne", "there's me, my husband and the twins": who comes is no need, and nothing to ask
 * about. It names somebody, and has no word that tells more. English.
 */
export function saysWhoComes({ text, words }: Pick<Clause, "text" | "words">, language: Language): boolean {
  if (language.name !== "en") return false;
  const bare = words.map((word) => word.replace(/'s$/u, ""));
  const raw = rawWords(text);
  let isOfSomebody = false;
  for (let at = 0; at < bare.length; ) {
    const relation = relationAt(bare, at);
    const small = [english.company, language.comes, english.numbers].map((list) => list.at(bare, at));
    const isSmall = [language.first, english.be, english.fillers, english.tails].some((list) => list.has(bare[at]));
    const isPerson = language.pronounAt(bare, at).length > 0 || english.friends.has(bare[at]) || (at > 0 && isName(raw[at] ?? ""));
    isOfSomebody ||= relation !== undefined || isPerson;
    const length = relation?.length ?? Math.max(...small, isSmall || isPerson || /^\d{1,2}$/u.test(bare[at] ?? "") ? 1 : 0);
    if (length === 0) return false;
    at += length;
  }
  return isOfSomebody;
}
