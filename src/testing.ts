/**
 * `maitred/testing`: what an engine of state or a store of vectors of one's own has to pass to stand where Maitred's stand, as suites for
 * vitest, and a scripted model. What it doesn't do it declares in `supports`, as `false` or with the reason, which the skipped tests print.
 *
 * @example
 * import { stateEngineContract } from "maitred/testing";
 *
 * stateEngineContract("mine", async () => ({ engine: new MyEngine(), dispose: async () => {} }), {
 *   supports: { shared: "one process at a time" },
 * });
 */

export type { VectorClient, VectorStore } from "./ports/vectors.js";
export * from "./testing/scripted-model.js";
export * from "./testing/state-engine-contract.js";
export type { ContractOptions, Supports } from "./testing/supports.js";
export { type VectorsFeature, vectorsContract } from "./testing/vectors-contract.js";
