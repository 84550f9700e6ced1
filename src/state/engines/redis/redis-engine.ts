import { boundedSignal, orAbort } from "../../../platform/bounded-signal.js";
import { AppError, isAppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import type { Logger } from "../../../platform/logger.js";
import { abortableRead } from "../../abortable-read.js";
import { assertFits } from "../../commit-limits.js";
import {
  type Commit,
  type CommitResult,
  type DuePartition,
  type EngineManifest,
  MOST_DUE,
  type PartitionEntry,
  type PartitionRead,
  type PartitionsPage,
  type ReadQuery,
  type StateEngine,
  type StoredEntry,
} from "../../engine.js";
import { type Durability, durabilityWith, isInstallation, lossySettings, openInstallation, type Places } from "./installation.js";
import { type Hint, PartitionIndex } from "./partition-index.js";
import { RedisConnection } from "./redis-connection.js";
import { CLAIM, COMMIT, ERASE, READ } from "./scripts.js";

export interface RedisEngineOptions {
  /** `redis://user:password@host:port/0`, or `rediss://` for TLS. Any one node of a Cluster, which is found out. */
  readonly url: string;
  /** One per installation: every key begins with `{` and it. Letters, digits, `_` and `-`. */
  readonly prefix: string;
  readonly durability: Durability;
  readonly logger: Logger;
  /** How long a start waits for a server that does not answer, or is loading, in milliseconds. Default 30,000. */
  readonly startupWaitMs?: number;
  /** Bound of one command and of connecting, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

/** Partitions looked at together. */
const PAGE = 200;
const HEALTH_WITHIN_MS = 2_000;
const OTHER = "Redis is empty or another installation's: not what it was at the start. See REDIS_URL.";
/** How long what was seen of the server's settings holds. */
const SETTINGS_HOLD_MS = 30_000;

/** State in one Redis or Valkey (6.2 or newer), or a Cluster. A partition's keys share a slot; a commit and a read are one script each. */
export class RedisEngine implements StateEngine {
  readonly manifest: EngineManifest;
  readonly #connection: RedisConnection;
  readonly #index: PartitionIndex;
  readonly #prefix: string;
  readonly #durability: Durability;
  readonly #installation: { readonly id: string; readonly places: Places };
  /** Connections, of which the last leads to what was opened; null: it does not. */
  #own: number | null;
  #settings: { readonly lossy: readonly string[]; readonly connections: number; readonly atMs: number };

  private constructor(
    connection: RedisConnection,
    index: PartitionIndex,
    { prefix, durability }: RedisEngineOptions,
    installation: { readonly id: string; readonly places: Places },
    lossy: ReadonlyMap<string, string>,
  ) {
    this.#connection = connection;
    this.#index = index;
    this.#prefix = prefix;
    this.#durability = durability;
    this.#installation = installation;
    this.#own = connection.connections;
    this.#settings = { lossy: [...lossy.values()], connections: connection.connections, atMs: performance.now() };
    this.manifest = {
      name: `Redis${connection.clustered ? " Cluster" : ""} (prefix ${prefix})`,
      durability: durabilityWith(lossy),
      maxValueBytes: 900 * 1_024,
      maxOperations: 128,
      maxCommitBytes: 16_000_000,
      shared: true,
    };
  }

  /** Connects, and checks that what is acknowledged is on disk. @throws INVALID_REQUEST, STORAGE_UNAVAILABLE with what to do */
  static async open(options: RedisEngineOptions): Promise<RedisEngine> {
    const { prefix, durability, timeoutMs = 5_000, startupWaitMs = 30_000 } = options;
    if (!/^[A-Za-z0-9_-]{1,63}$/.test(prefix))
      throw new AppError("INVALID_REQUEST", { detail: "A prefix has letters, digits, `_` and `-` only, at most 63." });
    const connection = await RedisConnection.open({ ...options, timeoutMs, startupWaitMs });
    try {
      const lossy = await lossySettings(connection);
      if (durability === "strict" && lossy.size > 0)
        throw new AppError("STORAGE_UNAVAILABLE", {
          detail: `Redis may lose what it acknowledged: ${[...lossy.values()].join("; ")}.`,
          hint: "Change the server's configuration, or accept it with REDIS_DURABILITY=relaxed.",
        });
      const index = new PartitionIndex(connection, prefix);
      const places: Places = [`{${prefix}:installation}`, ...(connection.clustered ? index.keys("installation") : [])];
      const id = await openInstallation(connection, prefix, places);
      const engine = new RedisEngine(connection, index, options, { id, places }, lossy);
      // Learns the engine's clock.
      await engine.read("", {});
      return engine;
    } catch (error) {
      connection.client.disconnect();
      throw error;
    }
  }

  async read(partition: string, { keys = [], ranges = [] }: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    if (!this.#isOwn) await this.#requireOwn();
    const query = { keys, ranges: ranges.map(({ from, to, limit = -1, reverse = false }) => [from, to, limit, reverse]) };
    const reply = await abortableRead(() => this.#connection.run(READ, this.#keys(partition), JSON.stringify(query)), signal);
    const [now, version, epoch, due, values, ...pages] = reply as [
      number,
      string | null,
      string | null,
      string | null,
      Stored,
      ...Stored[],
    ];
    const entriesOf = (names: readonly (string | null)[], stored: Stored = []) =>
      names.flatMap((key, at) => entryOf(key ?? "", stored[at] ?? null) ?? []);
    return {
      version: Number(version),
      epoch: Number(epoch),
      dueAtMs: due === null ? null : Number(due),
      entries: new Map(entriesOf(keys, values).map((entry) => [entry.key, entry])),
      ranges: ranges.map((_, at) => entriesOf(pages[2 * at] ?? [], pages[2 * at + 1])),
      nowMs: this.#index.sawClock(now),
    };
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    assertFits(this.manifest, commit);
    if (!this.#isOwn) await this.#requireOwn();
    const { checks = [], puts = [], deletes = [], dueAtMs: dueAt, dueByMs: dueBy, ...rest } = commit;
    const dueMs = dueAt == null ? (dueBy ?? null) : Math.min(dueAt, dueBy ?? dueAt);
    const asked = { ...rest, checks: checks.map(({ key, version }) => [key, version]), deletes, dueAt, dueBy };
    for (let tries = 1; ; tries++) {
      const { written, deadlineMs } = this.#index.announce(partition, dueMs);
      // On one server what was sent first is done first.
      if (this.#connection.clustered) await written;
      const args = [JSON.stringify({ ...asked, deadline: deadlineMs }), ...puts.flatMap(({ key, value }) => [key, value])];
      const [reply] = await Promise.all([this.#connection.run(COMMIT, this.#keys(partition), ...args), written]);
      const [outcome, version, epoch, now, ...keys] = reply as readonly [Outcome, number, number, number, ...string[]];
      this.#index.sawClock(now);
      if (outcome === "ok") return { ok: true, version, epoch };
      if (outcome !== "late") return { ok: false, refused: outcome, keys, version, epoch };
      if (tries === 2) throw new AppError("STORAGE_UNAVAILABLE", { detail: "A commit came to Redis too late.", retryAfterSeconds: 1 });
    }
  }

  async partitions({ key, after, limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    const found: PartitionEntry[] = [];
    if (limit <= 0) return found;
    if (!this.#isOwn) await this.#requireOwn();
    for await (const names of this.#index.registered(after, PAGE)) {
      const look = (partition: string) =>
        key === undefined
          ? this.#connection.command("HGET", this.#keys(partition).head, "version")
          : this.#connection.command("HGET", this.#keys(partition).values, key);
      const values = (await Promise.all(names.map(look))) as Stored;
      for (const [at, partition] of names.entries()) {
        const entry = entryOf(partition, values[at] ?? null);
        if (entry !== null) found.push({ partition, value: key === undefined ? "" : entry.value });
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    if (!this.#isOwn) await this.#requireOwn();
    const most = Math.min(limit, MOST_DUE);
    const ready = await this.#ready(nowMs, most);
    if (leaseMs <= 0) return ready.slice(0, most).map(({ partition, dueMs }) => ({ partition, dueAtMs: dueMs, token: "" }));
    const claimed: DuePartition[] = [];
    // Others may have been quicker with some.
    for (let from = 0; from < ready.length && claimed.length < most; ) {
      const next = ready.slice(from, from + most - claimed.length);
      from += next.length;
      const claim = async ({ partition, dueMs }: Hint) => {
        const token = newId();
        const [, due, isFree] = await this.#connection.run(CLAIM, this.#keys(partition), nowMs, leaseMs, token);
        return isFree === 1 ? [{ partition, dueAtMs: Number(due ?? dueMs), token }] : [];
      };
      claimed.push(...(await Promise.all(next.map(claim))).flat());
    }
    return claimed;
  }

  async erase(partition: string): Promise<number> {
    if (!this.#isOwn) await this.#requireOwn();
    await this.#index.announce(partition, null).written;
    return Number(await this.#connection.run(ERASE, this.#keys(partition)));
  }

  async health(): ReturnType<StateEngine["health"]> {
    const bound = boundedSignal([], HEALTH_WITHIN_MS);
    try {
      return await orAbort(this.#look(), bound.signal);
    } catch (error) {
      return { status: "down", detail: isAppError(error) ? error.message : `Redis did not answer within ${HEALTH_WITHIN_MS} ms.` };
    } finally {
      bound.end();
    }
  }

  async close(): Promise<void> {
    this.#connection.client.disconnect();
  }

  /** What is due and not claimed, the longest first, at least `least` where there are as many; hints that are out of date are repaired. */
  async #ready(nowMs: number, least: number): Promise<readonly Hint[]> {
    const ready: Hint[] = [];
    const repairs: (() => Promise<void>)[] = [];
    const look = async (hint: Hint) => {
      const [now, due, isFree] = await this.#connection.run(CLAIM, this.#keys(hint.partition), nowMs, 0, "");
      const dueMs = due === null ? null : Number(due);
      if (dueMs !== hint.dueMs) repairs.push(() => this.#index.repair(hint, dueMs, Number(now)));
      if (isFree === 1 && dueMs !== null) ready.push({ partition: hint.partition, dueMs });
    };
    const count = Math.ceil(least / 8) + 8;
    for (let offset = 0, isMore = true; isMore; offset += count) {
      const { hints, horizonMs } = await this.#index.hints(nowMs, offset, count);
      await Promise.all(hints.map(look));
      isMore = horizonMs < Number.POSITIVE_INFINITY && ready.filter(({ dueMs }) => dueMs <= horizonMs).length < least;
    }
    await Promise.all(repairs.map((repair) => repair().catch(() => undefined)));
    return ready.sort((one, other) => one.dueMs - other.dueMs);
  }

  async #look(): ReturnType<StateEngine["health"]> {
    const { id, places } = this.#installation;
    const { connections } = this.#connection;
    const isOwn = await isInstallation(this.#connection, places, id);
    this.#own = isOwn ? connections : null;
    if (!isOwn) return { status: "down", detail: OTHER };
    if (connections !== this.#settings.connections || performance.now() - this.#settings.atMs > SETTINGS_HOLD_MS) {
      const lossy = [...(await lossySettings(this.#connection)).values()];
      this.#settings = { lossy, connections, atMs: performance.now() };
    }
    const { lossy } = this.#settings;
    if (lossy.length === 0) return { status: "ok" };
    const detail = `REDIS_DURABILITY=${this.#durability}: Redis may lose what it acknowledged (${lossy.join("; ")})`;
    return { status: this.#durability === "strict" ? "down" : "degraded", detail };
  }

  /** Whether nothing says that it may be another server than the one that was opened. */
  get #isOwn(): boolean {
    return this.#own === this.#connection.connections;
  }

  /** Behind a connection that was made anew another server may stand. @throws STORAGE_UNAVAILABLE */
  async #requireOwn(): Promise<void> {
    const { connections } = this.#connection;
    if (!(await isInstallation(this.#connection, this.#installation.places, this.#installation.id))) {
      this.#own = null;
      throw new AppError("STORAGE_UNAVAILABLE", { detail: OTHER, retryAfterSeconds: 1 });
    }
    this.#own = connections;
  }

  #keys(partition: string): Record<"head" | "keys" | "values", string> {
    const key = (name: string) => `{${this.#prefix}:${partition}}:${name}`;
    return { head: key("head"), keys: key("keys"), values: key("values") };
  }
}

type Stored = readonly (string | null)[];
type Outcome = "ok" | "late" | "epoch" | "claim" | "version" | "checks";

/** Values lie behind their version and a colon. */
function entryOf(key: string, stored: string | null): StoredEntry | null {
  if (stored === null) return null;
  const colon = stored.indexOf(":");
  return { key, value: stored.slice(colon + 1), version: Number(stored.slice(0, colon)) };
}
