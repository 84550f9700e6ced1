import { LRUCache } from "lru-cache";
import { z } from "zod";
import { AppError } from "../../platform/errors.js";
import type { KeyVault } from "../../ports/key-vault.js";
import { committed } from "../durable-commit.js";
import type { Commit, StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";
import { DataKey, newKeyBytes, newKeyId } from "./data-key.js";

/** Behind all that a range asks for: a partition's data keys, wrapped. What is read and copied by ranges does not have it. */
export const KEYS = "\u{10FFFF}keys";
/** Whose keys seal what is the installation's own, and what outlives an erasure. */
export const INSTALLATION_KEYS = systemPartition("encryption");

/** Partitions whose keys are held unwrapped. */
const MOST_HELD = 10_000;

const rowSchema = z.object({
  v: z.literal(1),
  /** Oldest first; the last one seals. `by`: the master key that wrapped it. */
  keys: z.array(z.object({ id: z.string(), by: z.string(), wrapped: z.string() })),
  /** Ids of those that were destroyed: what is sealed under them counts as not there. */
  destroyed: z.array(z.string()),
});
export type KeysRow = z.infer<typeof rowSchema>;
type KeyEntry = KeysRow["keys"][number];

export interface PartitionKeys {
  readonly row: KeysRow;
  /** Of the row, by the engine that keeps it; null: there is none. */
  readonly version: number | null;
  /** By id. Also those that this process has destroyed and still needs to count what it deletes. */
  readonly keys: ReadonlyMap<string, DataKey>;
}

/** Data keys by partition, in the engine whose values they seal, or in one of their own beside it. */
export class Keyring {
  readonly #vault: KeyVault;
  readonly #home: StateEngine;
  readonly #held = new LRUCache<string, PartitionKeys>({ max: MOST_HELD });

  constructor(vault: KeyVault, home: StateEngine) {
    this.#vault = vault;
    this.#home = home;
  }

  /** Whether keys lie beside the values of this engine: then a commit is refused when its partition's have changed. */
  isIn(engine: StateEngine): boolean {
    return this.#home === engine;
  }

  get home(): StateEngine {
    return this.#home;
  }

  /** @throws INVALID_CONFIG where the master key is another, STORAGE_UNAVAILABLE */
  async of(partition: string): Promise<PartitionKeys> {
    return this.#held.get(partition) ?? this.#load(partition);
  }

  /** As it was read last; null where it was not. */
  held(partition: string): PartitionKeys | null {
    return this.#held.get(partition) ?? null;
  }

  /** They are read again when they are needed next. */
  drop(partition: string): void {
    this.#held.delete(partition);
  }

  /** The key that seals, and, where it is new, what a commit to its home must bring along. */
  async sealing(partition: string): Promise<{ readonly key: DataKey; readonly guard: Pick<Commit, "checks" | "puts"> }> {
    const { row, keys, version } = await this.of(partition);
    const checks = [{ key: KEYS, version }];
    const active = keys.get(row.keys.at(-1)?.id ?? "");
    if (active !== undefined) return { key: active, guard: { checks } };
    const made = await this.#made(partition);
    return { key: made.key, guard: { checks, puts: [rowPut({ ...row, keys: [made.entry] })] } };
  }

  /** The key that seals, made and durable where there was none. */
  async kept(partition: string): Promise<DataKey> {
    for (;;) {
      const { key, guard } = await this.sealing(partition);
      if (guard.puts === undefined) return key;
      await committed(this.#home, partition, guard);
      this.drop(partition);
    }
  }

  /**
   * Destroys all of a partition's keys, durably, and gives the ids of all that were ever destroyed. What they sealed reads as not there, in
   * this process only after {@link drop}. Idempotent.
   */
  async destroy(partition: string): Promise<readonly string[]> {
    const before = await this.of(partition);
    const row = await this.#change(partition, ({ keys, destroyed }) => ({
      v: 1,
      keys: [],
      destroyed: [...new Set([...destroyed, ...keys.map(({ id }) => id)])],
    }));
    await this.#home.scrub?.();
    const { version } = await this.#load(partition);
    this.#held.set(partition, { row, version, keys: before.keys });
    return row.destroyed;
  }

  /** A new key seals from now on; those before it stay until {@link retire}. */
  async renew(partition: string): Promise<void> {
    const { entry } = await this.#made(partition);
    await this.#change(partition, (row) => ({ ...row, keys: [...row.keys, entry] }));
  }

  /** Destroys all but the key that seals: nothing is sealed under them any more. */
  async retire(partition: string): Promise<void> {
    await this.#change(partition, ({ keys, destroyed }) => ({
      v: 1,
      keys: keys.slice(-1),
      destroyed: [...new Set([...destroyed, ...keys.slice(0, -1).map(({ id }) => id)])],
    }));
    await this.#home.scrub?.();
  }

  /** Wraps a partition's keys by the master key of now. Whether any was wrapped by another. */
  async rewrap(partition: string): Promise<boolean> {
    let isOther = false;
    await this.#change(partition, async (row) => {
      isOther = row.keys.some(({ by }) => by !== this.#vault.keyId);
      const wrapped = async (entry: KeyEntry) => this.#wrapped(partition, entry.id, await this.#unwrapped(partition, entry));
      return { ...row, keys: await Promise.all(row.keys.map(wrapped)) };
    });
    return isOther;
  }

  /** Takes keys in that were kept elsewhere, still wrapped; none that was destroyed since. How many there were. */
  async take(partition: string, given: KeysRow): Promise<number> {
    let taken = 0;
    await this.#change(partition, (row) => {
      const destroyed = [...new Set([...row.destroyed, ...given.destroyed])];
      const known = new Set([...destroyed, ...row.keys.map(({ id }) => id)]);
      const added = given.keys.filter(({ id }) => !known.has(id));
      taken = added.length;
      return { v: 1, keys: [...added, ...row.keys].filter(({ id }) => !destroyed.includes(id)), destroyed };
    });
    return taken;
  }

  async #load(partition: string): Promise<PartitionKeys> {
    const entry = (await this.#home.read(partition, { keys: [KEYS] })).entries.get(KEYS);
    const row = rowOf(entry?.value);
    const keys = new Map<string, DataKey>();
    for (const each of row.keys) keys.set(each.id, new DataKey(each.id, await this.#unwrapped(partition, each)));
    const loaded = { row, version: entry?.version ?? null, keys };
    const newer = this.#held.get(partition);
    if (newer !== undefined && (newer.version ?? 0) > (loaded.version ?? 0)) return newer;
    this.#held.set(partition, loaded);
    return loaded;
  }

  async #change(partition: string, change: (row: KeysRow) => KeysRow | Promise<KeysRow>): Promise<KeysRow> {
    const row = await optimisticCommit(this.#home, partition, { keys: [KEYS] }, async (read) => {
      const result = await change(rowOf(read.entries.get(KEYS)?.value));
      return { commit: { checks: unchanged(read, KEYS), puts: [rowPut(result)] }, result };
    });
    this.drop(partition);
    return row;
  }

  async #made(partition: string): Promise<{ readonly key: DataKey; readonly entry: KeyEntry }> {
    const bytes = newKeyBytes();
    const key = new DataKey(newKeyId(), bytes);
    return { key, entry: await this.#wrapped(partition, key.id, bytes) };
  }

  async #wrapped(partition: string, id: string, bytes: Uint8Array): Promise<KeyEntry> {
    return { id, by: this.#vault.keyId, wrapped: await this.#vault.wrap(bytes, contextOf(partition, id)) };
  }

  #unwrapped(partition: string, { id, by, wrapped }: KeyEntry): Promise<Uint8Array> {
    return this.#vault.unwrap(wrapped, { keyId: by, context: contextOf(partition, id) });
  }
}

function contextOf(partition: string, id: string): string {
  return `data key ${id} of ${partition}`;
}

/** @throws STORAGE_DAMAGED */
export function rowOf(value: string | undefined): KeysRow {
  if (value === undefined) return { v: 1, keys: [], destroyed: [] };
  try {
    return rowSchema.parse(JSON.parse(value));
  } catch (cause) {
    throw new AppError("STORAGE_DAMAGED", { detail: "A row of the keyring can't be read.", cause });
  }
}

function rowPut(row: KeysRow): { readonly key: string; readonly value: string } {
  return { key: KEYS, value: JSON.stringify(row) };
}
