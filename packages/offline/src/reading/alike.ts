/** So many letters at the beginning are the same word. */
const BEGINNING = 5;
const MAX_ENDING = 3;

/** Whether two folded words are one in other forms: "nut" and "nuts", "allergy" and "allergic". */
export function alike(a: string, b: string): boolean {
  const [one, other] = [a.replace(/s$/u, ""), b.replace(/s$/u, "")];
  if (one === other) return true;
  return a.length >= BEGINNING && Math.abs(a.length - b.length) <= MAX_ENDING && a.slice(0, BEGINNING) === b.slice(0, BEGINNING);
}
