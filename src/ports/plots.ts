import type { PlotSums } from "../domain/plots.js";

/** What happens, by hour and tenant. Holds no user and no text. */
export interface Plots {
  /** Returns at once, never throws. `tenant`: null for what is nobody's. */
  add(tenant: string | null, sums: Partial<PlotSums>): void;
  /** Of the hours from the one to before the other, as 2027-03-28T09 (UTC), or of the days. Default: of the hours. */
  between(from: string, to: string, step?: "hour" | "day"): Promise<readonly PlottedSums[]>;
  /** The first hour that is kept, or day; null where none is. */
  first(step?: "hour" | "day"): Promise<string | null>;
  close(): Promise<void>;
}

/** Of one tenant. */
export interface PlottedSums {
  /** As 2027-03-28T09, or 2027-03-28. */
  readonly period: string;
  /** Null for what is nobody's. */
  readonly tenant: string | null;
  readonly sums: PlotSums;
}
