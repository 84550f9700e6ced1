import type { Readiness } from "./resources.js";
import type { HealthChange } from "./studio-views.js";

/** How the parts did, whenever that changed: the last changes of all processes. */
export interface HealthHistory {
  /** Kept where it differs from the last. */
  noted(readiness: Readiness, at: Date): Promise<void>;
  /** Newest first. */
  all(): Promise<readonly HealthChange[]>;
}
