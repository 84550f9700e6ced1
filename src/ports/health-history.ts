import type { Readiness } from "./resources.js";
import type { HealthChange } from "./studio-views.js";

/** How the parts did, whenever that changed: the last changes of all processes. */
export interface HealthHistory {
  /** Kept where it differs from the last. */
  noted(readiness: Readiness, at: Date): Promise<void>;
  /** Newest first. */
  all(): Promise<readonly HealthChange[]>;
}

/** How the medium does that journals are written to. */
export interface StorageHealth {
  /** `down`: no turn can be kept. `degraded`: some writes fail. Costs at most one small write; never throws. */
  health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }>;
}
