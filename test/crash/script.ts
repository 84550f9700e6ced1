/**
 * What each user says, step by step: a pure function of the user and the step, so that the children that are killed, those that go on,
 * and the test that checks them agree without talking. A block of steps is one session.
 */
export type Step =
  | {
      readonly kind: "say";
      readonly block: number;
      readonly key: string;
      readonly message: string;
      /** Replaces the block's last message. */
      readonly edits: boolean;
      readonly bands: readonly string[];
      readonly row: number | null;
    }
  | { readonly kind: "forget"; readonly block: number; readonly band: string }
  | { readonly kind: "empty"; readonly block: number };

export const STEPS_PER_BLOCK = 8;
/** Of a block: the step that is replaced by the one after it. */
export const EDITED = 4;

export function stepOf(user: string, position: number): Step {
  const block = Math.floor(position / STEPS_PER_BLOCK);
  const at = position % STEPS_PER_BLOCK;
  const band = (index: number) => bandOf(user, block * 8 + index);
  const say = (message: string, said: { bands?: readonly string[]; row?: number; edits?: boolean } = {}): Step => ({
    kind: "say",
    block,
    key: `${user}-${position}`,
    message,
    edits: said.edits ?? false,
    bands: said.bands ?? [],
    row: said.row ?? null,
  });
  const likes = (...bands: readonly string[]) => bands.map((name) => `I like the band ${name}.`).join(" ");
  switch (at) {
    case 0:
      return say(likes(band(0), band(1)), { bands: [band(0), band(1)] });
    case 1:
      return say(`I usually sit in row ${block + 1}.`, { row: block + 1 });
    case 2:
      return say(likes(band(2), band(0)), { bands: [band(2), band(0)] });
    case 3:
      return say("What is on tonight?");
    case EDITED:
      return say(likes(band(3), band(4)), { bands: [band(3), band(4)] });
    case EDITED + 1:
      return say(likes(band(5), band(6)), { bands: [band(5), band(6)], edits: true });
    case 6:
      return { kind: "forget", block, band: band(1) };
    default:
      return block === 0 ? say("Thank you.") : { kind: "empty", block: block - 1 };
  }
}

const ONSETS = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z"];
const VOWELS = ["a", "e", "i", "o", "u"];

/** A name of its own for each number of each user, in letters alone. */
function bandOf(user: string, number: number): string {
  let left = number;
  let name = "";
  for (let syllable = 0; syllable < 3; syllable += 1) {
    name += `${ONSETS[left % ONSETS.length]}${VOWELS[Math.floor(left / ONSETS.length) % VOWELS.length]}`;
    left = Math.floor(left / (ONSETS.length * VOWELS.length));
  }
  return `${user.charAt(0).toUpperCase()}${user.slice(1)}${name}`;
}

export function likesText(band: string): string {
  return `Likes the band ${band}`;
}

export function rowText(row: number): string {
  return `Usually sits in row ${row}`;
}
