import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModelFiles } from "./thread-protocol.js";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const WASM = "ort-wasm-simd-threaded.wasm";

/** One token a line. */
export const VOCABULARY = join(HERE, "vocabulary.txt");

/** The model is beside this file. The build puts its runtime there too; where nothing is built it is in its own package. */
export function packagedModel(): ModelFiles {
  const built = join(HERE, "runtime");
  const runtime = existsSync(built) ? built : dirname(createRequire(import.meta.url).resolve(`onnxruntime-web/${WASM}`));
  return {
    runtime: join(runtime, "ort.wasm.bundle.min.mjs"),
    wasm: join(runtime, WASM),
    model: join(HERE, "model.onnx"),
    weights: join(HERE, "weights.bin"),
    vocabulary: VOCABULARY,
  };
}

/** What asks for nothing that could be remembered, a line each. */
export const IDLE_LINES = join(HERE, "idle-talk.txt");

/** Vectors of those lines, one after the other. */
export const IDLE_TALK = join(HERE, "idle-talk.bin");
