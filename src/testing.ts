/**
 * `maitred/testing`: what a store of one's own has to pass to stand where Maitred's stand, as suites for vitest, and a scripted model.
 * What a store doesn't do it declares in `supports`, as `false` or with the reason, which the skipped tests print.
 *
 * @example
 * import { ownerLedgerContract } from "maitred/testing";
 *
 * ownerLedgerContract("my ledger", async () => ({ ledger: new MyLedger(), dispose: async () => {} }), {
 *   supports: { progress: "jobs of mine begin anew" },
 * });
 */

export type { ImageStore } from "./ports/image-store.js";
export type { LongTermMemory } from "./ports/memories.js";
export type { MemoryLog, MemoryLogEntry } from "./ports/memory-log.js";
export type { OwnerLedger } from "./ports/owner-ledger.js";
export type { PendingTurns, SessionIndex, SessionStore, ShortTermMemory, TurnLock } from "./ports/session-store.js";
export type { VectorClient, VectorStore } from "./ports/vectors.js";
export * from "./testing/image-store-contract.js";
export { ALICE, BOB, collected, JournalRecords } from "./testing/journal-records.js";
export {
  type AppliedOperations,
  type AppliesOperations,
  type LongTermFeature,
  type LongTermFixture,
  longTermContract,
  type MemoryOperation,
  TestClock,
} from "./testing/long-term-contract.js";
export { type MemoryLogFeature, type MemoryLogUnderTest, memoryLogContract } from "./testing/memory-log-contract.js";
export * from "./testing/owner-ledger-contract.js";
export { type Engine, type Replica, replicasContract } from "./testing/replicas-contract.js";
export * from "./testing/scripted-model.js";
export * from "./testing/session-store-contract.js";
export * from "./testing/state-engine-contract.js";
export type { ContractOptions, Supports } from "./testing/supports.js";
export { type VectorsFeature, vectorsContract } from "./testing/vectors-contract.js";
