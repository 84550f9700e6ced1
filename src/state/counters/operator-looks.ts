import type { Clock } from "../../platform/clock.js";
import type { OperatorLooks } from "../../ports/counters.js";
import type { StateEngine } from "../engine.js";
import { systemPartition } from "../partition.js";
import { BatchedSums } from "./batched-sums.js";

const DAYS_KEPT = 90;
const MINUTE = "2027-03-28T09:05".length;

/** Looks of all processes: `look/{minute}/{what}`. */
export class EngineOperatorLooks implements OperatorLooks {
  readonly #sums: BatchedSums<number>;
  readonly #clock: Clock;

  constructor(engine: StateEngine, clock: Clock) {
    const plus = (a: number, b: number) => a + b;
    this.#sums = new BatchedSums(engine, { partition: systemPartition("looks"), prefix: "look", plus, daysKept: DAYS_KEPT });
    this.#clock = clock;
  }

  async noted(what: string): Promise<void> {
    this.#sums.add(this.#clock.now().toISOString().slice(0, MINUTE), what, 1);
    await this.#sums.flush();
  }

  async all(): ReturnType<OperatorLooks["all"]> {
    const found = await this.#sums.between("", "~");
    return found.map(({ period, name, value }) => ({ minute: period, what: name, times: value }));
  }
}
