/** Words as a shell takes them, each as it is. */
export function commandOf(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./…-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
