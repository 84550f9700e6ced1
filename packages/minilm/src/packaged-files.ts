import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModelFiles } from "./thread-protocol.js";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const MODEL = fileURLToPath(new URL("../model/", import.meta.url));
const WASM = "ort-wasm-simd-threaded.wasm";

/** One token a line. */
export const VOCABULARY = join(MODEL, "vocabulary.txt");

/** The build puts the runtime beside this file; where nothing is built it is in its own package. */
export function packagedModel(): ModelFiles {
  const built = join(HERE, "runtime");
  const runtime = existsSync(built) ? built : dirname(createRequire(import.meta.url).resolve(`onnxruntime-web/${WASM}`));
  return {
    runtime: join(runtime, "ort.wasm.bundle.min.mjs"),
    wasm: join(runtime, WASM),
    model: join(MODEL, "model.onnx"),
    weights: join(MODEL, "weights.bin"),
    vocabulary: VOCABULARY,
  };
}

/** What asks for nothing that could be remembered, a line each. */
export const IDLE_LINES = join(MODEL, "idle-talk.txt");

/** Vectors of those lines, one after the other. */
export const IDLE_TALK = join(MODEL, "idle-talk.bin");

/** A vector for each piece of the vocabulary. */
export const TABLE = join(MODEL, "table.bin");
