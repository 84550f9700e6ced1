import { setFlagsFromString } from "node:v8";

/** Settings of the engine that this process runs on. They are the whole process's: for a process of one's own, never for a library's. */

/**
 * From now on this process compiles WebAssembly once and quickly, and never a second time for speed. The embedding model in the package
 * then takes some 120 MB instead of 290, loads in two thirds of the time, and needs a third more for a text.
 */
export function compileWasmOnce(): void {
  for (const flag of ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
}

/**
 * After a collection the heap of each thread may grow by so many percent until the next; 0: as the engine sees fit. Looked at by every
 * collection of any thread, so it holds for those that begin now.
 */
export function growHeapBy(percent: number): void {
  if (percent > 0) setFlagsFromString(`--heap-growing-percent=${percent}`);
}
