import type { Owner } from "../../domain/owner.js";
import { committed } from "../durable-commit.js";
import { behind, type KeyRange, OPERATIONS_AT_ONCE, type StateEngine, type StoredEntry } from "../engine.js";
import { ownerPartition } from "../partition.js";
import { sealedUnder } from "./data-key.js";
import { keysOf } from "./encrypted-engine.js";
import type { Keyring } from "./keyring.js";

/** What lies in an owner's partition and no key of theirs opens: no store finds it any more. `engine`: as it stores values. */
export class DestroyedValues {
  /** As a receipt names it. */
  readonly name = "encrypted";
  readonly #engine: StateEngine;
  readonly #keyring: Keyring;

  constructor(engine: StateEngine, keyring: Keyring) {
    this.#engine = engine;
    this.#keyring = keyring;
  }

  async erase(owner: Owner): Promise<Readonly<Record<string, number>>> {
    for await (const gone of this.#gone(owner)) {
      const checks = gone.map(({ key, version }) => ({ key, version }));
      const result = await committed(this.#engine, ownerPartition(owner), { checks, deletes: gone.map(({ key }) => key) });
      // Written since, by whoever is back.
      if (!result.ok) return this.erase(owner);
    }
    return {};
  }

  async residue(owner: Owner): Promise<number> {
    let left = 0;
    for await (const gone of this.#gone(owner)) left += gone.length;
    return left;
  }

  async *#gone(owner: Owner): AsyncGenerator<readonly StoredEntry[]> {
    const partition = ownerPartition(owner);
    for (let range: KeyRange = { from: "", to: "\u{10FFFF}", limit: OPERATIONS_AT_ONCE }; ; ) {
      const [page = []] = (await this.#engine.read(partition, { ranges: [range] })).ranges;
      // As they are behind the look at values: a key that another process made or renewed is among them.
      const { row } = await this.#keyring.again(partition);
      const left = new Set<string | null>(row.keys.map(({ id }) => id));
      const gone = page.filter(({ key, value }) => keysOf(partition, key) === partition && !left.has(sealedUnder(value)));
      if (gone.length > 0) yield gone;
      const last = page.at(-1);
      if (last === undefined || page.length < OPERATIONS_AT_ONCE) return;
      range = { ...range, from: behind(last.key) };
    }
  }
}
