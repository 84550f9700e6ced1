/** At most so many letters of a word are compared. */
export const COMPARED = 40;

/**
 * How many letters must be changed, put in or taken out, or neighbours swapped; more than `most` where it is more. The work is bounded by
 * the words' length.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const [left, right] = [a.slice(0, COMPARED), b.slice(0, COMPARED)];
  let beforeThat: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = left[i - 1] === right[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      row.push(
        Math.min(
          (previous[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (previous[j - 1] ?? 0) + change,
          swapped ? (beforeThat[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    // Whatever comes, it is no less than the least of two rows.
    if (Math.min(...row, ...previous) > most) return most + 1;
    beforeThat = previous;
    previous = row;
  }
  return previous[right.length] ?? most + 1;
}
