import { hash } from "node:crypto";
import { addSums, NO_SUMS, type PlotSums } from "../../domain/plots.js";
import type { Clock } from "../../platform/clock.js";
import type { Plots, PlottedSums } from "../../ports/counters.js";
import type { StateEngine } from "../engine.js";
import { systemPartition } from "../partition.js";
import { BatchedSums } from "./batched-sums.js";

const DAYS_KEPT = 35;
/** Who looks at them waits for what is in this process; of another's they may miss as much. */
const KEPT_EVERY_MS = 5_000;
/** Of an hour, and models of one of them; what comes after them is counted as `other`. */
const MOST_TENANTS = 50;
const MOST_MODELS = 20;
const OTHER = "other";
const HOUR = "2027-03-28T09".length;

interface Stored {
  readonly tenant: string | null;
  readonly sums: PlotSums;
}

const PREFIX = { hour: "plot", day: "plot-day" } as const;

/** Sums of all processes: `plot/{hour}/{hash of the tenant}`, and the same by days. */
export class EnginePlots implements Plots {
  readonly #sums: BatchedSums<Stored>;
  readonly #clock: Clock;
  #hour = "";
  /** Of this hour, with the hashes that their sums are kept by. */
  readonly #tenants = new Map<string, string>();

  constructor(engine: StateEngine, clock: Clock) {
    const plus = (a: Stored, b: Stored): Stored => ({ tenant: a.tenant, sums: withFewModels(addSums(a.sums, b.sums)) });
    const where = { partition: systemPartition("plots"), prefix: PREFIX.hour, daily: PREFIX.day };
    this.#sums = new BatchedSums(engine, { ...where, plus, daysKept: DAYS_KEPT, flushMs: KEPT_EVERY_MS });
    this.#clock = clock;
  }

  add(tenant: string | null, sums: Partial<PlotSums>): void {
    const hour = this.#clock.now().toISOString().slice(0, HOUR);
    if (hour !== this.#hour) this.#tenants.clear();
    this.#hour = hour;
    const named = tenant === null ? null : this.#bounded(tenant);
    this.#sums.add(hour, named === null ? "-" : this.#hashed(named), { tenant: named, sums: { ...NO_SUMS, ...sums } });
  }

  async between(from: string, to: string, step: "hour" | "day" = "hour"): Promise<readonly PlottedSums[]> {
    const found = await this.#sums.between(from, to, PREFIX[step]);
    return found.map(({ period, value }) => ({ period, ...value }));
  }

  first(step: "hour" | "day" = "hour"): Promise<string | null> {
    return this.#sums.first(PREFIX[step]);
  }

  async close(): Promise<void> {
    await this.#sums.flush();
  }

  #bounded(tenant: string): string {
    return this.#tenants.has(tenant) || this.#tenants.size < MOST_TENANTS ? tenant : OTHER;
  }

  #hashed(tenant: string): string {
    const known = this.#tenants.get(tenant) ?? hash("sha256", tenant);
    this.#tenants.set(tenant, known);
    return known;
  }
}

function withFewModels(sums: PlotSums): PlotSums {
  const models = Object.entries(sums.costByModel);
  if (models.length <= MOST_MODELS) return sums;
  const rest = models.slice(MOST_MODELS).reduce((sum, [, cost]) => sum + cost, 0);
  const kept = Object.fromEntries(models.slice(0, MOST_MODELS));
  return { ...sums, costByModel: { ...kept, [OTHER]: (kept[OTHER] ?? 0) + rest } };
}
