import { type Clock, systemClock } from "../platform/clock.js";
import type { Overrides } from "./composed.js";
import type { Config } from "./config.js";

export interface TrialOptions {
  /** Long-term memory, and what was said in other conversations. Default true. */
  readonly memory?: boolean;
  /** What was said is found again in other conversations, for which all of it is embedded. Default: as `memory`. */
  readonly history?: boolean;
  /** By the configured embedder, as a server does; else by one that is there at once. Default false. */
  readonly embeds?: boolean;
  /** When it begins, by its own clock. Default: now. */
  readonly at?: Date;
}

/** What a product is opened with whose stores are its own, and gone when it is closed. It tells nobody outside of it. */
export function trialSettings(
  config: Config,
  { memory = true, history: findsAgain = memory, embeds = false, at }: TrialOptions,
  clock: Clock = systemClock,
): { readonly config: Config; readonly overrides: Pick<Overrides, "clock"> } {
  const stores = { SHORT_TERM_BACKEND: "memory", MEM0_ENABLED: memory, MEM0_PROVIDER: "local" } as const;
  const history = { HISTORY_BACKEND: findsAgain ? "local" : "none" } as const;
  const alone = { QDRANT_URL: undefined, WEBHOOK_URL: undefined, TENANTS_FILE: undefined, RETENTION_INTERVAL_HOURS: 0 };
  const embedder = embeds ? {} : ({ EMBEDDING_PROVIDER: "hashing" } as const);
  return {
    config: { ...config, ...stores, ...history, ...alone, ...embedder, EXTRACTION_DELAY_MS: 0 },
    overrides: { clock: at === undefined ? clock : clockFrom(at, clock) },
  };
}

/** One that shows `at` now, and goes on as the other does. */
function clockFrom(at: Date, clock: Clock): Clock {
  const aheadMs = at.getTime() - clock.now().getTime();
  return { now: () => new Date(clock.now().getTime() + aheadMs) };
}
