import type { Logger } from "../platform/logger.js";
import { type Composed, compose } from "./compose.js";
import type { Config } from "./config.js";

export interface TrialOptions {
  /** Long-term memory. Default true. */
  readonly memory?: boolean;
  /** By the configured embedder, as a server does; else by one that is there at once. Default false. */
  readonly embeds?: boolean;
}

/**
 * The product with the models that are configured, over stores of its own that are gone when it is closed: for turns that show what it
 * does with them. Tells nobody outside of it.
 */
export function openTrial(config: Config, logger: Logger, { memory = true, embeds = false }: TrialOptions = {}): Promise<Composed> {
  const stores = { SHORT_TERM_BACKEND: "memory", MEM0_ENABLED: memory, MEM0_PROVIDER: "local", HISTORY_BACKEND: "local" } as const;
  const alone = { QDRANT_URL: undefined, WEBHOOK_URL: undefined, TENANTS_FILE: undefined, RETENTION_INTERVAL_HOURS: 0 };
  const embedder = embeds ? {} : ({ EMBEDDING_PROVIDER: "hashing" } as const);
  return compose({ ...config, ...stores, ...alone, ...embedder, EXTRACTION_DELAY_MS: 0 }, { logger });
}
