/** Memories that hold one of the message's words are few where the word tells anything. */
const TELLING_IN = 2;
/** Shorter words tell nothing. */
const TELLING_LETTERS = 3;
/** Words that are shorter are compared as they are; longer ones without an ending of so many letters. */
const FORM_LETTERS = 4;
const ENDING_LETTERS = 2;
const NUMBER = /^\d+$/u;

interface Worded {
  readonly words: readonly string[];
}

/** Words of the message that few of the memories hold, in whatever form. */
export function tellingWordsOf(telling: ReadonlySet<string>, memories: readonly Worded[]): readonly string[] {
  return [...telling].filter((word) => {
    if (word.length < TELLING_LETTERS || NUMBER.test(word)) return false;
    let holders = 0;
    for (const memory of memories) if (holds(memory, word)) holders += 1;
    return holders > 0 && holders <= TELLING_IN;
  });
}

/** Whether a memory holds a word, in whatever form. */
export function holds({ words }: Worded, word: string): boolean {
  return words.some((each) => isForm(each, word));
}

/** Equal but for an ending of two letters. */
function isForm(a: string, b: string): boolean {
  if (a === b || a === `${b}s` || b === `${a}s`) return true;
  const shared = Math.max(FORM_LETTERS, Math.min(a.length, b.length) - ENDING_LETTERS);
  return (
    a.length >= FORM_LETTERS &&
    b.length >= FORM_LETTERS &&
    Math.abs(a.length - b.length) <= ENDING_LETTERS &&
    a.startsWith(b.slice(0, shared))
  );
}
