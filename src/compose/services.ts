import { documentVector, queryVector } from "../embedding/sparse-vectors.js";

/** The services by their names, for whoever puts parts together themselves, and what they are opened with. */
export { type FileSystem, nodeFileSystem, type OpenFile } from "../platform/file-system.js";
export { type FileMemoryOptions, FileMemoryService } from "../state/jsonl/file-memory-service.js";
export type { WrittenJournals } from "../state/jsonl/journal-files.js";
export type { Recap } from "../turn/context.js";
export {
  type ChatOptions as OrchestratorChatOptions,
  ConversationOrchestrator,
  type OrchestratorOptions,
  type OrchestratorParts,
} from "../turn/orchestrator.js";
export type { RecallPorts } from "../turn/recall.js";
export type { RunningTurn, TurnRegistry } from "../turn/turn-registry.js";
export { Mem0Service, type Mem0ServiceOptions, type Mem0ServiceParts } from "../vectors/mem0/mem0-service.js";

/** How texts become sparse vectors: what {@link Mem0Service} and the history weigh words by. */
export const sparseVectors = { documentVector, queryVector };
