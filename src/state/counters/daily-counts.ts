import { hash } from "node:crypto";
import type { DailyCounts } from "../../ports/counters.js";
import type { StateEngine } from "../engine.js";
import { systemPartition } from "../partition.js";
import { BatchedSums } from "./batched-sums.js";

const PARTITION = systemPartition("tokens");
const DAYS_KEPT = 3;

/** Counters by the day and the hash of the tenant. */
export class EngineDailyCounts implements DailyCounts {
  readonly #sums: BatchedSums<number>;

  /** `prefix`: what is counted by another name is counted apart. */
  constructor(engine: StateEngine, prefix: string) {
    this.#sums = new BatchedSums(engine, { partition: PARTITION, prefix, plus: (a, b) => a + b, daysKept: DAYS_KEPT });
  }

  async add(tenant: string, day: string, count: number): Promise<void> {
    if (count !== 0) this.#sums.add(day, hash("sha256", tenant), count);
  }

  async spent(tenant: string, day: string): Promise<number> {
    return (await this.#sums.of(day, hash("sha256", tenant))) ?? 0;
  }

  async tenantsFrom(day: string, count: number): Promise<number> {
    const counted = await this.#sums.between(`${day}/`, `${day}/~`);
    return counted.filter(({ value }) => value >= count).length;
  }

  /** @throws STORAGE_UNAVAILABLE where the last counts can't be written; they are lost then */
  async close(): Promise<void> {
    await this.#sums.flush();
  }
}
