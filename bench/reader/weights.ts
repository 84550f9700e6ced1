import { featuresOf } from "../../src/offline/learnt/sentence-features.js";
import type { PackedWeights, SentenceWeights } from "../../src/offline/learnt/sentence-judge.js";
import type { JudgedSentence } from "./examples.js";
import { trained } from "./logistic.js";

const KEEP = { penalty: 4, steps: 150 };
const HARD = { penalty: 2, steps: 150 };
const OF_MEANING = { penalty: 0.3, steps: 150 };
/** Of a category with fewer examples nothing can be learnt. */
const MIN_EXAMPLES = 5;
const MAX_INT = 32_767;

/** Whose vectors, and how many numbers of them are a text's meaning. */
export type Meanings = Pick<SentenceWeights, "embedder" | "meaning">;

/** What is learnt of judged sentences. Deterministic. */
export function weightsOf(sentences: readonly JudgedSentence[], meanings: Meanings): SentenceWeights {
  const kept = sentences.filter(({ keep }) => keep);
  const told = kept.filter(({ category }) => category !== null);
  const ofMeaning = (of: readonly JudgedSentence[], yes: (sentence: JudgedSentence) => boolean) =>
    packed(
      trained(
        of.map((sentence) => ({ features: Float64Array.from([...sentence.seen.meaning, 1]), yes: yes(sentence) })),
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
    categories: Object.fromEntries(enough.map((name) => [name, ofMeaning(told, ({ category }) => category === name)])),
  };
}

function packed(weights: Float64Array): PackedWeights {
  const unit = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / MAX_INT || 1;
  const bytes = Buffer.alloc(2 * weights.length);
  for (const [at, weight] of weights.entries()) bytes.writeInt16LE(Math.round(weight / unit), 2 * at);
  return { unit, values: bytes.toString("base64") };
}
