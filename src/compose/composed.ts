import type { RetentionReport } from "../after-turn/retention.js";
import type { WriteBackWorker } from "../after-turn/write-back-worker.js";
import type { Category } from "../domain/categories.js";
import type { Owner } from "../domain/owner.js";
import type { DomainToOpen } from "../gate/constraint-gate.js";
import type { Promotion } from "../memories/promotion.js";
import type { ReindexOptions, ReindexReport } from "../operations/reindex.js";
import type { Clock } from "../platform/clock.js";
import type { FileSystem } from "../platform/file-system.js";
import type { Logger } from "../platform/logger.js";
import type { Agent, AnyTool, BeforeTool, ChatModel, Domain } from "../ports/agent.js";
import type { AfterTurnHook, Application } from "../ports/application.js";
import type { MakeLimiter } from "../ports/counters.js";
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
import type { SessionStore } from "../ports/session-store.js";
import type { VectorStore } from "../ports/vectors.js";
import type { ConversationLog } from "../sessions/conversation-log.js";
import type { StateEngine } from "../state/engine.js";
import type { Config } from "./config.js";
import type { Models } from "./models.js";
import type { Tenants } from "./tenants.js";

/** Parts of one's own instead of those that the configuration would choose. */
export interface MaitredParts {
  /**
   * Told of what happens, without anybody's words: from `logLevel` on where one is given, else of all. Default: standard error where
   * `logLevel` is given, else silent.
   */
  readonly logger?: Logger | undefined;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
  /** The product on top: prompt, tools, needs, categories. Default: that of `@maitred/concierge`, else an assistant. */
  readonly domain?: Domain | DomainToOpen | undefined;
  /** Default: by configuration; without a key a stand-in that plays the domain's script. */
  readonly model?: ChatModel | undefined;
  /** Default: by configuration; without a key a model in the package. */
  readonly embedder?: Embedder | undefined;
  /** Reads what messages say for memories; what it proposes is checked. Default: the model, beside the stand-in its rules. */
  readonly reader?: MessageReader | undefined;
  /** Answers a turn; a function is given the model and the tools. Default: a loop of thinking and acting by tool calls. */
  readonly agent?: Agent | MakeAgent | undefined;
  /** What is remembered, by category; one of them is `other`. A domain's own come first. Default: the product's. */
  readonly categories?: readonly Category[] | undefined;
  /** What tenants have of their own, by their names; before those of `tenantsFile`, whole. Default: nothing. */
  readonly tenants?: Tenants | undefined;
  /**
   * Where all state is kept but vectors: sessions, owners, the memory log, jobs, events, bookings. Closed with everything else. Default: by
   * `shortTermBackend`.
   */
  readonly state?: StateEngine | undefined;
  /** Memories and history. Closed with everything else. Default: by `mem0Provider` and `historyBackend`. */
  readonly vectors?: VectorStore | undefined;
  /** Encrypts what is kept: wraps the keys that it is encrypted under. Default: by `encryptionKeyFile`. */
  readonly keyVault?: KeyVault | undefined;
  /** Looks at each call of a tool before it runs: may refuse it, or have the user asked. Default: every call runs. */
  readonly beforeTool?: BeforeTool | undefined;
  /** Told of each answered turn, once it is kept. */
  readonly afterTurn?: AfterTurnHook | undefined;
  /** Fits what is stored to an embedder that has changed, before anything else: may take long. Default false. */
  readonly reembed?: boolean | undefined;
  /** Counts and times what happens, for `maitred.metrics()` and for `GET /metrics` of an app over it. Default false. */
  readonly metrics?: boolean | undefined;
}

/** What is brought instead of what the configuration would choose. Where the domain has categories of its own, those come first. */
export interface Overrides extends Given<Omit<MaitredParts, "metrics">> {
  /** Told what happens, in numbers. Default: nobody is told. */
  readonly metrics?: Metrics;
  /** How webhooks are tried. Default: as a receiver elsewhere needs it. For tests. */
  readonly webhooks?: { readonly waitsMs?: readonly number[]; readonly timeoutMs?: number };
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

type Given<T> = { readonly [Part in keyof T]?: Exclude<T[Part], undefined> };

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
  /** By the state's own mark: the id of the data key that its values are encrypted under; null where they are in clear. */
  readonly encryptedUnder: () => Promise<string | null>;
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
