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

  async begin(merge: MergeEnds): Promise<void> {
    await this.#move(merge, UNFINISHED, [DORMANT]);
  }

  async settle(merge: MergeEnds, { dormant }: { readonly dormant: boolean }): Promise<void> {
    await (dormant ? this.#move(merge, DORMANT, [UNFINISHED]) : this.#move(merge, null, [UNFINISHED, DORMANT]));
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

  async #move({ from, to }: MergeEnds, under: string | null, away: readonly string[]): Promise<void> {
    const key = (prefix: string) => `${prefix}${ownerPartition(from)}`;
    const puts = under === null ? [] : [{ key: key(under), value: JSON.stringify({ from, to }) }];
    await committed(this.#engine, MERGES, { puts, deletes: away.map(key) });
  }
}
