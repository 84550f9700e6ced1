import { AppError } from "../../platform/errors.js";
import { assertFits } from "../commit-limits.js";
import type {
  Commit,
  CommitResult,
  EngineManifest,
  PartitionEntry,
  PartitionRead,
  PartitionsPage,
  ReadQuery,
  StateEngine,
  StoredEntry,
} from "../engine.js";
import { OUTBOX_ERASED } from "../events/event-keys.js";
import { outlivesErasure } from "../ledger/ledger-values.js";
import { isOwnersPartition } from "../partition.js";
import { NotAuthentic, SEAL_BYTES, sealedUnder } from "./data-key.js";
import { INSTALLATION_KEYS, KEYS, type Keyring } from "./keyring.js";
import type { PartitionKeys } from "./partition-keys.js";

/** Whose keys seal a value: its owner's, so that losing them erases it; the installation's where it is nobody's, or outlives an erasure. */
export function keysOf(partition: string, key: string): string {
  const isLasting = outlivesErasure(key) || key === OUTBOX_ERASED;
  return isOwnersPartition(partition) && !isLasting ? partition : INSTALLATION_KEYS;
}

/** What is authenticated along with a value: it holds in its own place alone. */
export function placeOf(partition: string, key: string): string {
  return `${partition}\n${key}`;
}

/** All values are being sealed, or unsealed: what is written from now on is so. */
export type Changing = "encrypt" | "decrypt";

/**
 * Any engine, all of whose values are sealed. Keys, versions and alarms stay readable. A value whose key was destroyed reads as not there;
 * one that lies in another's place, or was changed, is refused.
 */
export class EncryptedEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #inner: StateEngine;
  readonly #keyring: Keyring;
  readonly #besideValues: boolean;
  readonly #changing: Changing | null;

  /** The keyring stays the caller's. `changing`: values that are not sealed read as they are. Default: they are refused. */
  constructor(inner: StateEngine, keyring: Keyring, changing: Changing | null = null) {
    this.#inner = inner;
    this.#keyring = keyring;
    this.#changing = changing;
    this.#besideValues = keyring.isIn(inner);
    const { maxOperations, maxValueBytes, maxCommitBytes } = inner.manifest;
    this.manifest = {
      ...inner.manifest,
      name: `${inner.manifest.name}, encrypted`,
      maxOperations: maxOperations - (this.#besideValues ? 1 : 0),
      maxValueBytes: plainBytes(maxValueBytes - SEAL_BYTES),
      maxCommitBytes: plainBytes(maxCommitBytes - (maxOperations + KEYS_SEALS) * SEAL_BYTES),
    };
  }

  async read(partition: string, query: ReadQuery, options?: { readonly signal?: AbortSignal }): Promise<PartitionRead> {
    // What it keeps for itself is not shown.
    if (partition === INSTALLATION_KEYS) return this.#inner.read(partition, {}, options);
    const read = await this.#look(partition, query, options);
    const { ranges = [] } = query;
    // Of what was destroyed a page may be left short, which would pass for the last one.
    const isShort = read.lost.size > 0 && ranges.some(({ limit }, place) => (read.ranges[place]?.length ?? 0) < (limit ?? 0));
    if (!isShort) return read;
    const unlimited = ranges.map(({ limit: _, ...range }) => range);
    const whole = await this.#look(partition, { ...query, ranges: unlimited }, options);
    return { ...whole, ranges: whole.ranges.map((entries, place) => entries.slice(0, ranges[place]?.limit)) };
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    const { puts = [] } = commit;
    if (puts.length === 0 || this.#changing === "decrypt") return this.#seen(partition, await this.#inner.commit(partition, commit));
    const isOwn = puts.some(({ key }) => keysOf(partition, key) === partition);
    for (;;) {
      const common = await this.#keyring.kept(INSTALLATION_KEYS);
      const own = isOwn ? await this.#sealing(partition) : { key: common, guard: {} };
      const sealed = puts.map(({ key, value }) => {
        const by = keysOf(partition, key) === partition ? own.key : common;
        return { key, value: by.seal(value, placeOf(partition, key)) };
      });
      const guarded = {
        ...commit,
        puts: [...sealed, ...(own.guard.puts ?? [])],
        checks: [...(commit.checks ?? []), ...(own.guard.checks ?? [])],
      };
      const result = this.#seen(partition, await this.#inner.commit(partition, guarded));
      // What was made is read before it is used: an earlier try may have brought another.
      if (own.guard.puts !== undefined) this.#keyring.drop(partition);
      if (result.ok || result.refused !== "checks" || !result.keys.includes(KEYS)) return result;
      this.#keyring.drop(partition);
      const keys = result.keys.filter((key) => key !== KEYS);
      if (keys.length > 0) return { ...result, keys };
    }
  }

  async partitions({ key, after, limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const found: PartitionEntry[] = [];
    for (let from = after; ; ) {
      const asked = limit - found.length;
      const page = await this.#inner.partitions({
        limit: asked,
        ...(key !== undefined && { key }),
        ...(from !== undefined && { after: from }),
      });
      for (const { partition, value } of page) {
        if (partition === INSTALLATION_KEYS) continue;
        const opened = key === undefined ? value : await this.#openedOf(partition, { key, value });
        if (opened !== null) found.push({ partition, value: opened });
      }
      from = page.at(-1)?.partition;
      if (page.length < asked || found.length >= limit) return found;
    }
  }

  due(...args: Parameters<StateEngine["due"]>): ReturnType<StateEngine["due"]> {
    return this.#inner.due(...args);
  }

  /** Its keys go first. */
  async erase(partition: string): Promise<number> {
    const { version } = await this.#keyring.of(partition);
    if (!this.#besideValues && version !== null) await this.#keyring.destroy(partition);
    const erased = await this.#inner.erase(partition);
    this.#keyring.drop(partition);
    return this.#besideValues && version !== null ? erased - 1 : erased;
  }

  health(): ReturnType<StateEngine["health"]> {
    return this.#inner.health();
  }

  async scrub(): Promise<void> {
    await this.#inner.scrub?.();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Behind an erasure, here or in another process, the keys of before it go, and with them what is held in clear. */
  #seen<T extends { readonly epoch: number }>(partition: string, look: T): T {
    if (this.#besideValues) this.#keyring.seen(partition, look.epoch);
    return look;
  }

  /** In a commit to the keys' own home they are held to be what they were; elsewhere they are durable before it. */
  async #sealing(partition: string): Promise<Pick<Awaited<ReturnType<Keyring["sealing"]>>, "key" | "guard">> {
    return this.#besideValues ? this.#keyring.sealing(partition) : { key: await this.#keyring.kept(partition), guard: {} };
  }

  /**
   * A read in clear. A key that was destroyed between the look at values and the one at keys may have been renewed: what it sealed was
   * sealed anew before, and is looked at once more.
   */
  async #look(partition: string, query: ReadQuery, options?: { readonly signal?: AbortSignal }): Promise<OpenedRead> {
    const gone = new Set(this.#keyring.held(partition)?.row.destroyed);
    for (;;) {
      const read = await this.#opened(partition, this.#seen(partition, await this.#inner.read(partition, query, options)));
      if ([...read.lost].every((id) => gone.has(id))) return read;
      for (const id of read.lost) gone.add(id);
    }
  }

  async #opened(partition: string, read: PartitionRead): Promise<OpenedRead> {
    const lost = new Set<string>();
    const open = await this.#opener(partition, [...read.entries.values(), ...read.ranges.flat()]);
    const opened = (stored: Iterable<StoredEntry>): StoredEntry[] => {
      const found: StoredEntry[] = [];
      for (const { key, value, version } of stored) {
        const text = open({ key, value });
        if (text === null) lost.add(sealedUnder(value) ?? "");
        else found.push({ key, value: text, version });
      }
      return found;
    };
    const entries = new Map(opened(read.entries.values()).map((entry) => [entry.key, entry]));
    return { ...read, entries, ranges: read.ranges.map(opened), lost };
  }

  /** Null where its key was destroyed. */
  async #openedOf(partition: string, entry: Valued): Promise<string | null> {
    const opened = (await this.#opener(partition, [entry]))(entry);
    return opened ?? (await this.read(partition, { keys: [entry.key] })).entries.get(entry.key)?.value ?? null;
  }

  /** Opens such values: null where the key was destroyed. @throws STORAGE_DAMAGED */
  async #opener(partition: string, all: readonly Valued[]): Promise<(entry: Valued) => string | null> {
    const held = new Map<string, PartitionKeys>();
    for (const { key, value } of all) {
      const id = sealedUnder(value);
      if (id === null) continue;
      const whose = keysOf(partition, key);
      const keys = held.get(whose) ?? (await this.#keyring.of(whose));
      held.set(whose, keys);
      if (knows(keys, id)) continue;
      held.set(whose, await this.#keyring.again(whose));
    }
    return ({ key, value }) => {
      const id = sealedUnder(value);
      const what = `${key} of ${partition}`;
      if (id === null && this.#changing !== null) return value;
      // What can't be read holds up no erasure, which deletes it too.
      const keys = held.get(keysOf(partition, key));
      if (this.#keyring.isDying(partition) && (id === null || !knows(keys, id))) return null;
      const opened = id === null ? undefined : openedBy(keys, id, value, { place: placeOf(partition, key), what });
      if (opened !== undefined) return opened;
      if (this.#keyring.isDying(partition)) return null;
      const how = id === null ? "encrypted, as all else is" : `what was encrypted there under data key ${id}`;
      throw new AppError("STORAGE_DAMAGED", { detail: `${what} is not ${how}: it was changed, or put there.` });
    };
  }
}

type Valued = Pick<StoredEntry, "key" | "value">;

/** `lost`: ids of the keys that were destroyed, of values that are left out for it. */
type OpenedRead = PartitionRead & { readonly lost: ReadonlySet<string> };

export function knows(held: PartitionKeys | null | undefined, id: string): boolean {
  return held?.keys.has(id) === true || held?.row.destroyed.includes(id) === true;
}

/**
 * Null where the key was destroyed, undefined where this is not what was sealed at the place under it.
 * @throws STORAGE_DAMAGED where there is no such key
 */
export function openedBy(
  held: PartitionKeys | undefined,
  id: string,
  value: string,
  { place, what }: { readonly place: string; readonly what: string },
): string | null | undefined {
  const key = held?.keys.get(id);
  if (key === undefined && held?.row.destroyed.includes(id)) return null;
  if (key === undefined)
    throw new AppError("STORAGE_DAMAGED", {
      detail: `${what} is encrypted under data key ${id}, which the keyring does not hold.`,
      hint: "Bring back the keyring that belongs to it (`maitred keys load`). Nothing was changed.",
    });
  try {
    return key.open(value, place);
  } catch (cause) {
    if (!(cause instanceof NotAuthentic)) throw cause;
    return undefined;
  }
}

/** What a row of keys takes, in seals. */
const KEYS_SEALS = 8;

/** Most bytes of text that are no more than so many when they are sealed. */
function plainBytes(bytes: number): number {
  return Math.floor(bytes / 4) * 3;
}
