import type { RetentionReport } from "../after-turn/retention.js";
import type { WriteBackWorker } from "../after-turn/write-back-worker.js";
import type { Category } from "../domain/categories.js";
import type { Owner } from "../domain/owner.js";
import type { DomainToOpen } from "../gate/domain-to-open.js";
import type { Promotion } from "../memories/promotion.js";
import type { ReindexOptions, ReindexReport } from "../operations/reindex.js";
import type { Clock } from "../platform/clock.js";
import type { FileSystem } from "../platform/file-system.js";
import type { Logger } from "../platform/logger.js";
import type { Agent, AnyTool, BeforeTool, ChatModel, Domain } from "../ports/agent.js";
import type { AfterTurnHook, Application } from "../ports/application.js";
import type { Embedder } from "../ports/embedding.js";
import type { MessageReader } from "../ports/extraction.js";
import type { ConversationHistory } from "../ports/history.js";
import type { KeyVault } from "../ports/key-vault.js";
import type { LongTermMemory } from "../ports/memories.js";
import type { MemoryLog } from "../ports/memory-log.js";
import type { MemoryStore } from "../ports/memory-store.js";
import type { Metrics } from "../ports/metrics.js";
import type { Operator } from "../ports/operator.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { MakeLimiter } from "../ports/request-limiter.js";
import type { SessionStore } from "../ports/session-store.js";
import type { VectorStore } from "../ports/vectors.js";
import type { ConversationLog } from "../sessions/conversation-log.js";
import type { StateEngine } from "../state/engine.js";
import type { Config } from "./config.js";
import type { Models } from "./models.js";
import type { Tenants } from "./tenants.js";

/** What a caller may bring instead of what the configuration would choose. */
export interface Overrides {
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Default: the example, where it is installed. */
  readonly domain?: Domain | DomainToOpen;
  readonly model?: ChatModel;
  readonly embedder?: Embedder;
  /** Reads what messages say; what it proposes is checked. Default: the model where one is configured, else the stand-in. */
  readonly reader?: MessageReader;
  /** Default: a loop of thinking and acting over `model` and `tools`. */
  readonly agent?: Agent | MakeAgent;
  /** Where the domain has none of its own. Default: those of `MEMORY_CATEGORIES_FILE`, else the product's. */
  readonly categories?: readonly Category[];
  /** What tenants have of their own, beside those of `TENANTS_FILE`. Default: nothing. */
  readonly tenants?: Tenants;
  /** Default: by configuration. Closed with everything else. */
  readonly state?: StateEngine;
  /** Memories and history lie in it. Default: by configuration. Closed with everything else. */
  readonly vectors?: VectorStore;
  /** Wraps the keys that what is kept is encrypted under. Default: the file of `ENCRYPTION_KEY_FILE`, else nothing is encrypted. */
  readonly keyVault?: KeyVault;
  /** Default: every call of a tool runs. Not asked by an agent of one's own. */
  readonly beforeTool?: BeforeTool;
  readonly afterTurn?: AfterTurnHook;
  /** Fits stored vectors to the embedder before anything else: what `maitred reindex` needs after a change of embedder. Default false. */
  readonly reembed?: boolean;
  /** Told what happens, in numbers. Default: nobody is told. */
  readonly metrics?: Metrics;
  /** How webhooks are tried. Default: as a receiver elsewhere needs it. For tests. */
  readonly webhooks?: { readonly waitsMs?: readonly number[]; readonly timeoutMs?: number; readonly leaseMs?: number };
  /** Default: the real one. For tests of crashes and failing disks. */
  readonly fileSystem?: FileSystem;
  /** Puts something around a store, between it and everything else. For tests that make it fail. */
  readonly around?: {
    readonly engine?: (engine: StateEngine) => StateEngine;
    readonly sessions?: (store: SessionStore) => SessionStore;
    readonly vectors?: (store: VectorStore) => VectorStore;
    readonly memoryLog?: (log: MemoryLog) => MemoryLog;
    readonly memoryStore?: (store: MemoryStore) => MemoryStore;
    readonly longTerm?: (longTerm: LongTermMemory) => LongTermMemory;
    readonly history?: (history: ConversationHistory) => ConversationHistory;
  };
}

/** Makes an agent of one's own from what Maitred would have used. */
export type MakeAgent = (given: {
  /** The configured model, whose calls are counted. */
  readonly model: ChatModel;
  /** The domain's, and those of memory and history. */
  readonly tools: readonly AnyTool[];
}) => Agent;

/** The use-cases, with what only the command line and tests need beside them. */
export interface Composed extends Application {
  readonly parts: Parts;
}

export interface Parts {
  readonly config: Config;
  readonly store: SessionStore;
  readonly ledger: OwnerLedger;
  /** Whether what is fenced off of an owner is so because of a merge, and not to be erased. */
  readonly isMerge: (owner: Owner) => Promise<boolean>;
  /** Whom a user is taken for, where they were merged with another. */
  readonly resolve: (owner: Owner) => Promise<Owner>;
  readonly worker: WriteBackWorker;
  readonly domain: Domain;
  /** Of tenants that have none of their own. */
  readonly models: Models;
  readonly retention: (options: {
    readonly dryRun: boolean;
    readonly signal?: AbortSignal;
    readonly onProgress?: (report: RetentionReport) => void;
  }) => Promise<RetentionReport>;
  readonly rebuildIndex: (options: {
    readonly signal?: AbortSignal;
    readonly onProgress?: (looked: number) => void;
  }) => Promise<{ readonly sessions: number }>;
  readonly promotion: Promotion;
  readonly log: ConversationLog;
  readonly reindex: (options: ReindexOptions) => Promise<ReindexReport>;
  /** Counts requests for all processes that share a store; null where there is one. */
  readonly limiter: MakeLimiter | null;
  /** What whoever runs it can ask for while it runs. */
  readonly operator: Operator;
  /** Memories with what the administration of all of them needs. */
  readonly longTerm: LongTermMemory;
}
