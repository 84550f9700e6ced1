import { AppError } from "../../../src/platform/errors.js";
import type {
  Commit,
  CommitResult,
  DuePartition,
  EngineManifest,
  KeyRange,
  PartitionEntry,
  PartitionRead,
  PartitionsPage,
  ReadQuery,
  StateEngine,
  StoredEntry,
} from "../../../src/state/engine.js";

interface Partition {
  version: number;
  epoch: number;
  dueAtMs: number | null;
  token: string | null;
  claimedUntilMs: number;
  readonly entries: Map<string, StoredEntry>;
  /** Answers by the commits' ids, the oldest first. */
  readonly answers: Map<string, CommitResult>;
}

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** An engine of one's own, of nothing but the port and a Map. */
export class MapEngine implements StateEngine {
  readonly manifest: EngineManifest = {
    name: "a Map",
    durability: "none",
    maxValueBytes: 900 * 1024,
    maxOperations: 100,
    maxCommitBytes: 2_000_000,
    shared: false,
  };
  readonly #partitions = new Map<string, Partition>();
  #claims = 0;

  async read(partition: string, { keys = [], ranges = [] }: ReadQuery, { signal }: { signal?: AbortSignal } = {}): Promise<PartitionRead> {
    if (signal?.aborted === true) throw new AppError("ABORTED", { cause: signal.reason });
    const { version, epoch, dueAtMs, entries } = this.#partition(partition);
    const found = new Map([...entries].filter(([key]) => keys.includes(key)));
    return { version, epoch, dueAtMs, entries: found, ranges: ranges.map((range) => inRange(entries, range)), nowMs: Date.now() };
  }

  async commit(name: string, commit: Commit): Promise<CommitResult> {
    this.#refuseTooLarge(commit);
    const partition = this.#partition(name);
    const known = partition.answers.get(commit.id);
    if (known !== undefined) return known;
    const refusal = refusalOf(partition, commit);
    if (refusal !== null) return { ok: false, ...refusal, version: partition.version, epoch: partition.epoch };
    partition.version += 1;
    if (commit.raisesEpoch === true) partition.epoch += 1;
    for (const key of commit.deletes ?? []) partition.entries.delete(key);
    for (const { key, value } of commit.puts ?? []) partition.entries.set(key, { key, value, version: partition.version });
    if (commit.dueAtMs !== undefined) partition.dueAtMs = commit.dueAtMs;
    if (commit.dueByMs !== undefined) partition.dueAtMs = Math.min(partition.dueAtMs ?? commit.dueByMs, commit.dueByMs);
    if (commit.claim !== undefined) partition.claimedUntilMs = Date.now() + commit.claim.leaseMs;
    if (commit.claim?.leaseMs === 0) partition.token = null;
    const answer: CommitResult = { ok: true, version: partition.version, epoch: partition.epoch };
    partition.answers.set(commit.id, answer);
    for (const id of [...partition.answers.keys()].slice(0, -16)) partition.answers.delete(id);
    this.#partitions.set(name, partition);
    return answer;
  }

  async partitions({ key, after = "", limit }: PartitionsPage): Promise<readonly PartitionEntry[]> {
    return [...this.#partitions]
      .map(([partition, { entries }]) => ({ partition, value: key === undefined ? "" : entries.get(key)?.value }))
      .filter((entry): entry is PartitionEntry => entry.value !== undefined && byBytes(entry.partition, after) > 0)
      .sort((one, other) => byBytes(one.partition, other.partition))
      .slice(0, limit);
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    return [...this.#partitions]
      .flatMap(([name, partition]) =>
        partition.dueAtMs === null || partition.dueAtMs > nowMs || isClaimed(partition)
          ? []
          : [{ name, partition, dueAtMs: partition.dueAtMs }],
      )
      .sort((one, other) => one.dueAtMs - other.dueAtMs)
      .slice(0, Math.min(limit, 1_000))
      .map(({ name, partition, dueAtMs }) => {
        if (leaseMs === 0) return { partition: name, dueAtMs, token: "" };
        this.#claims += 1;
        partition.token = String(this.#claims);
        partition.claimedUntilMs = Date.now() + leaseMs;
        return { partition: name, dueAtMs, token: partition.token };
      });
  }

  async erase(name: string): Promise<number> {
    const partition = this.#partition(name);
    const { size } = partition.entries;
    partition.version += 1;
    partition.epoch += 1;
    partition.dueAtMs = null;
    partition.token = null;
    partition.entries.clear();
    this.#partitions.set(name, partition);
    return size;
  }

  async health(): Promise<{ readonly status: "ok" }> {
    return { status: "ok" };
  }

  async close(): Promise<void> {}

  #partition(name: string): Partition {
    const empty = { version: 0, epoch: 0, dueAtMs: null, token: null, claimedUntilMs: 0, entries: new Map(), answers: new Map() };
    return this.#partitions.get(name) ?? empty;
  }

  #refuseTooLarge({ puts = [], deletes = [] }: Commit): void {
    const sizes = puts.map(({ value }) => Buffer.byteLength(value));
    const keys = [...puts.map(({ key }) => key), ...deletes];
    const bytes = [...sizes, ...keys.map((key) => Buffer.byteLength(key))].reduce((sum, size) => sum + size, 0);
    const { maxOperations, maxValueBytes, maxCommitBytes } = this.manifest;
    if (keys.length > maxOperations || sizes.some((size) => size > maxValueBytes) || bytes > maxCommitBytes)
      throw new AppError("COMMIT_TOO_LARGE");
  }
}

function inRange(entries: ReadonlyMap<string, StoredEntry>, { from, to, limit, reverse = false }: KeyRange): readonly StoredEntry[] {
  const found = [...entries.values()].filter(({ key }) => byBytes(key, from) >= 0 && byBytes(key, to) < 0);
  found.sort((one, other) => (reverse ? byBytes(other.key, one.key) : byBytes(one.key, other.key)));
  return found.slice(0, limit);
}

function refusalOf(partition: Partition, { epoch, claim, version, checks = [] }: Commit) {
  if (epoch !== undefined && epoch !== partition.epoch) return { refused: "epoch", keys: [] } as const;
  if (claim !== undefined && !(isClaimed(partition) && claim.token === partition.token)) return { refused: "claim", keys: [] } as const;
  if (version !== undefined && version !== partition.version) return { refused: "version", keys: [] } as const;
  const keys = checks.filter((check) => (partition.entries.get(check.key)?.version ?? null) !== check.version).map(({ key }) => key);
  return keys.length === 0 ? null : ({ refused: "checks", keys } as const);
}

function isClaimed({ token, claimedUntilMs }: Partition): boolean {
  return token !== null && claimedUntilMs > Date.now();
}
