import type { Logger } from "../platform/logger.js";
import { type Composed, compose } from "./compose.js";
import type { Config } from "./config.js";
import { type TrialOptions, trialSettings } from "./trial-settings.js";

export type { TrialOptions };

/**
 * The product with the models that are configured, over stores of its own that are gone when it is closed: for turns that show what it
 * does with them. Tells nobody outside of it.
 */
export function openTrial(given: Config, logger: Logger, options: TrialOptions = {}): Promise<Composed> {
  const { config, overrides } = trialSettings(given, options);
  return compose(config, { ...overrides, logger });
}
