import type { Embedder, Logger } from "maitred";
import { isMaitredError } from "maitred/stand-in";
import { featuresOf, MEANING, type SentenceSeen, weighed, wordsOf } from "./sentence-features.js";
import ofMeanings from "./sentence-weights.json" with { type: "json" };
import ofWords from "./word-weights.json" with { type: "json" };

/** What is thought of a sentence: log-odds, 0 is even. */
export interface Judgement {
  /** It tells something lasting of the guest or theirs. */
  readonly keep: number;
  /** If so, it is something that must hold. */
  readonly hard: number;
  /** It takes back what was said before it, or asks not to keep it. */
  readonly back: number;
  /** Of what it tells, if it does: the likeliest of the categories that were trained. */
  readonly category: string;
}

/** Numbers as signed bytes in base64, and what one of them stands for. */
export interface PackedWeights {
  readonly unit: number;
  readonly values: string;
}

/** What training gives; the file names what made it and of which sentences. */
export interface SentenceWeights {
  /** The embedder whose meanings it was trained with: its id begins so. Empty: it was trained without. */
  readonly embedder: string;
  /** How many numbers of its vectors are a text's meaning: the first ones. At most {@link MEANING}. */
  readonly meaning: number;
  /** Of all features. */
  readonly keep: PackedWeights;
  /** These two of all but the words of the whole message. */
  readonly hard: PackedWeights;
  readonly back: PackedWeights;
  /** Of a sentence's meaning and a constant. */
  readonly categories: Readonly<Record<string, PackedWeights>>;
}

/** A sentence or a part of one, and the sentence's place. */
export type TextToJudge = Pick<SentenceSeen, "text" | "place">;

/** What they stand in. */
export type MessageJudged = Pick<SentenceSeen, "message" | "sentences" | "english">;

/** Judges the sentences of a message. */
export interface SentenceJudge {
  /** In the order of the texts. @throws ABORTED */
  judge(texts: readonly TextToJudge[], message: MessageJudged, signal: AbortSignal): Promise<readonly Judgement[]>;
}

const NOTHING = new Float32Array(MEANING);

/** Linear models over what {@link featuresOf} sees, trained on what people wrote. */
class LinearJudge {
  readonly #keep: Float64Array;
  readonly #hard: Float64Array;
  readonly #back: Float64Array;
  readonly #categories: readonly (readonly [string, Float64Array])[];

  constructor({ keep, hard, back, categories }: SentenceWeights) {
    this.#keep = unpacked(keep);
    this.#hard = unpacked(hard);
    this.#back = unpacked(back);
    this.#categories = Object.entries(categories).map(([name, packed]) => [name, unpacked(packed)]);
  }

  judgementOf(seen: SentenceSeen): Judgement {
    const meaning = [...seen.meaning, 1];
    let [category, most] = ["other", Number.NEGATIVE_INFINITY];
    for (const [name, weights] of this.#categories) {
      const sum = dot(weights, meaning);
      if (sum > most) [category, most] = [name, sum];
    }
    const features = featuresOf(seen);
    const [keep, hard, back] = [this.#keep, this.#hard, this.#back].map((weights) => weighed(weights, features));
    return { keep: keep ?? 0, hard: hard ?? 0, back: back ?? 0, category };
  }
}

/** By a sentence's words and place alone: a little less sure, and all that there is where meanings can't be had. */
export class WordsJudge implements SentenceJudge {
  readonly #model: LinearJudge;

  constructor(weights: SentenceWeights = ofWords) {
    this.#model = new LinearJudge(weights);
  }

  async judge(texts: readonly TextToJudge[], message: MessageJudged): Promise<readonly Judgement[]> {
    const about = { ...message, messageWords: wordsOf(message.message), meaning: NOTHING, messageMeaning: NOTHING };
    return texts.map((each) => this.#model.judgementOf({ ...about, ...each }));
  }
}

export interface MeaningJudgeParts {
  readonly embedder: Pick<Embedder, "id" | "embed">;
  readonly logger: Logger;
  /** Default: those of the package. */
  readonly weights?: SentenceWeights;
}

/** By what a sentence and its message mean, too. Where the embedder fails, which is told once, by its words. */
export class MeaningJudge implements SentenceJudge {
  readonly #embedder: Pick<Embedder, "id" | "embed">;
  readonly #logger: Logger;
  readonly #meaning: number;
  readonly #model: LinearJudge;
  /** Made, and told of, when the embedder fails first. */
  #byWords: WordsJudge | null = null;

  constructor({ embedder, logger, weights = ofMeanings }: MeaningJudgeParts) {
    this.#embedder = embedder;
    this.#logger = logger;
    this.#meaning = weights.meaning;
    this.#model = new LinearJudge(weights);
  }

  async judge(texts: readonly TextToJudge[], message: MessageJudged, signal: AbortSignal): Promise<readonly Judgement[]> {
    try {
      const [messageMeaning = NOTHING, ...meanings] = await this.#meaningsOf([message.message, ...texts.map(({ text }) => text)], signal);
      const about = { ...message, messageWords: wordsOf(message.message), messageMeaning };
      return texts.map((each, at) => this.#model.judgementOf({ ...about, ...each, meaning: meanings[at] ?? NOTHING }));
    } catch (error) {
      if (signal.aborted || !isMaitredError(error)) throw error;
      if (this.#byWords === null)
        this.#logger.warn({ err: error }, "Messages are read by their words alone: the meaning of sentences is not known");
      this.#byWords ??= new WordsJudge();
      return this.#byWords.judge(texts, message);
    }
  }

  async #meaningsOf(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    return (await this.#embedder.embed(texts, { signal })).map((vector) => meaningIn(vector, this.#meaning));
  }
}

/** Whose sentences are judged by their words: the package's table, whose meanings say too little of a sentence. */
const BY_WORDS = "static-v1";

/** Null where neither the package's model nor its table is used: rules alone are left. */
export function sentenceJudgeFor(parts: Pick<MeaningJudgeParts, "embedder" | "logger">): SentenceJudge | null {
  if (parts.embedder.id.startsWith(ofMeanings.embedder)) return new MeaningJudge(parts);
  return parts.embedder.id.startsWith(BY_WORDS) ? new WordsJudge() : null;
}

/** The first `size` numbers, to length 1, and nothing behind them, where an embedder may keep others. */
export function meaningIn(vector: Float32Array, size: number): Float32Array {
  const own = vector.subarray(0, size);
  const length = Math.hypot(...own);
  const meaning = new Float32Array(MEANING);
  if (length > 0) meaning.set(own.map((value) => value / length));
  return meaning;
}

function dot(a: Float64Array, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function unpacked({ unit, values }: PackedWeights): Float64Array {
  const bytes = Buffer.from(values, "base64");
  return Float64Array.from(bytes, (_, at) => bytes.readInt8(at) * unit);
}
