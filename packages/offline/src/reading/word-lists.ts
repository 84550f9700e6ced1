import { folded, phrasesIn, WordList } from "maitred/stand-in";

type Lists<Name extends string> = Readonly<Record<Name, readonly string[]>>;

/** Words of data by the names that they have there, to be looked up. */
export function wordLists<Name extends string>(lists: Lists<Name>): Readonly<Record<Name, WordList>> {
  return mapped(lists, (lines) => new WordList(lines));
}

/** The same of a language that puts no space between words: phrases as they stand in a folded text. */
export function phraseLists<Name extends string>(lists: Lists<Name>): Lists<Name> {
  return mapped(lists, (lines) => phrasesIn(lines).map(folded));
}

function mapped<Name extends string, T>(lists: Lists<Name>, make: (lines: readonly string[]) => T): Readonly<Record<Name, T>> {
  const made = Object.entries<readonly string[]>(lists).map(([name, lines]) => [name, make(lines)] as const);
  return Object.fromEntries(made) as Record<Name, T>;
}

/** Whether words are phrases of these lists, one behind the other, and nothing else. */
export function isMadeOf(words: readonly string[], lists: readonly WordList[]): boolean {
  for (let at = 0; at < words.length; ) {
    const length = Math.max(...lists.map((list) => list.at(words, at)));
    if (length === 0) return false;
    at += length;
  }
  return true;
}
