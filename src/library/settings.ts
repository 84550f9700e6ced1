// Over 300 lines: an option for each variable, generated.

import type { Variables } from "../compose/config.js";

/** A variable's value, as its schema reads it. */
type Setting<Name extends keyof Variables> = Exclude<Variables[Name], undefined> | undefined;

/** The variables in the table, as options. Made from their schema by `npm run readme`. */
export interface Settings {
  /** Address to listen on. `authMode=local` allows loopback only. Default: 127.0.0.1. */
  readonly host?: Setting<"HOST">;
  /** Port to listen on; 0 picks a free one. Default: 3000. */
  readonly port?: Setting<"PORT">;
  /** Where the journals and the local stores are kept. Default: ./memory_storage. */
  readonly memoryStorageDir?: Setting<"MEMORY_STORAGE_DIR">;
  /**
   * The product on top: a .js, .mjs or .ts module whose default export is made with `defineDomain`. Default: the concierge, the
   * example product.
   */
  readonly domainFile?: Setting<"DOMAIN_FILE">;
  /**
   * Where sessions, owners and the memory log are kept: `file`, `postgres`, `redis`, `firestore`, `cosmos`, or `memory` (nothing is
   * kept). Also as `STATE_ENGINE`. Default: by which of databaseUrl, redisUrl, firestoreProject and cosmosEndpoint is set first, else
   * `file`.
   */
  readonly shortTermBackend?: Setting<"SHORT_TERM_BACKEND">;
  /** A PostgreSQL, 13 or newer: `postgres://user:password@host:5432/database`. Needs `npm install pg`. */
  readonly databaseUrl?: Setting<"DATABASE_URL">;
  /** Its schema: one per installation. Default: maitred. */
  readonly databaseSchema?: Setting<"DATABASE_SCHEMA">;
  /**
   * A Redis or Valkey, 6.2 or newer, or any node of a Cluster: `redis://user:password@host:6379/0`; `rediss://` for TLS. Needs `npm
   * install ioredis`.
   */
  readonly redisUrl?: Setting<"REDIS_URL">;
  /** What its keys begin with: one per installation. Default: maitred. */
  readonly redisPrefix?: Setting<"REDIS_PREFIX">;
  /** `relaxed`: also a configuration that may lose what was acknowledged; /readyz then says so. Default: strict. */
  readonly redisDurability?: Setting<"REDIS_DURABILITY">;
  /**
   * A project of Google Cloud with a Firestore in native mode. Needs `npm install @google-cloud/firestore` and credentials as Google's
   * client finds them. Default: GOOGLE_CLOUD_PROJECT where shortTermBackend is `firestore`.
   */
  readonly firestoreProject?: Setting<"FIRESTORE_PROJECT">;
  /** Its database: one per installation. Default: (default). */
  readonly firestoreDatabase?: Setting<"FIRESTORE_DATABASE">;
  /** Google's emulator, `host:port`, which keeps nothing. Refused where NODE_ENV is `production`. */
  readonly firestoreEmulatorHost?: Setting<"FIRESTORE_EMULATOR_HOST">;
  /**
   * An account of Azure Cosmos DB for NoSQL with the consistency Strong or Bounded Staleness: `https://account.documents.azure.com`.
   * Needs `npm install @azure/cosmos` and cosmosKey.
   */
  readonly cosmosEndpoint?: Setting<"COSMOS_ENDPOINT">;
  /** Its primary or secondary key. The emulator's is refused where NODE_ENV is `production`. */
  readonly cosmosKey?: Setting<"COSMOS_KEY">;
  /** Its database, made where it is not there: one per installation. Default: maitred. */
  readonly cosmosDatabase?: Setting<"COSMOS_DATABASE">;
  /** How long a start waits for a database that doesn't answer yet. Default: 30000. */
  readonly startupWaitMs?: Setting<"STARTUP_WAIT_MS">;
  /**
   * Completed rounds in the window, as far as contextMaxTokens has room for them; 0: none. An agent is given just so many; from a
   * prompt they leave in blocks of as many (10 at most), so that what a provider caches stays. Default: 10.
   */
  readonly shortTermRounds?: Setting<"SHORT_TERM_ROUNDS">;
  /** Token budget of what the model is given, tools included. Default: 16000. */
  readonly contextMaxTokens?: Setting<"CONTEXT_MAX_TOKENS">;
  /** Longest rolling summary, in tokens. Default: 2000. */
  readonly summaryMaxTokens?: Setting<"SUMMARY_MAX_TOKENS">;
  /** How long a turn waits for the one before it. Default: 30000. */
  readonly sessionLockWaitMs?: Setting<"SESSION_LOCK_WAIT_MS">;
  /** How long a reply waits for recall. Default: 150 with a local embedder, 800 with a remote one. */
  readonly recallDeadlineMs?: Setting<"RECALL_DEADLINE_MS">;
  /** `false`: short-term memory alone; before a booking the guest is asked what there is to mind. Default: true. */
  readonly mem0Enabled?: Setting<"MEM0_ENABLED">;
  /**
   * Where long-term memory is stored: `local`, `qdrant`, `chroma`, `pgvector`, or `state`: with all else. Default: `qdrant` when
   * qdrantUrl is set, else `local`.
   */
  readonly mem0Provider?: Setting<"MEM0_PROVIDER">;
  /**
   * A Qdrant server, 1.17 or newer. Needs `npm install @qdrant/js-client-rest`. Default: http://localhost:6333 where a `qdrant`
   * backend is chosen.
   */
  readonly qdrantUrl?: Setting<"QDRANT_URL">;
  /** Its key. */
  readonly qdrantApiKey?: Setting<"QDRANT_API_KEY">;
  /** A Chroma server, 1.0 or newer: `http://127.0.0.1:8000`. Needs `npm install chromadb`. */
  readonly chromaUrl?: Setting<"CHROMA_URL">;
  /**
   * Memory for vectors and postings of the users seen last, with the local store, Chroma and `state`. All others' stay there. Default:
   * 256.
   */
  readonly vectorCacheMib?: Setting<"VECTOR_CACHE_MIB">;
  /**
   * How far the server's heap grows past what is in use before it is collected; less takes more processor time. 0: as V8 chooses,
   * which may be several times as much. Default: 60.
   */
  readonly heapGrowthPercent?: Setting<"HEAP_GROWTH_PERCENT">;
  /**
   * Memories that a turn recalls by similarity, beside constraints and standing preferences; of a domain with occasions as many as
   * they ask for. Default: 5.
   */
  readonly mem0SearchLimit?: Setting<"MEM0_SEARCH_LIMIT">;
  /** Statements below it are not stored. Default: 0.6. */
  readonly memoryMinConfidence?: Setting<"MEMORY_MIN_CONFIDENCE">;
  /** Days in which a soft preference loses half its weight in ranking. Default: 180. */
  readonly memoryHalfLifeDays?: Setting<"MEMORY_HALF_LIFE_DAYS">;
  /**
   * JSON of your categories: `[ { "name", "description", "type", "strength", "fixed", "open", "occasions" } ]`, one of them `other`.
   * Default: the domain's.
   */
  readonly memoryCategoriesFile?: Setting<"MEMORY_CATEGORIES_FILE">;
  /**
   * `true` hands extraction to Mem0's own prompt; needs a model. What lapses: categories, constraints, companions, dates and replacing
   * what changed. Default: false.
   */
  readonly mem0Infer?: Setting<"MEM0_INFER">;
  /** Where history is indexed. Default: as mem0Provider. */
  readonly historyBackend?: Setting<"HISTORY_BACKEND">;
  /** Messages that a history search returns. Default: 20. */
  readonly memorySearchLimit?: Setting<"MEMORY_SEARCH_LIMIT">;
  /**
   * The model's provider. `offline` is a rule-based stand-in; `anthropic`, `google`, `google-vertex`, `mistral`, `deepseek`,
   * `amazon-bedrock`, `azure`, `xai`, `groq`, `cohere`: by the AI SDK's package of that name (`npm install @ai-sdk/…`). Default:
   * `openai` when a key or base URL is set, else `offline`.
   */
  readonly llmProvider?: Setting<"LLM_PROVIDER">;
  /** Chat model. Needed by every provider but `openai` and `offline`. Default: as openaiModel. */
  readonly llmModel?: Setting<"LLM_MODEL">;
  /** Model of the same provider that reads what messages say. Default: as llmModel. */
  readonly extractionModel?: Setting<"EXTRACTION_MODEL">;
  /** The same for summaries. Default: as llmModel. */
  readonly summaryModel?: Setting<"SUMMARY_MODEL">;
  /** The same for the names of conversations. Default: as summaryModel. */
  readonly titleModel?: Setting<"TITLE_MODEL">;
  /** Key of a provider other than `openai`. Default: the provider's own variable, such as ANTHROPIC_API_KEY. */
  readonly llmApiKey?: Setting<"LLM_API_KEY">;
  /** Address of a provider other than `openai`. Default: the provider's own. */
  readonly llmBaseUrl?: Setting<"LLM_BASE_URL">;
  /** A second model (`gpt-4.1-mini`), or provider and model (`anthropic:claude-haiku-4-5`), that takes over before the first token. */
  readonly llmFallback?: Setting<"LLM_FALLBACK">;
  /** Its key. Default: as that provider's, at that one's own origin. */
  readonly llmFallbackApiKey?: Setting<"LLM_FALLBACK_API_KEY">;
  /**
   * Its address. Key, openaiHeaders and openaiQuery of the first model go to it at that one's own origin (scheme, host, port) alone.
   * Default: as that provider's.
   */
  readonly llmFallbackBaseUrl?: Setting<"LLM_FALLBACK_BASE_URL">;
  /**
   * JSON, added to every call of the fallback, where that is OpenAI or compatible. Default: as openaiHeaders, at the model's own
   * origin.
   */
  readonly llmFallbackHeaders?: Setting<"LLM_FALLBACK_HEADERS">;
  /** JSON, added to the URL of every call of the fallback. Default: as openaiQuery, at the model's own origin. */
  readonly llmFallbackQuery?: Setting<"LLM_FALLBACK_QUERY">;
  /** Key of OpenAI or a compatible service. */
  readonly openaiApiKey?: Setting<"OPENAI_API_KEY">;
  /** An OpenAI-compatible endpoint: Azure, Ollama, vLLM. */
  readonly openaiBaseUrl?: Setting<"OPENAI_BASE_URL">;
  /** Chat model. Default: gpt-4o-mini. */
  readonly openaiModel?: Setting<"OPENAI_MODEL">;
  /** `auto`: the Responses API at OpenAI itself, Chat Completions elsewhere. Default: auto. */
  readonly openaiApi?: Setting<"OPENAI_API">;
  /** Whether `prompt_cache_key` (a hash of the session's id) is sent with a turn's calls. `auto`: to OpenAI itself. Default: auto. */
  readonly openaiCacheKey?: Setting<"OPENAI_CACHE_KEY">;
  /** JSON, added to every model call: `{ "api-key": "…" }` (legacy Azure, gateways). */
  readonly openaiHeaders?: Setting<"OPENAI_HEADERS">;
  /** JSON, added to every model call's URL: `{ "api-version": "…" }`. */
  readonly openaiQuery?: Setting<"OPENAI_QUERY">;
  /** How long a reasoning model thinks: `low`, `medium`, `high`, `none`, … Default: the model's own. */
  readonly reasoningEffort?: Setting<"REASONING_EFFORT">;
  /**
   * Whether the model takes images. `auto`: until it refuses them, which is remembered; `on`: it is asked every time; `off`: never.
   * Default: auto.
   */
  readonly llmVision?: Setting<"LLM_VISION">;
  /** How long one model call may take, retries included; one that no guest waits for takes longer at a slow model. Default: 60000. */
  readonly modelTimeoutMs?: Setting<"MODEL_TIMEOUT_MS">;
  /** How long a whole turn may take, tools and all. Default: 120000. */
  readonly turnTimeoutMs?: Setting<"TURN_TIMEOUT_MS">;
  /**
   * The model's own window. The context takes at most this less 8,000 tokens, or half of a small window. Default: as the endpoint
   * tells, else 128000.
   */
  readonly modelContextTokens?: Setting<"MODEL_CONTEXT_TOKENS">;
  /**
   * How long what was measured of a model (window, speed, what it takes) holds, over restarts too. 0: as long as the process runs.
   * Default: 24.
   */
  readonly modelMeasureHours?: Setting<"MODEL_MEASURE_HOURS">;
  /**
   * `minilm`: a model in `@maitred/minilm`. `static`: a table there, quicker, less exact. `hashing` compares words, not meanings.
   * Default: `openai` when a key or base URL is set, else `minilm`.
   */
  readonly embeddingProvider?: Setting<"EMBEDDING_PROVIDER">;
  /** An OpenAI-compatible endpoint with `/embeddings`, where the model's has none. Default: as openaiBaseUrl. */
  readonly embeddingBaseUrl?: Setting<"EMBEDDING_BASE_URL">;
  /**
   * Its key. To another origin (scheme, host, port) than the model's, the model's key is not sent. Default: as openaiApiKey, at the
   * model's own origin.
   */
  readonly embeddingApiKey?: Setting<"EMBEDDING_API_KEY">;
  /** JSON, added to every call for embeddings: `{ "api-key": "…" }`. Default: as openaiHeaders, at the model's own origin. */
  readonly embeddingHeaders?: Setting<"EMBEDDING_HEADERS">;
  /** JSON, added to the URL of every call for embeddings: `{ "api-version": "…" }`. Default: as openaiQuery, at the model's own origin. */
  readonly embeddingQuery?: Setting<"EMBEDDING_QUERY">;
  /** Embedding model; for `transformers` a folder or a model name. Default: text-embedding-3-small. */
  readonly memoryEmbeddingModel?: Setting<"MEMORY_EMBEDDING_MODEL">;
  /**
   * Dimension of the vectors, with `openai` and `hashing`. Sent to every service that takes it. Default: 768, or the model's own where
   * it can't be told.
   */
  readonly memoryEmbeddingDimensionality?: Setting<"MEMORY_EMBEDDING_DIMENSIONALITY">;
  /** Put before a text that is searched by; quoted where it ends in a space. Default: the model's (nomic, e5), else `none`. */
  readonly embeddingQueryPrefix?: Setting<"EMBEDDING_QUERY_PREFIX">;
  /** Put before a text that is to be found. After a change run `maitred reindex`. Default: the model's (nomic, e5), else `none`. */
  readonly embeddingDocumentPrefix?: Setting<"EMBEDDING_DOCUMENT_PREFIX">;
  /**
   * How long an answered turn waits to be read for memories, so that turns which come quickly are read in one call. Flush, a new
   * session and a booking don't wait for it. Default: 0.
   */
  readonly extractionDelayMs?: Setting<"EXTRACTION_DELAY_MS">;
  /**
   * How long a message that tells nothing urgent (thanks, a question, an order, a wish) waits for the next ones, to be read for
   * memories in the same call, at most twelve of them; then it is read by itself. Needs are read at once. Flush, a booking, another
   * session and `/v1/context` don't wait for it. Default: 300000.
   */
  readonly extractionIdleMs?: Setting<"EXTRACTION_IDLE_MS">;
  /**
   * Tokens of a tenant in a day (UTC), input and output of all models. Past it extraction, summaries and titles wait for the next day,
   * and bookings ask about needs.
   */
  readonly costSoftLimitTokens?: Setting<"COST_SOFT_LIMIT_TOKENS">;
  /** Past it chat answers 429 `COST_LIMIT_REACHED` until 00:00 UTC. */
  readonly costHardLimitTokens?: Setting<"COST_HARD_LIMIT_TOKENS">;
  /**
   * JSON of what models and embedders cost, for a million tokens: `{ "gpt-5": { "input", "cached_input", "output", "currency" } }`.
   * What isn't in it has a cost of `null`.
   */
  readonly modelPricesFile?: Setting<"MODEL_PRICES_FILE">;
  /** As `costSoftLimitTokens`, in the currency of `modelPricesFile`. */
  readonly costSoftLimitMoney?: Setting<"COST_SOFT_LIMIT_MONEY">;
  /** As `costHardLimitTokens`, in the currency of `modelPricesFile`. */
  readonly costHardLimitMoney?: Setting<"COST_HARD_LIMIT_MONEY">;
  /** Days without activity after which an active session is deleted (recoverable); 0: never. Default: 30. */
  readonly retentionActiveDays?: Setting<"RETENTION_ACTIVE_DAYS">;
  /** The same for archived sessions. Default: 90. */
  readonly retentionArchivedDays?: Setting<"RETENTION_ARCHIVED_DAYS">;
  /** Days for which a deleted session can be restored; 0: for ever. Default: 30. */
  readonly retentionDeletedDays?: Setting<"RETENTION_DELETED_DAYS">;
  /** How often the server runs retention. Default: 24. */
  readonly retentionIntervalHours?: Setting<"RETENTION_INTERVAL_HOURS">;
  /** Sessions in one batch of a retention run. Default: 100. */
  readonly retentionBatch?: Setting<"RETENTION_BATCH">;
  /** Encrypts what is kept: a file with the master key, 32 bytes in base64 or hex; a second line is the one before. */
  readonly encryptionKeyFile?: Setting<"ENCRYPTION_KEY_FILE">;
  /**
   * Also seals dense vectors, which are searched in memory then: for users with up to some thousand memories and messages each.
   * Default: false.
   */
  readonly encryptVectors?: Setting<"ENCRYPT_VECTORS">;
  /** The same under a key of AWS KMS: its id, ARN or alias, with `@aws-sdk/client-kms`. Beside a file, what that wrapped is still read. */
  readonly encryptionKmsKey?: Setting<"ENCRYPTION_KMS_KEY">;
  /**
   * Days for which events are kept for those who list or follow them; and those that a webhook gave up, for being repeated. Default:
   * 7.
   */
  readonly eventsRetentionDays?: Setting<"EVENTS_RETENTION_DAYS">;
  /** Where every event is POSTed to, signed. Needs webhookSecret. */
  readonly webhookUrl?: Setting<"WEBHOOK_URL">;
  /** What they are signed with: base64 of 24 to 64 bytes, `whsec_` before it or not. */
  readonly webhookSecret?: Setting<"WEBHOOK_SECRET">;
  /** `true`: events also hold the words that they tell of, as they are when they are told; else ids alone. Default: false. */
  readonly eventsContent?: Setting<"EVENTS_CONTENT">;
  /** Requests a user may make in a minute. Default: 0 (off) in `local`, else 120. */
  readonly rateLimitPerMinute?: Setting<"RATE_LIMIT_PER_MINUTE">;
  /**
   * Which of the assistant's tools OpenAI's clients are answered with, beside their own and those of memory: `domain`, or none. The
   * header `X-Maitred-Tools` says it for a request. Default: none.
   */
  readonly maitredTools?: Setting<"MAITRED_TOOLS">;
  /** How the user is known. Default: local. */
  readonly authMode?: Setting<"AUTH_MODE">;
  /** `header`: the header that a trusted proxy sets. Default: X-MS-CLIENT-PRINCIPAL-ID. */
  readonly authHeader?: Setting<"AUTH_HEADER">;
  /** `api-key`: JSON `[ { "sha256", "tenant", "user" } ]`. */
  readonly apiKeysFile?: Setting<"API_KEYS_FILE">;
  /** `jwt`: shared secret, or */
  readonly jwtSecret?: Setting<"JWT_SECRET">;
  /** `jwt`: the keys' address. */
  readonly jwksUrl?: Setting<"JWKS_URL">;
  /** `jwt`: required issuer. */
  readonly jwtIssuer?: Setting<"JWT_ISSUER">;
  /** `jwt`: required audience. */
  readonly jwtAudience?: Setting<"JWT_AUDIENCE">;
  /** `jwt`: the claim that names the tenant. Default: tenant. */
  readonly jwtTenantClaim?: Setting<"JWT_TENANT_CLAIM">;
  /**
   * `jwt`: what every subject begins with and no user does. What was kept for the subjects `user:…` before they were users of their
   * own is reached with `user:`.
   */
  readonly jwtSubjectPrefix?: Setting<"JWT_SUBJECT_PREFIX">;
  /**
   * JSON with what tenants have of their own: `{ "acme": { "model", "prompt", "categories", "retention_days" } }`. What isn't set is
   * as for everybody else.
   */
  readonly tenantsFile?: Setting<"TENANTS_FILE">;
  /** Origins that may call from a browser, comma-separated: `https://shop.example`. Empty: none. */
  readonly corsOrigins?: readonly string[] | Setting<"CORS_ORIGINS">;
  /** What is logged. Default: info. */
  readonly logLevel?: Setting<"LOG_LEVEL">;
  /** `true` lets message text into the log. Default: false. */
  readonly logContent?: Setting<"LOG_CONTENT">;
  /** Who sends it as `Authorization: Bearer …` may read `GET /metrics`. Empty: this machine alone. */
  readonly metricsToken?: Setting<"METRICS_TOKEN">;
  /**
   * Who has it may see what happened, list users and run jobs under `/v1/operator/` (`Authorization: Bearer …`), sign in to `/studio`,
   * and nothing else. Empty: nobody, and there is no Studio.
   */
  readonly operatorToken?: Setting<"OPERATOR_TOKEN">;
  /** `true` shows the operator what was said and remembered; else ids, lengths and codes. Default: false. */
  readonly studioContent?: Setting<"STUDIO_CONTENT">;
  /**
   * The server sends its traces to this collector, by OTLP over HTTP; the other variables of OpenTelemetry are read too. Needs
   * packages, which a start names. Empty: none are sent.
   */
  readonly otelExporterOtlpEndpoint?: Setting<"OTEL_EXPORTER_OTLP_ENDPOINT">;
}
