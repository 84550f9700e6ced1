/**
 * The public API. Named exports only; no vendor's types.
 *
 * @example
 * const maitred = await createOrchestrator({ MEMORY_STORAGE_DIR: "./memory_storage" });
 * const owner = maitred.owner("ada");
 * const answer = await maitred.chat.chat({ owner, message: "A table for two by the window, please." });
 */
import type { Application } from "./application.js";
import { compose, type Overrides } from "./compose.js";
import { parseConfig } from "./config.js";
import type { ConversationLog } from "./conversation-log.js";
import { DEFAULT_TENANT, type Owner, ownerOf } from "./owner.js";

export interface Maitred extends Application {
  /** Conversations that another framework runs, for `maitred/adk`, `maitred/langchain` and `maitred/openai-agents`. */
  readonly log: ConversationLog;
  /** The owner of a user of a tenant (default `default`). @throws INVALID_USER_ID */
  owner(user: string, tenant?: string): Owner;
}

export type MaitredParts = Pick<Overrides, "logger" | "clock" | "domain" | "model" | "embedder" | "extractor">;

/**
 * Maitred in your own process. `variables` are those of the README's table, as text; the process environment is not read.
 * @throws INVALID_CONFIG, STORAGE_IN_USE, STORAGE_UNAVAILABLE, REINDEX_REQUIRED, QDRANT_TOO_OLD, EMBEDDING_UNAVAILABLE
 */
export async function createOrchestrator(
  variables: Readonly<Record<string, string | undefined>> = {},
  parts: MaitredParts = {},
): Promise<Maitred> {
  const { parts: inner, ...application } = await compose(parseConfig(variables), parts);
  return { ...application, log: inner.log, owner: (user, tenant = DEFAULT_TENANT) => ownerOf(tenant, user) };
}

export type * from "./agent.js";
export type * from "./application.js";
export type { ConversationLog, LoggedItem, LogItem, LogKey } from "./conversation-log.js";
export type { Embedder } from "./embedding.js";
export { AppError, ERRORS, type ErrorCode, isAppError } from "./errors.js";
export type { ConversationHistory, HistoryHit, HistoryMessage, HistorySearch } from "./history.js";
export type { Extractor, LongTermMemory, Memory, MemoryOperation, ProposedOperation, Statement } from "./long-term.js";
export type { OfflineScript } from "./offline-script.js";
export { type Owner, ownerOf, parseOwner } from "./owner.js";
export type { Clock } from "./platform/clock.js";
export type { Logger } from "./platform/logger.js";
export type { Element, JsonObject, JsonValue, Message, Session, Source, Step } from "./session.js";
