import { stopwords as danish } from "@orama/stopwords/danish";
import { stopwords as dutch } from "@orama/stopwords/dutch";
import { stopwords as english } from "@orama/stopwords/english";
import { stopwords as finnish } from "@orama/stopwords/finnish";
import { stopwords as french } from "@orama/stopwords/french";
import { stopwords as german } from "@orama/stopwords/german";
import { stopwords as italian } from "@orama/stopwords/italian";
import { stopwords as norwegian } from "@orama/stopwords/norwegian";
import { stopwords as portuguese } from "@orama/stopwords/portuguese";
import { stopwords as romanian } from "@orama/stopwords/romanian";
import { stopwords as spanish } from "@orama/stopwords/spanish";
import { stopwords as swedish } from "@orama/stopwords/swedish";
import { stopwords as turkish } from "@orama/stopwords/turkish";

/** Languages in Latin letters that are told apart, and stemmed, by their own rules. Any other is treated as English. */
export type LatinLanguage =
  | "english"
  | "german"
  | "french"
  | "spanish"
  | "italian"
  | "portuguese"
  | "dutch"
  | "swedish"
  | "norwegian"
  | "danish"
  | "finnish"
  | "romanian"
  | "turkish";

/** In the order in which ties are decided. */
const lists: ReadonlyMap<LatinLanguage, ReadonlySet<string>> = new Map<LatinLanguage, ReadonlySet<string>>([
  ["english", listOf([...english, "ll", "ve", "re", "im", "dont", "s", "t"])],
  ["german", listOf(german)],
  ["french", listOf(french)],
  ["spanish", listOf(spanish)],
  ["italian", listOf(italian)],
  ["portuguese", listOf(portuguese)],
  ["dutch", listOf(dutch)],
  ["swedish", listOf(swedish)],
  ["norwegian", listOf(norwegian)],
  ["danish", listOf(danish)],
  ["finnish", listOf(finnish)],
  ["romanian", listOf(romanian)],
  ["turkish", listOf(turkish)],
]);

/** As tokens are: in lower case, without accents and apostrophes. */
function listOf(words: readonly string[]): ReadonlySet<string> {
  return new Set(
    words.map((word) =>
      word
        .toLowerCase()
        .normalize("NFD")
        .replace(/\p{M}+|['’]/gu, "")
        .replaceAll("ß", "ss"),
    ),
  );
}

/**
 * The language whose stop words a text uses most; English where none leads. Cheap (one look-up a word and language) and
 * stable: it depends on the words alone. @param words folded to lower case without accents.
 */
export function latinLanguageOf(words: readonly string[]): LatinLanguage {
  let best: LatinLanguage = "english";
  let most = 0;
  for (const [language, list] of lists) {
    let hits = 0;
    for (const word of words) if (list.has(word)) hits++;
    if (hits > most) {
      best = language;
      most = hits;
    }
  }
  return best;
}

/**
 * The languages that a text may be in, by its stop words: the one whose it uses most, and those of which it uses half as many; none where
 * it uses no more than one of any.
 * @param words as for {@link latinLanguageOf}
 */
export function likelyLanguagesOf(words: readonly string[]): ReadonlySet<LatinLanguage> {
  const hits = [...lists].map(([language, list]) => ({ language, count: words.filter((word) => list.has(word)).length }));
  const most = Math.max(...hits.map(({ count }) => count));
  return new Set(most <= 1 ? [] : hits.filter(({ count }) => count >= most / 2).map(({ language }) => language));
}

export function isStopWord(word: string, language: LatinLanguage): boolean {
  return lists.get("english")?.has(word) === true || (language !== "english" && lists.get(language)?.has(word) === true);
}

/**
 * The words of a text that are more than grammar, in any language that it may be in, each with its place.
 * @param words as for {@link latinLanguageOf}
 */
export function contentWordsOf(words: readonly string[]): readonly { readonly word: string; readonly at: number }[] {
  const languages = [...likelyLanguagesOf(words), "english" as const];
  return words.map((word, at) => ({ word, at })).filter(({ word }) => !languages.some((language) => isStopWord(word, language)));
}
