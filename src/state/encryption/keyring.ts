import { LRUCache } from "lru-cache";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import type { KeyVault } from "../../ports/key-vault.js";
import { committed } from "../durable-commit.js";
import type { Commit, StateEngine } from "../engine.js";
import { ERASURE_KEY, ERASURES } from "../ledger/ledger-values.js";
import { optimisticChange, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";
import { partitionPages } from "../stored-rows.js";
import { DataKey, newKeyBytes, newKeyId } from "./data-key.js";
import { contextOf, idsOf, type KeyEntry, type KeysRow, rowOf, without, withTaken } from "./keys-row.js";
import type { PartitionKeys, Renewal, SealingKey } from "./partition-keys.js";

/** Behind all that a range asks for: a partition's data keys, wrapped. What is read and copied by ranges does not have it. */
export const KEYS = "\u{10FFFF}keys";
/** Whose keys seal what is the installation's own, and what outlives an erasure. */
export const INSTALLATION_KEYS = systemPartition("encryption");

/** Partitions looked at at once. */
const PAGE = 500;
/** Partitions whose keys are held unwrapped. */
const MOST_HELD = 10_000;

/** Data keys by partition, in the engine whose values they seal, or in one of their own beside it. */
export class Keyring {
  readonly #vault: KeyVault;
  readonly #home: StateEngine;
  /** Their clear texts are held as long as they are here, and nobody else's. */
  readonly #held = new LRUCache<string, PartitionKeys>({
    max: MOST_HELD,
    dispose: ({ keys }) => {
      for (const key of keys.values()) key.forget();
    },
  });
  readonly #loading = new Map<string, Promise<PartitionKeys>>();
  readonly #dying = new Map<string, readonly DataKey[]>();
  /** Of the register of erasures, when it was looked at last. */
  #erasures: number | null = null;
  #toldDestroyed: (partition: string) => Promise<readonly string[]> = async () => [];

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

  /** Who knows of keys that were destroyed, though an older keyring, brought back since, has them: they stay destroyed. */
  set toldDestroyed(told: (partition: string) => Promise<readonly string[]>) {
    this.#toldDestroyed = told;
  }

  /** @throws INVALID_CONFIG where the master key is another, STORAGE_UNAVAILABLE */
  async of(partition: string): Promise<PartitionKeys> {
    return this.#held.get(partition) ?? this.#loading.get(partition) ?? this.#load(partition);
  }

  /** As they are now: another process may have made or renewed them. */
  again(partition: string): Promise<PartitionKeys> {
    this.drop(partition);
    return this.of(partition);
  }

  /** As it was read last; null where it was not. */
  held(partition: string): PartitionKeys | null {
    return this.#held.get(partition) ?? null;
  }

  /** They are read again when they are needed next. Nothing that they sealed is held in clear until then. */
  drop(partition: string): void {
    this.#held.delete(partition);
    this.#loading.delete(partition);
  }

  /** The partition was seen at this epoch, in the keys' own home: those of before an erasure are dropped. */
  seen(partition: string, epoch: number): void {
    const held = this.#held.peek(partition);
    if (held !== undefined && held.epoch < epoch) this.drop(partition);
  }

  /**
   * Drops the keys of whoever was erased since this was asked last, by any process: also of whom nobody looks at again nothing is held in
   * clear then. One read of a partition's head, and, where somebody was erased, one for each that is held: the others' keys stay, as nobody
   * may give them anew while the master key is out of reach. @throws STORAGE_UNAVAILABLE
   */
  async dropErased(): Promise<void> {
    const { version } = await this.#home.read(ERASURES, {});
    if (version === this.#erasures) return;
    this.#loading.clear();
    await eachInParallel([...this.#held.keys()], async (partition) => this.seen(partition, (await this.#home.read(partition, {})).epoch));
    this.#erasures = version;
  }

  /** The key that seals, and, where it is new, what a commit to its home must bring along. */
  async sealing(partition: string): Promise<SealingKey & { readonly guard: Pick<Commit, "checks" | "puts"> }> {
    const held = await this.of(partition);
    const { row, keys, version } = held;
    const checks = [{ key: KEYS, version }];
    const active = keys.get(row.keys.at(-1)?.id ?? "");
    if (active !== undefined) return { key: active, held, guard: { checks } };
    const [words, made] = await Promise.all([this.#made(partition), this.#made(partition)]);
    return { key: made.key, held, guard: { checks, puts: [rowPut({ ...row, keys: [words.entry, made.entry] })] } };
  }

  /** The key that seals, made and durable where there was none. */
  async kept(partition: string): Promise<DataKey> {
    return (await this.keptAmong(partition)).key;
  }

  /** As {@link kept}, with all that the partition has. */
  async keptAmong(partition: string): Promise<SealingKey> {
    for (;;) {
      const { guard, ...sealing } = await this.sealing(partition);
      if (guard.puts === undefined) return sealing;
      await committed(this.#home, partition, guard);
      this.drop(partition);
    }
  }

  /**
   * Destroys all of a partition's keys, durably, and gives the ids of all that were ever destroyed. What they sealed reads as not there, in
   * this process from {@link forget} on, and in others from their next look at the partition, whose epoch this raises. Idempotent.
   * `intent`: version of the entry by which the partition is being erased, beside its keys; null, and nothing is destroyed, where that is
   * not there any more: keys of today are those of who came back. Default: they are destroyed whatever is there.
   */
  async destroy(partition: string, intent?: number): Promise<readonly string[] | null> {
    this.drop(partition);
    this.#dying.set(partition, [...(await this.of(partition)).keys.values()]);
    const keys = intent === undefined ? [KEYS] : [KEYS, ERASURE_KEY];
    const destroyed = await optimisticCommit<readonly string[] | null>(this.#home, partition, { keys }, (read) => {
      if (intent !== undefined && read.entries.get(ERASURE_KEY)?.version !== intent) return { commit: null, result: null };
      const { renewing: _, ...now } = rowOf(read.entries.get(KEYS)?.value);
      const row = without(now, idsOf(now.keys));
      return { commit: { checks: unchanged(read, ...keys), puts: [rowPut(row)], raisesEpoch: true }, result: row.destroyed };
    });
    if (destroyed === null) this.forget(partition);
    this.drop(partition);
    await this.#home.scrub?.();
    return destroyed;
  }

  /** Between {@link destroy} and {@link forget}. */
  isDying(partition: string): boolean {
    return this.#dying.has(partition);
  }

  /** Of what was destroyed this process has no copy any more. */
  forget(partition: string): void {
    this.drop(partition);
    this.#dying.delete(partition);
  }

  /**
   * A new key seals from now on, in every process: beside the values no commit under one before it is taken any more. Those before it stay
   * until {@link retire}; one that was broken off goes on with the key that it had made. Null where there are no keys.
   */
  async renew(partition: string): Promise<Renewal | null> {
    const { entry } = await this.#made(partition);
    let before: readonly string[] = [];
    await this.#change(partition, (row) => {
      const renewed = row.renewing ? row : { ...row, keys: [...row.keys, entry], renewing: true as const };
      before = idsOf(renewed.keys.slice(1, -1));
      return row.keys.length === 0 ? null : renewed;
    });
    const { row, keys } = await this.of(partition);
    const key = keys.get(row.keys.at(-1)?.id ?? "");
    return key === undefined ? null : { key, before };
  }

  /** Destroys keys that sealed before the one that does now, and ends the renewal: nothing is sealed under them any more. */
  async retire(partition: string, { before }: Renewal): Promise<void> {
    await this.#change(partition, ({ renewing: _, ...row }) => without(row, before));
    await this.#home.scrub?.();
  }

  /**
   * Whether the key that sealed was renewed since; not where it was destroyed with all others. Looked up only where other processes have
   * the keys too.
   */
  async isRenewed(partition: string, { key, held }: SealingKey): Promise<boolean> {
    if (!this.#home.manifest.shared) return false;
    const { keys } = rowOf((await this.#home.read(partition, { keys: [KEYS] })).entries.get(KEYS)?.value);
    // What hashes words outlives a renewal, and nothing else.
    const isRenewed = keys[0]?.id === held.words?.id && keys.at(-1)?.id !== key.id;
    if (isRenewed) this.drop(partition);
    return isRenewed;
  }

  /** All partitions that have keys, with their rows. */
  async *rows(): AsyncGenerator<{ readonly partition: string; readonly row: KeysRow }> {
    for await (const page of partitionPages(this.#home, KEYS, PAGE))
      for (const { partition, value } of page) yield { partition, row: rowOf(value) };
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
      const after = withTaken(row, given);
      taken = after.keys.length - row.keys.length;
      return without(after, given.destroyed);
    });
    return taken;
  }

  /** Once for all who ask meanwhile, and again where they were dropped meanwhile. */
  #load(partition: string): Promise<PartitionKeys> {
    const isDropped = () => this.#loading.get(partition) !== loading;
    const loading: Promise<PartitionKeys> = this.#unheld(partition)
      .then(({ loaded, fresh }) => {
        if (isDropped()) return this.of(partition);
        // Where there is none yet the next may come from another process, and no look would tell.
        if (loaded.keys.size > 0) this.#held.set(partition, loaded);
        for (const key of fresh) key.remember();
        return loaded;
      })
      .finally(() => {
        if (!isDropped()) this.#loading.delete(partition);
      });
    this.#loading.set(partition, loading);
    return loading;
  }

  /** `fresh`: those that are not dying. */
  async #unheld(partition: string): Promise<{ readonly loaded: PartitionKeys; readonly fresh: readonly DataKey[] }> {
    const { entries, epoch } = await this.#home.read(partition, { keys: [KEYS] });
    const entry = entries.get(KEYS);
    const row = without(rowOf(entry?.value), await this.#toldDestroyed(partition));
    const keys = new Map<string, DataKey>();
    for (const key of this.#dying.get(partition) ?? []) keys.set(key.id, key);
    const unwrapped = async (each: KeyEntry) => new DataKey(each.id, await this.#unwrapped(partition, each));
    const fresh = await Promise.all(row.keys.map(unwrapped));
    for (const key of fresh) keys.set(key.id, key);
    const words = keys.get(row.keys[0]?.id ?? "") ?? null;
    return { loaded: { row, words, version: entry?.version ?? null, epoch, keys }, fresh };
  }

  /** `change`: null: nothing is written. */
  async #change(partition: string, change: (row: KeysRow) => KeysRow | null | Promise<KeysRow>): Promise<void> {
    await optimisticChange(this.#home, partition, { keys: [KEYS] }, async (read) => {
      const row = await change(rowOf(read.entries.get(KEYS)?.value));
      return row && { checks: unchanged(read, KEYS), puts: [rowPut(row)] };
    });
    this.drop(partition);
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

function rowPut(row: KeysRow): { readonly key: string; readonly value: string } {
  return { key: KEYS, value: JSON.stringify(row) };
}
