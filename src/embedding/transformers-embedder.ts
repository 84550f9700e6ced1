import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { batchesOf } from "../platform/bounded-parallel.js";
import { AppError, isAppError } from "../platform/errors.js";
import { missingPackage } from "../platform/optional-package.js";
import type { Embedder, EmbeddingKind, EmbedOptions } from "../ports/embedding.js";

const PACKAGE = "@huggingface/transformers";
/** Texts that go through the model together, padded to the longest of them; a query waits for so many at most. */
const BATCH = 8;
const PROBE = "dimension";
/** In which form the model's file has to be there. */
const WEIGHTS = "fp32";

export interface TransformersEmbedderOptions {
  /** A folder that holds a model (config.json, tokenizer.json, onnx/model.onnx), or a model's name to be downloaded on first use. */
  readonly model: string;
  /** How the library is loaded. Default: `import("@huggingface/transformers")`, an optional peer. */
  readonly load?: () => Promise<unknown>;
}

interface Tensor {
  readonly dims: readonly number[];
  readonly data: ArrayLike<number>;
}
type Extractor = ((texts: string[], options: { pooling: "mean"; normalize: boolean }) => Promise<Tensor>) & {
  dispose?: () => Promise<unknown>;
};

/** The part of the library that is used. */
interface Library {
  readonly env: { localModelPath: string; allowLocalModels: boolean };
  pipeline(task: "feature-extraction", model: string, options: object): Promise<unknown>;
}

/**
 * Embeds on this machine with a sentence-transformer in ONNX form, mean-pooled over the tokens and normalised to length 1, as those
 * models are trained (Reimers and Gurevych, "Sentence-BERT", EMNLP 2019). Texts beyond the model's length are cut. One call at a time.
 *
 * The library is an optional peer: `npm install @huggingface/transformers`. Its runtime's install script may want to download GPU
 * files; where that is not possible, install with `ONNXRUNTIME_NODE_INSTALL=skip` or `--ignore-scripts`: the CPU runtime comes
 * with the package.
 */
export class TransformersEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical = false;
  readonly #extract: Extractor;
  readonly #queue = new QueryFirstQueue();

  private constructor(extract: Extractor, id: string, dimension: number) {
    this.#extract = extract;
    this.id = id;
    this.dimension = dimension;
  }

  /**
   * Loads the model, downloading it if need be, and asks it for one vector. @throws INVALID_CONFIG when library or model can't be
   * loaded
   */
  static async open(options: TransformersEmbedderOptions): Promise<TransformersEmbedder> {
    const extract = await loadExtractor(await loadLibrary(options), options.model);
    try {
      const [vector] = await vectorsOf(extract, [PROBE]);
      const dimension = vector?.length ?? 0;
      return new TransformersEmbedder(extract, `transformers-${basename(options.model)}-${WEIGHTS}-${dimension}`, dimension);
    } catch (cause) {
      throw new AppError("INVALID_CONFIG", { detail: `MEMORY_EMBEDDING_MODEL: ${options.model} gives no sentence vectors.`, cause });
    }
  }

  async embed(texts: readonly string[], { kind = "document", signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const batch of batchesOf(texts, BATCH)) {
      const made = await this.#inTurn(kind, async () => {
        if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
        return vectorsOf(this.#extract, batch);
      });
      vectors.push(...made);
    }
    return vectors;
  }

  /** Gives the model's memory back. */
  async close(): Promise<void> {
    await this.#queue.settled();
    await this.#extract.dispose?.();
  }

  async #inTurn(kind: EmbeddingKind, work: () => Promise<Float32Array[]>): Promise<Float32Array[]> {
    try {
      return await this.#queue.run(kind, work);
    } catch (cause) {
      if (isAppError(cause)) throw cause;
      throw new AppError("EMBEDDING_UNAVAILABLE", { cause });
    }
  }
}

async function loadLibrary({ load = () => import(PACKAGE) }: TransformersEmbedderOptions): Promise<Library> {
  let library: unknown;
  try {
    library = await load();
  } catch (cause) {
    throw missingPackage({ name: PACKAGE, setting: "EMBEDDING_PROVIDER=transformers" }, cause);
  }
  if (typeof library !== "object" || library === null || !("pipeline" in library) || !("env" in library))
    throw new AppError("INVALID_CONFIG", { detail: `${PACKAGE} is not what it should be.` });
  return library as Library;
}

async function loadExtractor(library: Library, model: string): Promise<Extractor> {
  const folder = resolve(model);
  const local = (await stat(folder).catch(() => null))?.isDirectory() === true;
  if (local) {
    // The library looks for local models under one folder, which is a setting of the whole process.
    library.env.localModelPath = dirname(folder);
    library.env.allowLocalModels = true;
  }
  try {
    const extractor = await library.pipeline("feature-extraction", local ? basename(folder) : model, {
      dtype: WEIGHTS,
      local_files_only: local,
    });
    return extractor as Extractor;
  } catch (cause) {
    throw new AppError("INVALID_CONFIG", {
      detail: `MEMORY_EMBEDDING_MODEL: the model ${model} can't be loaded.`,
      hint: "Name a folder with config.json, tokenizer.json and onnx/model.onnx, or a model that can be downloaded.",
      cause,
    });
  }
}

async function vectorsOf(extract: Extractor, texts: readonly string[]): Promise<Float32Array[]> {
  const { dims, data } = await extract([...texts], { pooling: "mean", normalize: true });
  const dimension = dims.at(-1) ?? 0;
  if (dims.length !== 2 || dims[0] !== texts.length || dimension === 0)
    throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "The model's answer has not one vector for each text." });
  const all = Float32Array.from(data);
  return texts.map((_, i) => all.slice(i * dimension, (i + 1) * dimension));
}

/**
 * One piece of work at a time. What somebody waits for (`query`) comes before all that waits to be found (`document`); within a kind, in
 * the order in which it was asked for. So a query waits for one piece at most, however much is queued.
 */
export class QueryFirstQueue {
  readonly #waiting: Readonly<Record<EmbeddingKind, (() => Promise<void>)[]>> = { query: [], document: [] };
  #running: Promise<void> | null = null;

  run<T>(kind: EmbeddingKind, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting[kind].push(() => work().then(resolve, reject));
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when nothing runs or waits. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(): Promise<void> {
    for (;;) {
      const next = this.#waiting.query.shift() ?? this.#waiting.document.shift();
      if (next === undefined) break;
      await next();
    }
    this.#running = null;
  }
}
