import type { MeasuredModel, MeasuredModels } from "../../ports/measured-models.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";

const PARTITION = systemPartition("models");
const PREFIX = "model/";

/** `model/{hash}`: of endpoint and model, as an address may hold what is nobody's business. */
export class EngineMeasuredModels implements MeasuredModels {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async all(): Promise<ReadonlyMap<string, MeasuredModel>> {
    const { ranges } = await this.#engine.read(PARTITION, { ranges: [prefixRange(PREFIX)] });
    return new Map((ranges[0] ?? []).map(({ key, value }) => [key.slice(PREFIX.length), JSON.parse(value) as MeasuredModel]));
  }

  change(hash: string, decide: (stored: MeasuredModel | null) => MeasuredModel): Promise<MeasuredModel> {
    const key = `${PREFIX}${hash}`;
    return optimisticCommit(this.#engine, PARTITION, { keys: [key] }, (read) => {
      const stored = read.entries.get(key)?.value;
      const result = decide(stored === undefined ? null : (JSON.parse(stored) as MeasuredModel));
      return { commit: { checks: unchanged(read, key), puts: [{ key, value: JSON.stringify(result) }] }, result };
    });
  }
}
