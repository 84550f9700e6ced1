import { isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { Embedder } from "../../ports/embedding.js";
import { featuresOf, MEANING, type SentenceSeen } from "./sentence-features.js";
import trained from "./sentence-weights.json" with { type: "json" };

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
  /** Of all features. */
  readonly keep: PackedWeights;
  /** Of a sentence's meaning and a constant. */
  readonly hard: PackedWeights;
  readonly categories: Readonly<Record<string, PackedWeights>>;
}

export interface SentenceJudgeParts {
  readonly embedder: Pick<Embedder, "id" | "embed">;
  readonly logger: Logger;
  /** Default: those of the package. */
  readonly weights?: SentenceWeights;
}

/** A sentence or a part of one, and the sentence's place. */
export type TextToJudge = Pick<SentenceSeen, "text" | "place">;

const NOTHING = new Float32Array(MEANING);

/** Judges a message's sentences by their meaning, small words and place: linear models, trained on conversations that people wrote. */
export class SentenceJudge {
  readonly #embedder: Pick<Embedder, "id" | "embed">;
  readonly #logger: Logger;
  readonly #keep: Float64Array;
  readonly #hard: Float64Array;
  readonly #categories: readonly (readonly [string, Float64Array])[];
  #told = false;

  private constructor({ embedder, logger }: SentenceJudgeParts, weights: SentenceWeights) {
    this.#embedder = embedder;
    this.#logger = logger;
    this.#keep = unpacked(weights.keep);
    this.#hard = unpacked(weights.hard);
    this.#categories = Object.entries(weights.categories).map(([name, packed]) => [name, unpacked(packed)]);
  }

  /** Null where the embedder is another than it was trained with. */
  static of(parts: SentenceJudgeParts): SentenceJudge | null {
    const weights = parts.weights ?? trained;
    return parts.embedder.id.startsWith(weights.embedder) ? new SentenceJudge(parts, weights) : null;
  }

  /** In the order of the texts; null where the embedder fails, which is told once. @throws ABORTED */
  async judge(
    texts: readonly TextToJudge[],
    about: Pick<SentenceSeen, "message" | "sentences" | "english">,
    signal: AbortSignal,
  ): Promise<readonly Judgement[] | null> {
    try {
      const [messageMeaning = NOTHING, ...meanings] = await this.#meaningsOf([about.message, ...texts.map(({ text }) => text)], signal);
      return texts.map((each, at) => this.#judgementOf({ ...about, ...each, messageMeaning, meaning: meanings[at] ?? NOTHING }));
    } catch (error) {
      if (signal.aborted || !isAppError(error)) throw error;
      if (!this.#told) this.#logger.warn({ err: error }, "Messages are read by rules alone: the meaning of sentences is not known");
      this.#told = true;
      return null;
    }
  }

  async #meaningsOf(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    return (await this.#embedder.embed(texts, { signal })).map(meaningIn);
  }

  #judgementOf(seen: SentenceSeen): Judgement {
    const meaning = [...seen.meaning, 1];
    let [category, most] = ["other", Number.NEGATIVE_INFINITY];
    for (const [name, weights] of this.#categories) {
      const sum = dot(weights, meaning);
      if (sum > most) [category, most] = [name, sum];
    }
    return { keep: dot(this.#keep, featuresOf(seen)), hard: dot(this.#hard, meaning), category };
  }
}

/** The model's own numbers, to length 1: behind them an embedder may keep others. */
export function meaningIn(vector: Float32Array): Float32Array {
  const meaning = vector.subarray(0, MEANING);
  const length = Math.hypot(...meaning);
  return length === 0 ? meaning : meaning.map((value) => value / length);
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
