import type { MemoryRecord } from "../../src/domain/memory-record.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { LoggedMemories, MemoryChanges } from "../../src/memories/memory-changes.js";
import { withNarrativesOf } from "../../src/memories/owner-logs.js";
import type { NewMemoryLogEntry } from "../../src/ports/memory-log.js";

const ANYBODY = ownerOf("default", "anybody");

/** An owner's log in memory: what a change plans is folded in at once. `entries` holds all of them. */
export class LoggedMemoriesFake implements MemoryChanges {
  readonly entries: NewMemoryLogEntry[] = [];
  readonly records = new Map<string, MemoryRecord>();
  readonly #removed = new Set<string>();
  #cursor: string | null = null;
  /** Fails the next append, before anything is kept. */
  failing = false;

  async known(_owner: Owner): Promise<LoggedMemories> {
    return { records: new Map(this.records), happenedCursor: this.#cursor, isRemoved: (id) => this.#removed.has(id) };
  }

  async change<T>(
    owner: Owner,
    plan: (memories: LoggedMemories) => Promise<{ readonly entry: NewMemoryLogEntry | null; readonly result: T }>,
  ): Promise<{ readonly result: T }> {
    const { entry: planned, result } = await plan(await this.known(owner));
    if (planned !== null) {
      const entry = withNarrativesOf(planned, this.records);
      if (this.failing) {
        this.failing = false;
        throw new Error("the disk is full");
      }
      this.entries.push(entry);
      for (const put of entry.puts) {
        this.records.set(put.id, put);
        this.#removed.delete(put.id);
      }
      for (const id of entry.removed) {
        this.records.delete(id);
        this.#removed.add(id);
      }
      if (entry.happened_cursor !== undefined) this.#cursor = entry.happened_cursor;
    }
    return { result };
  }

  /** As a forgetting takes it away. */
  async forget(id: string): Promise<void> {
    await this.change(ANYBODY, async () => ({ entry: { kind: "forget", turn: null, puts: [], removed: [id] }, result: null }));
  }
}
