import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { AppendMemoryOptions, ChangeRecord, MemoryLog, MemoryLogEntry, NewMemoryLogEntry } from "../../ports/memory-log.js";
import type { OwnerLedger } from "../../ports/owner-ledger.js";
import { redacted } from "../journal/memory-log-entries.js";

/** A memory log that is gone with the process: the same contract, durability aside. */
export class InMemoryMemoryLog implements MemoryLog {
  readonly #ledger: Pick<OwnerLedger, "epoch">;
  readonly #logs = new Map<Owner, readonly MemoryLogEntry[]>();

  constructor(ledger: Pick<OwnerLedger, "epoch">) {
    this.#ledger = ledger;
  }

  async append(owner: Owner, entry: NewMemoryLogEntry, options: AppendMemoryOptions): Promise<MemoryLogEntry> {
    if (options.epoch !== undefined && (await this.#ledger.epoch(owner)) !== options.epoch) throw new AppError("OWNER_ERASED");
    const log = this.#logs.get(owner) ?? [];
    const last = log.at(-1)?.seq ?? 0;
    if (last !== options.expectedSeq) throw new AppError("MEMORIES_CHANGED");
    const kept = structuredClone({ v: 1 as const, seq: last + 1, at: options.now.toISOString(), ...entry });
    this.#logs.set(owner, [...log, kept]);
    return structuredClone(kept);
  }

  async *read(owner: Owner, options: { readonly fromSeq?: number; readonly signal?: AbortSignal } = {}): AsyncIterable<MemoryLogEntry> {
    for (const entry of this.#logs.get(owner) ?? []) {
      options.signal?.throwIfAborted();
      if (entry.seq >= (options.fromSeq ?? 1)) yield structuredClone(entry);
    }
  }

  async lastSeq(owner: Owner): Promise<number> {
    return this.#logs.get(owner)?.at(-1)?.seq ?? 0;
  }

  async redact(owner: Owner, change: ChangeRecord): Promise<void> {
    const log = this.#logs.get(owner);
    if (log !== undefined)
      this.#logs.set(
        owner,
        log.map((entry) => redacted(entry, change)),
      );
  }

  async *owners(): AsyncIterable<Owner> {
    yield* [...this.#logs.keys()];
  }

  async erase(owner: Owner): Promise<number> {
    const entries = this.#logs.get(owner)?.length ?? 0;
    this.#logs.delete(owner);
    return entries;
  }

  async residue(owner: Owner): Promise<number> {
    return this.#logs.get(owner)?.length ?? 0;
  }

  async close(): Promise<void> {}
}
