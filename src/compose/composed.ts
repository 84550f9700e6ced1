import type { ChatModel, Domain } from "../agent.js";
import type { Application } from "../application.js";
import type { Config } from "../config.js";
import type { ConversationLog } from "../conversation-log.js";
import type { Embedder } from "../embedding.js";
import type { ConversationHistory } from "../history.js";
import type { Extractor, LongTermMemory } from "../long-term.js";
import type { WriteBackWorker } from "../orchestrator/write-back-worker.js";
import type { OwnerLedger } from "../owner-ledger.js";
import type { Clock } from "../platform/clock.js";
import type { FileSystem } from "../platform/file-system.js";
import type { Logger } from "../platform/logger.js";
import type { Promotion } from "../promote.js";
import type { ReindexOptions, ReindexReport } from "../reindex.js";
import type { RetentionReport } from "../retention.js";
import type { SessionStore } from "../session-store.js";
import type { VectorStore } from "../vectors.js";

/** What a caller may bring instead of what the configuration would choose. */
export interface Overrides {
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Default: the concierge. */
  readonly domain?: Domain;
  readonly model?: ChatModel;
  readonly embedder?: Embedder;
  /** Passes the guards as every extractor does. Default: the model where one is configured, else rules. */
  readonly extractor?: Extractor;
  /** Fits stored vectors to the embedder before anything else: what `maitred reindex` needs after a change of embedder. Default false. */
  readonly reembed?: boolean;
  /** Default: the real one. For tests of crashes and failing disks. */
  readonly fileSystem?: FileSystem;
  /** Puts something around a store, between it and everything else. For tests that make it fail. */
  readonly around?: {
    readonly sessions?: (store: SessionStore) => SessionStore;
    readonly vectors?: (store: VectorStore) => VectorStore;
    readonly longTerm?: (longTerm: LongTermMemory) => LongTermMemory;
    readonly history?: (history: ConversationHistory) => ConversationHistory;
  };
}

/** The use-cases, with what only the command line and tests need beside them. */
export interface Composed extends Application {
  readonly parts: Parts;
}

export interface Parts {
  readonly config: Config;
  readonly store: SessionStore;
  readonly ledger: OwnerLedger;
  readonly worker: WriteBackWorker;
  readonly domain: Domain;
  readonly retention: (options: {
    readonly dryRun: boolean;
    readonly signal?: AbortSignal;
    readonly onProgress?: (report: RetentionReport) => void;
  }) => Promise<RetentionReport>;
  readonly promotion: Promotion;
  readonly log: ConversationLog;
  readonly reindex: (options: ReindexOptions) => Promise<ReindexReport>;
}
