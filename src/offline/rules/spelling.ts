/** The words that needs hang on, as they are often mistyped: a slip of one letter, or of two neighbours, is put right. */

const KEY_WORDS = [
  "allergic",
  "allergy",
  "vegetarian",
  "intolerant",
  "wheelchair",
  "coeliac",
  "diabetic",
  "usually",
  "normally",
  "prefer",
  "favourite",
];
const WORD = /\p{L}{5,12}/gu;

export function spelt(text: string): string {
  return text.replace(WORD, (word) => {
    const lower = word.toLowerCase();
    if (KEY_WORDS.includes(lower)) return word;
    return KEY_WORDS.find((key) => key.startsWith(lower.charAt(0)) && !`${key}s`.includes(lower) && isSlip(lower, key)) ?? word;
  });
}

/** One letter more, less or other, or two that changed places. */
function isSlip(word: string, key: string): boolean {
  if (Math.abs(word.length - key.length) > 1) return false;
  let at = 0;
  while (at < word.length && word[at] === key[at]) at++;
  const [rest, wanted] = [word.slice(at), key.slice(at)];
  if (word.length === key.length)
    return rest.slice(1) === wanted.slice(1) || (rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2));
  return word.length < key.length ? rest === wanted.slice(1) : rest.slice(1) === wanted;
}
