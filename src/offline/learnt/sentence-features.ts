/** What a trained judge sees of a sentence, as numbers: its meaning, that of its message, its words, its cues, and its place. */

export interface SentenceSeen {
  readonly text: string;
  /** The guest's own words of the whole message. */
  readonly message: string;
  /** From 0, of so many sentences. */
  readonly place: number;
  readonly sentences: number;
  /** Vectors of length 1, padded with zeros. */
  readonly meaning: Float32Array;
  readonly messageMeaning: Float32Array;
  readonly english: boolean;
  /** As `cuesIn` gives them. */
  readonly cues: readonly boolean[];
}

/** Numbers of a meaning, of whichever embedder. */
export const MEANING = 384;
/** Words and their neighbours share so many counters: no list of them is kept. */
const COUNTERS = 2_048;
const MAX_RUN = 3;
const MEANING_WEIGHT = 2;
const COUNTERS_WEIGHT = 3;
const SHORT_CHARS = 30;
const LONG_CHARS = 90;
const MANY_SENTENCES = 3;

export function featuresOf(seen: SentenceSeen): Float64Array {
  const facts = factsOf(seen);
  const features = new Float64Array(2 * MEANING + facts.length + COUNTERS + 1);
  for (let i = 0; i < MEANING; i++) {
    features[i] = MEANING_WEIGHT * (seen.meaning[i] ?? 0);
    features[MEANING + i] = MEANING_WEIGHT * (seen.messageMeaning[i] ?? 0);
  }
  for (const [i, fact] of facts.entries()) features[2 * MEANING + i] = fact ? 1 : 0;
  const runs = runsOf(seen.text);
  const weight = COUNTERS_WEIGHT / Math.sqrt(runs.size);
  for (const run of runs) {
    const hash = hashOf(run);
    const at = 2 * MEANING + facts.length + (hash % COUNTERS);
    // Half of them count down: two that share a counter cancel out, instead of adding up.
    features[at] = (features[at] ?? 0) + (hash >= 2 ** 31 ? weight : -weight);
  }
  features[features.length - 1] = 1;
  return features;
}

function factsOf({ text, message, place, sentences, english, cues }: SentenceSeen): readonly boolean[] {
  return [
    asks(text),
    message.includes("?"),
    sentences > 1,
    sentences > MANY_SENTENCES,
    place === 0,
    place === sentences - 1,
    text.length < SHORT_CHARS,
    text.length > LONG_CHARS,
    !english,
    /\p{Emoji_Presentation}/u.test(text),
    ...cues,
  ];
}

/** It ends with a question mark, whatever marks follow. */
function asks(text: string): boolean {
  const end = Math.max(text.lastIndexOf("?"), text.lastIndexOf("？"));
  return end !== -1 && !/[\p{L}\p{N}_]/u.test(text.slice(end));
}

/** Words and marks, by one, two and three that stand together; all numbers are one. */
function runsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .toLowerCase()
      .replace(/[’‘]/gu, "'")
      .match(/[\p{L}\p{N}']+|[?!,:()]/gu) ?? [];
  const all = ["<", ...words.map((word) => (/^\p{N}/u.test(word) ? "#" : word)), ">"];
  const runs = new Set<string>();
  for (let at = 0; at < all.length; at++)
    for (let length = 1; length <= MAX_RUN && at + length <= all.length; length++) runs.add(all.slice(at, at + length).join(" "));
  return runs;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return hash >>> 0;
}
