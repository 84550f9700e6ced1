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

/** Letters that may differ, for each so many letters that the longer of two names has. */
const LETTERS_PER_SLIP = 4;
const MIN_PREFIX = 4;
/** Names are short: one that is longer is meant for none of them. */
const MAX_CHARS = 256;

/**
 * The name that a misspelt one was meant for; undefined where none is near. Letters alone are compared: `sessionId` is `session_id`.
 * One that begins as the other does counts as half a slip. `fold` says what counts as the same. Default: case, `_`, `-` and blanks don't
 * matter.
 */
export function nearestName(said: string, names: readonly string[], fold: (name: string) => string = lettersOf): string | undefined {
  if (said.length > MAX_CHARS) return undefined;
  const word = fold(said);
  if (word === "") return undefined;
  const found = names.map((name) => ({ name, slips: slipsBetween(word, fold(name)) })).sort((a, b) => a.slips - b.slips)[0];
  return found !== undefined && found.slips !== Number.POSITIVE_INFINITY ? found.name : undefined;
}

/** Names that are told of, at most. */
const MAX_TOLD = 20;

/** A line for each. `known`: the fields that there are, for the one that was meant. */
export function unknownFields(given: readonly string[], known: readonly string[]): string {
  const lines = given.slice(0, MAX_TOLD).map((name) => {
    const meant = nearestName(name, known);
    return `there is no field \`${name.slice(0, 64)}\` here${meant === undefined ? "" : `; did you mean \`${meant}\`?`}`;
  });
  return lines.join("\n");
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

/** Letters that differ; infinite where they are too many for the length. */
function slipsBetween(a: string, b: string): number {
  if (a === b) return 0;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length >= MIN_PREFIX && long.startsWith(short)) return 0.5;
  const allowed = Math.floor(long.length / LETTERS_PER_SLIP);
  const slips = editDistance(a, b, allowed);
  return slips <= allowed ? slips : Number.POSITIVE_INFINITY;
}
