import type { Owner } from "../../domain/owner.js";
import { committed } from "../durable-commit.js";
import { behind, type KeyRange, OPERATIONS_AT_ONCE, type StateEngine } from "../engine.js";
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
    for await (const keys of this.#keys(owner)) await committed(this.#engine, ownerPartition(owner), { deletes: keys });
    return {};
  }

  async residue(owner: Owner): Promise<number> {
    let left = 0;
    for await (const keys of this.#keys(owner)) left += keys.length;
    return left;
  }

  async *#keys(owner: Owner): AsyncGenerator<readonly string[]> {
    const partition = ownerPartition(owner);
    const { row } = await this.#keyring.of(partition);
    const left = new Set<string | null>(row.keys.map(({ id }) => id));
    const isGone = (key: string, value: string) => keysOf(partition, key) === partition && !left.has(sealedUnder(value));
    for (let range: KeyRange = { from: "", to: "\u{10FFFF}", limit: OPERATIONS_AT_ONCE }; ; ) {
      const [page = []] = (await this.#engine.read(partition, { ranges: [range] })).ranges;
      const keys = page.filter(({ key, value }) => isGone(key, value)).map(({ key }) => key);
      if (keys.length > 0) yield keys;
      const last = page.at(-1);
      if (last === undefined || page.length < OPERATIONS_AT_ONCE) return;
      range = { ...range, from: behind(last.key) };
    }
  }
}
