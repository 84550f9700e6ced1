/** How the medium does that journals are written to. */
export interface StorageHealth {
  /** `down`: no turn can be kept. `degraded`: some writes fail. Costs at most one small write; never throws. */
  health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }>;
}
