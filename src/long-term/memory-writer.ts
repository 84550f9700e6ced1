import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import type { OwnerLedger } from "../owner-ledger.js";
import { isAny, type MemoryPoints } from "./memory-points.js";
import type { Changes } from "./reconcile.js";
import { type MemoryPayload, type MemoryRecord, toPayload } from "./record.js";
import { textHash } from "./same-statement.js";

export interface WriterParts {
  readonly points: MemoryPoints;
  readonly ledger: Pick<OwnerLedger, "addTombstone">;
  /** Goes into each payload. */
  readonly embedderId: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
  /** Through Mem0; insert only. */
  add(owner: Owner, payload: MemoryPayload, vector: readonly number[]): Promise<void>;
}

/** Writes what the rules decided, and believes it when it was read back. The caller holds the owner's lock. */
export class MemoryWriter {
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * New memories first, then what changes of old ones, then what is forgotten: cut off anywhere, a repetition completes it.
   * @throws LONG_TERM_MEMORY_UNAVAILABLE when something can't be read back as it was written
   */
  async commit(owner: Owner, changes: Pick<Changes, "created" | "updated">, signal: AbortSignal): Promise<void> {
    const { points, embedderId } = this.#parts;
    const vectors =
      changes.created.length === 0
        ? []
        : await this.#parts.embed(
            changes.created.map((record) => record.text),
            signal,
          );
    for (const [index, record] of changes.created.entries()) {
      signal.throwIfAborted();
      await this.#parts.add(owner, toPayload(owner, record, embedderId), vectors[index] ?? []);
    }
    for (const record of changes.updated) {
      signal.throwIfAborted();
      await points.setPayload(owner, record.id, mutablePart(toPayload(owner, record, embedderId)));
    }
    await this.#verify(owner, changes);
  }

  async #verify(owner: Owner, changes: Pick<Changes, "created" | "updated">): Promise<void> {
    const expected = [...changes.created, ...changes.updated];
    const found = new Map(
      (
        await this.#parts.points.retrieve(
          owner,
          expected.map((record) => record.id),
        )
      ).map((record) => [record.id, record]),
    );
    const missing = expected.filter((record) => {
      const stored = found.get(record.id);
      return (
        stored === undefined ||
        stored.text !== record.text ||
        stored.status !== record.status ||
        stored.superseded_by !== record.superseded_by ||
        stored.seen_count !== record.seen_count
      );
    });
    if (missing.length > 0)
      throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", {
        detail: `${missing.length} of ${expected.length} memories could not be read back.`,
      });
  }

  /**
   * Forgets records together with the older versions that they superseded: the tombstones first, durably, then the points.
   * `askedIn`: the messages that asked for it; they are hidden with those that it came from.
   * @returns all that went
   */
  async forget(owner: Owner, records: readonly MemoryRecord[], now: Date, askedIn: readonly string[] = []): Promise<MemoryRecord[]> {
    const { points, ledger } = this.#parts;
    const all = await this.withPredecessors(owner, records);
    for (const record of all) {
      const messages = [record.source?.message_id, ...record.confirmed_by, ...askedIn];
      await ledger.addTombstone(owner, {
        memoryId: record.id,
        messageIds: [...new Set(messages.filter((id): id is string => id !== undefined && !id.startsWith("by-hand:")))],
        ...(askedIn.length > 0 && { askedIn }),
        textHash: textHash(owner, record.text),
        at: now.toISOString(),
      });
    }
    const ids = all.map((record) => record.id);
    if (ids.length > 0) await points.delete(owner, { must: [{ has_id: ids }] });
    if ((await points.retrieve(owner, ids)).length > 0)
      throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: "What was deleted is still there." });
    return all;
  }

  /** The records and all that they superseded, directly or through others. */
  async withPredecessors(owner: Owner, records: readonly MemoryRecord[]): Promise<MemoryRecord[]> {
    const all = new Map(records.map((record) => [record.id, record]));
    let newest = [...all.keys()];
    while (newest.length > 0) {
      const older = await this.#parts.points.collect(owner, { must: [isAny("superseded_by", newest)] }, { count: 0 });
      const unknown = older.filter((record) => !all.has(record.id));
      for (const record of unknown) all.set(record.id, record);
      newest = unknown.map((record) => record.id);
    }
    return [...all.values()];
  }
}

/** What may change without touching text, vector or owner. */
function mutablePart(payload: MemoryPayload): Partial<MemoryPayload> {
  const { v: _v, memory_id: _id, user_id: _owner, data: _text, embedder: _embedder, created_at: _created, ...mutable } = payload;
  return mutable;
}
