import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { ModelFiles } from "./thread-protocol.js";
import { WordPieces } from "./word-pieces.js";

/** The part of onnxruntime-web that is used. */
interface Runtime {
  readonly env: { logLevel?: string; readonly wasm: { numThreads?: number; wasmBinary?: Uint8Array | undefined } };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => object;
  readonly InferenceSession: { create(model: Uint8Array, options: object): Promise<Session> };
}
interface Session {
  run(inputs: Readonly<Record<string, object>>): Promise<{ readonly vector: { readonly data: Float32Array } }>;
}

/** What the model was trained with; a longer text is known by its beginning. */
const MAX_TOKENS = 128;
/** The graph is as it should be, so that a start need not look for a better one; one text at a time needs no reserve of memory. */
const OPTIONS = { executionProviders: ["wasm"], graphOptimizationLevel: "disabled", enableCpuMemArena: false, enableMemPattern: false };

/** all-MiniLM-L6-v2: a text's meaning as a vector of length 1. */
export class SentenceModel {
  readonly #runtime: Runtime;
  readonly #session: Session;
  readonly #pieces: WordPieces;

  private constructor(runtime: Runtime, session: Session, pieces: WordPieces) {
    this.#runtime = runtime;
    this.#session = session;
    this.#pieces = pieces;
  }

  static async open(files: ModelFiles): Promise<SentenceModel> {
    const runtime = (await import(pathToFileURL(files.runtime).href)) as Runtime;
    const [wasm, model, weights] = await Promise.all([readFile(files.wasm), readFile(files.model), readFile(files.weights)]);
    runtime.env.logLevel = "error";
    runtime.env.wasm.numThreads = 1;
    runtime.env.wasm.wasmBinary = wasm;
    const externalData = [{ path: basename(files.weights), data: weights }];
    const session = await runtime.InferenceSession.create(model, { ...OPTIONS, externalData });
    runtime.env.wasm.wasmBinary = undefined;
    return new SentenceModel(runtime, session, new WordPieces(files.vocabulary));
  }

  async vectorOf(text: string): Promise<Float32Array<ArrayBuffer>> {
    const ids = BigInt64Array.from(this.#pieces.idsOf(text, MAX_TOKENS), BigInt);
    const { vector } = await this.#session.run({ ids: new this.#runtime.Tensor("int64", ids, [ids.length]) });
    // A copy: what the runtime gives may lie in its own memory.
    return Float32Array.from(vector.data);
  }
}
