import type { Owner } from "../../domain/owner.js";
import type { MergeEnds, MergeRegistry } from "../../ports/identities.js";
import { committed } from "../durable-commit.js";
import type { StateEngine } from "../engine.js";
import { ownerPartition, systemPartition } from "../partition.js";
import { jsonOf, rowPages } from "../stored-rows.js";

const MERGES = systemPartition("merges");
const UNFINISHED = "unfinished/";
const DORMANT = "dormant/";

/** Each merge under one of two keys, by the partition of who was merged: it moves from one to the other in one commit. */
export class EngineMergeRegistry implements MergeRegistry {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async begin({ from, to }: MergeEnds): Promise<void> {
    await this.#commit(from, { puts: UNFINISHED, deletes: [DORMANT] }, { from, to });
  }

  async settle({ from, to }: MergeEnds, { dormant }: { readonly dormant: boolean }): Promise<void> {
    if (dormant) await this.#commit(from, { puts: DORMANT, deletes: [UNFINISHED] }, { from, to });
    else await this.#commit(from, { deletes: [UNFINISHED, DORMANT] });
  }

  unfinished(): AsyncIterable<MergeEnds> {
    return this.#under(UNFINISHED);
  }

  dormant(): AsyncIterable<MergeEnds> {
    return this.#under(DORMANT);
  }

  async *#under(prefix: string): AsyncGenerator<MergeEnds> {
    for await (const rows of rowPages(this.#engine, MERGES, prefix)) for (const row of rows) yield jsonOf<MergeEnds>(row);
  }

  async #commit(from: Owner, change: { readonly puts?: string; readonly deletes: readonly string[] }, ends?: MergeEnds): Promise<void> {
    const key = (prefix: string) => `${prefix}${ownerPartition(from)}`;
    await committed(this.#engine, MERGES, {
      ...(change.puts !== undefined && { puts: [{ key: key(change.puts), value: JSON.stringify(ends) }] }),
      deletes: change.deletes.map(key),
    });
  }
}
