import { isUnspaced } from "../domain/compared-words.js";
import { kindByName } from "../domain/need-name.js";
import { folded, phrasesIn, WordList, wordsIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { NeedTalk } from "../ports/need-talk.js";
import talk from "./need-talk.json" with { type: "json" };
import offRecord from "./off-record.json" with { type: "json" };
import relationsOfGuests from "./relations.json" with { type: "json" };

const { avoided, ...lists } = talk;
const { relations, children } = relationsOfGuests;
const phrases = Object.fromEntries(Object.entries(lists).map(([part, lines]) => [part, phrasesIn(lines)])) as Record<
  keyof typeof lists,
  string[]
>;

/** How guests tell of what must hold, of a domain's needs by their words, in the languages that the lists have. */
export function needTalkOf(words: NeedTalk["words"]): NeedTalk {
  return { ...phrases, words, relations: [...relations, ["child", ...children]], avoided };
}

/** What names a domain's needs. Default of `kind`: `avoid` for a name that begins with `no_`, else `be`; of `category`: `other`. */
export function needWordsOf(needs: readonly Need[]): NeedTalk["words"] {
  return needs.map(({ name: need, words = [], kind = kindByName(need), category = "other" }) => ({
    need,
    words,
    kind: kind === "at_most" || kind === "at_least" ? "limit" : kind,
    category,
  }));
}

/** Plain forms by which guests ask that something is not kept. */
export const OFF_RECORD: readonly string[] = phrasesIn(offRecord);

/** The domain's needs whose words stand in a text; where none does, those whose words are misspelt there. */
export function needsNamedIn(text: string, needs: readonly Need[]): ReadonlySet<string> {
  const words = wordsIn(text);
  const line = folded(text);
  const all = [...wordsOfNeeds(needs)];
  const named = all.filter(([, { list, unspaced }]) => list.in(words) !== -1 || unspaced.some((word) => line.includes(word)));
  const or = named.length > 0 ? named : all.filter(([, { list }]) => list.in(words, { slips: true }) !== -1);
  return new Set(or.map(([name]) => name));
}

interface WordsOfNeed {
  readonly list: WordList;
  /** Of scripts that put no space between words. */
  readonly unspaced: readonly string[];
}

/** Made once for a domain: they are asked for again and again. */
const WORDS = new WeakMap<readonly Need[], ReadonlyMap<string, WordsOfNeed>>();

function wordsOfNeeds(needs: readonly Need[]): ReadonlyMap<string, WordsOfNeed> {
  const known = WORDS.get(needs);
  if (known !== undefined) return known;
  const made = new Map(
    needs.map(({ name, words = [], spellings = [] }) => {
      const all = [...words, ...spellings];
      return [name, { list: new WordList(all), unspaced: all.filter(isUnspaced).map(folded) }];
    }),
  );
  WORDS.set(needs, made);
  return made;
}
