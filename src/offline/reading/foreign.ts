import type { Vocabulary } from "./domain-words.js";
import { asSaid, type ReadClause } from "./draft.js";
import { english } from "./language.js";
import type { Told } from "./said.js";

const MAX_WORDS = 14;
const MAX_PLAIN_WORDS = 10;

/** Not English: a short plain clause of the guest's with a word of liking, of always or of home. It stays as it was said. */
export function foreign({ clause, language, who, standing }: ReadClause, vocabulary: Vocabulary): Told | null {
  const { words } = clause;
  if (words.length < 2 || words.length > MAX_WORDS || language.once.in(words) !== -1) return null;
  const way = words.find((word) => english.contact.has(word));
  if (way !== undefined && english.only.in(words) !== -1 && words.length <= MAX_PLAIN_WORDS)
    return { about: way, text: asSaid(clause.text), category: "communication", aspect: "channel" };
  const someone = who.kind === "self" || who.kind === "companion";
  if (!someone && !(standing && who.kind === "nobody")) return null;
  const isHome = language.home.in(words) !== -1;
  const feels = language.like.in(words) !== -1 || language.dislike.in(words) !== -1;
  const usual = language.always.in(words) !== -1 && (language.first.in(words) !== -1 || vocabulary.categoryOf(words) !== undefined);
  if (!isHome && !feels && !usual && !(standing && words.length <= MAX_PLAIN_WORDS)) return null;
  return { about: clause.text, text: asSaid(clause.text), ...(isHome && { category: "location", aspect: "home" }) };
}
