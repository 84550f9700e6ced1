import { setFlagsFromString } from "node:v8";

/**
 * From now on this process compiles WebAssembly once and quickly, and never a second time for speed. The embedding model in the package
 * then takes some 120 MB instead of 290, loads in two thirds of the time, and needs a third more for a text. It is the whole process's,
 * so it is for a process of one's own, never for a library's.
 */
export function compileWasmOnce(): void {
  for (const flag of ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
}
