import { ALWAYS, type Features, featuresOf, MEANING } from "../../src/offline/learnt/sentence-features.js";
import type { PackedWeights, SentenceWeights } from "../../src/offline/learnt/sentence-judge.js";
import type { JudgedSentence } from "./examples.js";
import { trained } from "./logistic.js";

const KEEP = { penalty: 4, steps: 300, free: ALWAYS };
const HARD = { penalty: 2, steps: 300, free: ALWAYS };
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
        of.map((sentence) => ({ features: ofPlaces([...sentence.seen.meaning, 1]), yes: yes(sentence) })),
        OF_MEANING,
      ),
    );
  const names = [...new Set(told.map(({ category }) => category ?? ""))].sort();
  const enough = names.filter((name) => told.filter(({ category }) => category === name).length >= MIN_EXAMPLES);
  return {
    ...meanings,
    keep: packed(
      trained(
        sentences.map(({ seen, keep }) => ({ features: featuresOf(seen), yes: keep })),
        KEEP,
      ),
    ),
    hard: packed(
      trained(
        kept.map(({ seen, hard }) => ({ features: featuresOf(seen), yes: hard })),
        HARD,
      ),
    ),
    categories: Object.fromEntries(
      meanings.meaning === 0 ? [] : enough.map((name) => [name, ofMeaning(told, ({ category }) => category === name)]),
    ),
  };
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
