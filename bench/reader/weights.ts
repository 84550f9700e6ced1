import {
  ALWAYS,
  type Features,
  featuresOf,
  MEANING,
  type SentenceSeen,
  SIZE,
  WORDS_OF_MESSAGE,
} from "../../packages/offline/src/learnt/sentence-features.js";
import type { PackedWeights, SentenceWeights } from "../../packages/offline/src/learnt/sentence-judge.js";
import type { JudgedSentence } from "./examples.js";
import { type Training, trained } from "./logistic.js";

const KEEP = { penalty: 8, steps: 250, free: ALWAYS, size: SIZE };
/** These two by all but the words of the whole message. */
const HARD = { penalty: 2, steps: 200, free: ALWAYS, size: WORDS_OF_MESSAGE };
const BACK = { penalty: 2, steps: 200, free: ALWAYS, size: WORDS_OF_MESSAGE };
/** Few sentences take something back. */
const OF_BACK = 6;
const OF_MEANING = { penalty: 0.3, steps: 150, free: MEANING };
/** Of a category with fewer examples nothing can be learnt. */
const MIN_EXAMPLES = 5;
const MAX_INT = 127;

/** Whose vectors, and how many numbers of them are a text's meaning. */
export type Meanings = Pick<SentenceWeights, "embedder" | "meaning">;

/** What is learnt of judged sentences. Deterministic. */
export function weightsOf(sentences: readonly JudgedSentence[], meanings: Meanings): SentenceWeights {
  const kept = sentences.filter(({ keep }) => keep);
  const told = kept.filter(({ category }) => category !== null);
  const ofMeaning = (of: readonly JudgedSentence[], yes: (sentence: JudgedSentence) => boolean) =>
    packed(
      trained(
        of.map((sentence) => ({ features: ofPlaces([...sentence.seen.meaning, 1]), yes: yes(sentence), weight: 1 })),
        OF_MEANING,
      ),
    );
  const names = [...new Set(told.map(({ category }) => category ?? ""))].sort();
  const enough = names.filter((name) => told.filter(({ category }) => category === name).length >= MIN_EXAMPLES);
  return {
    ...meanings,
    keep: packed(
      learnt(
        sentences.map(({ seen, keep, weight }) => ({ seen, yes: keep, weight })),
        KEEP,
      ),
    ),
    hard: packed(
      learnt(
        kept.map(({ seen, hard }) => ({ seen, yes: hard, weight: 1 })),
        HARD,
      ),
    ),
    back: packed(
      learnt(
        sentences.flatMap(({ seen, back }) => (back === null ? [] : [{ seen, yes: back, weight: back ? OF_BACK : 1 }])),
        BACK,
      ),
    ),
    categories: Object.fromEntries(
      meanings.meaning === 0 ? [] : enough.map((name) => [name, ofMeaning(told, ({ category }) => category === name)]),
    ),
  };
}

interface Told {
  readonly seen: SentenceSeen;
  readonly yes: boolean;
  readonly weight: number;
}

/**
 * The mean of what is learnt of words and meanings together and of words alone, the one twice: what both are sure of is right more often.
 * Both are sums over the same numbers, and so is their mean.
 */
function learnt(told: readonly Told[], training: Training & { readonly size: number }): Float64Array {
  const examples = told.map(({ seen, yes, weight }) => ({ features: upTo(training.size, featuresOf(seen)), yes, weight }));
  const byAll = trained(examples, training);
  if (told.every(({ seen }) => seen.meaning.every((value) => value === 0))) return byAll;
  const byWords = trained(
    examples.map(({ features, ...rest }) => ({ ...rest, features: places(features, (place) => place >= ALWAYS) })),
    training,
  );
  return byAll.map((weight, at) => (2 * weight + (byWords[at] ?? 0)) / 3);
}

/** Those below `size`. */
function upTo(size: number, features: Features): Features {
  return size === features.size ? features : { ...places(features, (place) => place < size), size };
}

function places({ size, at, values }: Features, which: (place: number) => boolean): Features {
  return { size, at: at.filter(which), values: values.filter((_, i) => which(at[i] ?? 0)) };
}

function ofPlaces(values: readonly number[]): Features {
  return { size: values.length, at: [...values.keys()], values };
}

function packed(weights: Float64Array): PackedWeights {
  const unit = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / MAX_INT || 1;
  const bytes = Buffer.alloc(weights.length);
  for (const [at, weight] of weights.entries()) bytes.writeInt8(Math.round(weight / unit), at);
  return { unit, values: bytes.toString("base64") };
}
