import { isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { Embedder } from "../../ports/embedding.js";
import type { Vocabulary } from "../reading/domain-words.js";
import type { Language } from "../reading/language.js";
import { cuesIn } from "./sentence-cues.js";
import { featuresOf, MEANING, type SentenceSeen } from "./sentence-features.js";
import ofModel from "./sentence-weights.json" with { type: "json" };
import ofTable from "./sentence-weights-static.json" with { type: "json" };

/** What is thought of a sentence: log-odds, 0 is even. */
export interface Judgement {
  /** It tells something lasting of the guest or theirs. */
  readonly keep: number;
  /** If so, it is something that must hold. */
  readonly hard: number;
  /** Of what it tells, if it does: the likeliest of the categories that were trained. */
  readonly category: string;
}

/** Numbers as 16-bit integers in base64, and what one of them stands for. */
export interface PackedWeights {
  readonly unit: number;
  readonly values: string;
}

/** What training gives; the file names what made it and of which sentences. */
export interface SentenceWeights {
  /** The embedder whose meanings it was trained with: its id begins so. */
  readonly embedder: string;
  /** How many numbers of its vectors are a text's meaning: the first ones. At most {@link MEANING}. */
  readonly meaning: number;
  /** Of all features. */
  readonly keep: PackedWeights;
  readonly hard: PackedWeights;
  /** Of a sentence's meaning and a constant. */
  readonly categories: Readonly<Record<string, PackedWeights>>;
}

export interface SentenceJudgeParts {
  readonly embedder: Pick<Embedder, "id" | "embed">;
  readonly logger: Logger;
  /** Default: those of the package that the embedder was trained with. */
  readonly weights?: SentenceWeights;
}

/** A sentence or a part of one, and the sentence's place. */
export type TextToJudge = Pick<SentenceSeen, "text" | "place">;

/** What they stand in, and what words are looked for. */
export interface MessageJudged extends Pick<SentenceSeen, "message" | "sentences"> {
  readonly language: Language;
  readonly vocabulary: Vocabulary;
}

const NOTHING = new Float32Array(MEANING);
const TRAINED: readonly SentenceWeights[] = [ofModel, ofTable];

/** Judges a message's sentences by their meaning, small words and place: linear models, trained on conversations that people wrote. */
export class SentenceJudge {
  readonly #embedder: Pick<Embedder, "id" | "embed">;
  readonly #logger: Logger;
  readonly #meaning: number;
  readonly #keep: Float64Array;
  readonly #hard: Float64Array;
  readonly #categories: readonly (readonly [string, Float64Array])[];
  #told = false;

  private constructor({ embedder, logger }: SentenceJudgeParts, weights: SentenceWeights) {
    this.#embedder = embedder;
    this.#logger = logger;
    this.#meaning = weights.meaning;
    this.#keep = unpacked(weights.keep);
    this.#hard = unpacked(weights.hard);
    this.#categories = Object.entries(weights.categories).map(([name, packed]) => [name, unpacked(packed)]);
  }

  /** Null for an embedder that none was trained with. */
  static of({ weights: given, ...parts }: SentenceJudgeParts): SentenceJudge | null {
    const weights = (given === undefined ? TRAINED : [given]).find(({ embedder }) => parts.embedder.id.startsWith(embedder));
    return weights === undefined ? null : new SentenceJudge(parts, weights);
  }

  /** In the order of the texts; null where the embedder fails, which is told once. @throws ABORTED */
  async judge(
    texts: readonly TextToJudge[],
    { message, sentences, language, vocabulary }: MessageJudged,
    signal: AbortSignal,
  ): Promise<readonly Judgement[] | null> {
    try {
      const [messageMeaning = NOTHING, ...meanings] = await this.#meaningsOf([message, ...texts.map(({ text }) => text)], signal);
      const about = { message, sentences, english: language.name === "en", messageMeaning };
      return texts.map((each, at) =>
        this.#judgementOf({
          ...about,
          ...each,
          meaning: meanings[at] ?? NOTHING,
          cues: cuesIn(each.text, message, language, vocabulary),
        }),
      );
    } catch (error) {
      if (signal.aborted || !isAppError(error)) throw error;
      if (!this.#told) this.#logger.warn({ err: error }, "Messages are read by rules alone: the meaning of sentences is not known");
      this.#told = true;
      return null;
    }
  }

  async #meaningsOf(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    return (await this.#embedder.embed(texts, { signal })).map((vector) => meaningIn(vector, this.#meaning));
  }

  #judgementOf(seen: SentenceSeen): Judgement {
    const meaning = [...seen.meaning, 1];
    let [category, most] = ["other", Number.NEGATIVE_INFINITY];
    for (const [name, weights] of this.#categories) {
      const sum = dot(weights, meaning);
      if (sum > most) [category, most] = [name, sum];
    }
    const features = featuresOf(seen);
    return { keep: dot(this.#keep, features), hard: dot(this.#hard, features), category };
  }
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
  return Float64Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(2 * at) * unit);
}
