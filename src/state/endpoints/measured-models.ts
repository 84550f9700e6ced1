import type { MeasuredModel, MeasuredModels } from "../../ports/chat-model.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";
import { jsonOf, rowsIn } from "../stored-rows.js";

const PARTITION = systemPartition("models");
const PREFIX = "model/";

/** `model/{hash}`: of endpoint and model, as an address may hold what is nobody's business. */
export class EngineMeasuredModels implements MeasuredModels {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async all(): Promise<ReadonlyMap<string, MeasuredModel>> {
    const rows = await rowsIn(this.#engine, PARTITION, prefixRange(PREFIX));
    return new Map(rows.map((row) => [row.key.slice(PREFIX.length), jsonOf<MeasuredModel>(row)]));
  }

  change(hash: string, decide: (stored: MeasuredModel | null) => MeasuredModel): Promise<MeasuredModel> {
    const key = `${PREFIX}${hash}`;
    return optimisticCommit(this.#engine, PARTITION, { keys: [key] }, (read) => {
      const result = decide(jsonOf<MeasuredModel>(read.entries.get(key)));
      return { commit: { checks: unchanged(read, key), puts: [{ key, value: JSON.stringify(result) }] }, result };
    });
  }
}
