import { LRUCache } from "lru-cache";
import { type Owner, ownerHash } from "../../domain/owner.js";
import type { Queries } from "./database.js";

const MAX_OWNERS = 10_000;

/**
 * One row per owner with their epoch, which a write locks against an erasure's beginning: whatever is written before the erasure begins is
 * there to be erased, and nothing is written behind it. The row holds no name.
 */
export class OwnerRows {
  readonly #database: Queries;
  readonly #there = new LRUCache<Owner, true>({ max: MAX_OWNERS });

  constructor(database: Queries) {
    this.#database = database;
  }

  /** Makes the row where there is none. Its key. */
  async ensure(owner: Owner): Promise<string> {
    const key = ownerHash(owner);
    if (this.#there.has(owner)) return key;
    await this.#database.run("INSERT INTO {owners} (key, epoch) VALUES ($1, 0) ON CONFLICT DO NOTHING", [key]);
    this.#there.set(owner, true);
    return key;
  }

  /** Told by who has seen the row. */
  found(owner: Owner): void {
    this.#there.set(owner, true);
  }

  /** Whether an erasure is open, or has been since the epoch. */
  async refuses(key: string, epoch: number | null): Promise<boolean> {
    const [row] = await this.#database.query("SELECT epoch, erasing FROM {owners} WHERE key = $1", [key]);
    return row?.erasing === true || (epoch !== null && Number(row?.epoch ?? 0) !== epoch);
  }
}
