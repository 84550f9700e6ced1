import type { PlotSums } from "../domain/plots.js";

/** What happens, by hour and tenant. Holds no user and no text. */
export interface Plots {
  /** Returns at once, never throws. `tenant`: null for what is nobody's. */
  add(tenant: string | null, sums: Partial<PlotSums>): void;
  /** Of the hours from the one to before the other, as 2027-03-28T09 (UTC); null where nothing is kept of before. */
  between(from: string, to: string): Promise<readonly HourOfTenant[]>;
  /** The first hour that is kept; null where none is. */
  first(): Promise<string | null>;
  close(): Promise<void>;
}

export interface HourOfTenant {
  /** As 2027-03-28T09. */
  readonly hour: string;
  /** Null for what is nobody's. */
  readonly tenant: string | null;
  readonly sums: PlotSums;
}
