import { AppError } from "../../src/platform/errors.js";
import type {
  Commit,
  CommitResult,
  DuePartition,
  EngineManifest,
  PartitionEntry,
  PartitionRead,
  PartitionsPage,
  ReadQuery,
  StateEngine,
} from "../../src/state/engine.js";

/** `lostReply`: of the n-th commit alone. `killed`: before the n-th commit, and from then on nothing goes through. From 1. */
export interface Cut {
  readonly lostReply?: number;
  readonly killed?: number;
}

/** An engine as one process sees it that is cut off from it once. */
export class CutEngine implements StateEngine {
  readonly manifest: EngineManifest;
  commits = 0;
  reads = 0;
  readonly #engine: StateEngine;
  readonly #cut: Cut;
  #dead = false;

  constructor(engine: StateEngine, cut: Cut = {}, manifest: Partial<EngineManifest> = {}) {
    this.#engine = engine;
    this.#cut = cut;
    this.manifest = { ...engine.manifest, ...manifest };
  }

  async read(partition: string, query: ReadQuery, options?: { readonly signal?: AbortSignal }): Promise<PartitionRead> {
    this.reads += 1;
    this.#check();
    return this.#engine.read(partition, query, options);
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    this.commits += 1;
    const { puts = [], deletes = [] } = commit;
    if (puts.length + deletes.length > this.manifest.maxOperations) throw new AppError("COMMIT_TOO_LARGE");
    this.#dead ||= this.commits === this.#cut.killed;
    this.#check();
    const result = await this.#engine.commit(partition, commit);
    if (this.commits === this.#cut.lostReply) throw new AppError("STORAGE_UNAVAILABLE");
    return result;
  }

  async partitions(page: PartitionsPage): Promise<readonly PartitionEntry[]> {
    this.#check();
    return this.#engine.partitions(page);
  }

  async due(nowMs: number, limit: number, leaseMs: number): Promise<readonly DuePartition[]> {
    this.#check();
    return this.#engine.due(nowMs, limit, leaseMs);
  }

  async erase(partition: string): Promise<number> {
    this.#check();
    return this.#engine.erase(partition);
  }

  async health(): Promise<{ readonly status: "ok" }> {
    return { status: "ok" };
  }

  async close(): Promise<void> {}

  #check(): void {
    if (this.#dead) throw new Error("killed");
  }
}

/** All that is in the engine, as one text: what it does not hold is nowhere. */
export async function contentsOf(engine: StateEngine): Promise<string> {
  const found: string[] = [];
  for (const { partition } of await engine.partitions({ limit: 10_000 })) {
    const { ranges } = await engine.read(partition, { ranges: [{ from: "", to: "\u{10FFFF}" }] });
    for (const { key, value } of ranges[0] ?? []) found.push(`${partition} ${key} ${value}`);
  }
  return found.join("\n");
}
