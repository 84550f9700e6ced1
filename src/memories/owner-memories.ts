import type { MemoryRecord } from "../domain/memory-record.js";
import { type MemoryLogEntry, type MemoryLogTurn, type MemoryRequest, NOBODY } from "../ports/memory-log.js";

/** What the log says of a turn that was read. */
export interface PlannedTurn {
  readonly turn: MemoryLogTurn;
  readonly puts: readonly string[];
  readonly removed: readonly string[];
  readonly dropped: Readonly<Record<string, number>>;
}

/** What the log says of a request with an idempotency key. */
export interface StatedRequest {
  readonly hash: string;
  readonly atMs: number;
  /** What it stated, by place. */
  readonly memories: ReadonlyMap<number, string>;
}

/** How long a key is kept. */
const KEY_MS = 24 * 60 * 60 * 1000;

/** An owner's memories as their log says: the fold of its entries. */
export class OwnerMemories {
  readonly #records = new Map<string, MemoryRecord>();
  /** By message. */
  readonly #turns = new Map<string, PlannedTurn>();
  /** Those that were left to be read later, by message. */
  readonly #left = new Map<string, MemoryLogTurn>();
  /** Id → the entry that changed it last, but for when it was recalled. */
  readonly #changedAt = new Map<string, number>();
  readonly #removed = new Map<string, number>();
  /** By id. */
  readonly #requests = new Map<string, StatedRequest>();
  #seq = 0;
  #changedSeq = 0;
  #happenedCursor: string | null = null;
  #holdsRemovedTexts = false;

  /** The last entry that is folded in. */
  get seq(): number {
    return this.#seq;
  }

  /** The last entry that the store has to follow. When a memory was recalled it is told by itself. */
  get changedSeq(): number {
    return this.#changedSeq;
  }

  /** By id. */
  get records(): ReadonlyMap<string, MemoryRecord> {
    return this.#records;
  }

  /** Where what the domain reports goes on; null: from its beginning. */
  get happenedCursor(): string | null {
    return this.#happenedCursor;
  }

  /** True while the log still holds words of memories that are no more: a redaction that did not come about. */
  get holdsRemovedTexts(): boolean {
    return this.#holdsRemovedTexts;
  }

  fold(entry: MemoryLogEntry): void {
    const isFollowed = entry.kind !== "recalled";
    for (const record of entry.puts) {
      this.#records.set(record.id, record);
      if (isFollowed) this.#changedAt.set(record.id, entry.seq);
      this.#removed.delete(record.id);
    }
    for (const id of entry.removed) {
      if (this.#records.delete(id)) this.#holdsRemovedTexts = true;
      this.#changedAt.delete(id);
      this.#removed.set(id, entry.seq);
    }
    if (entry.kind === "turn" && entry.turn !== null) this.#foldTurn(entry, entry.turn);
    if (entry.request !== undefined) this.#foldRequest(entry.request, Date.parse(entry.at));
    if (entry.happened_cursor !== undefined) this.#happenedCursor = entry.happened_cursor;
    if (isFollowed && entry.puts.length + entry.removed.length > 0) this.#changedSeq = entry.seq;
    this.#seq = entry.seq;
  }

  /** What a message gave that changes nothing stands in no entry: another process, or this one after a start, would read it again. */
  foundNothing(turn: MemoryLogTurn): void {
    this.#turns.set(turn.message_id, { turn, puts: [], removed: [], dropped: {} });
  }

  #foldTurn({ puts, removed, dropped = {} }: MemoryLogEntry, turn: MemoryLogTurn): void {
    this.#turns.set(turn.message_id, { turn, puts: puts.map(({ id }) => id), removed, dropped });
    if (turn.reader === NOBODY) this.#left.set(turn.message_id, turn);
    else this.#left.delete(turn.message_id);
  }

  #foldRequest({ id, hash, place, memory_id }: MemoryRequest, atMs: number): void {
    const before = this.request(id, new Date(atMs));
    this.#requests.set(id, { hash, atMs: before?.atMs ?? atMs, memories: new Map([...(before?.memories ?? []), [place, memory_id]]) });
  }

  /** Undefined where there is none, or none any more: 24 hours after its first statement. */
  request(id: string, now: Date): StatedRequest | undefined {
    const request = this.#requests.get(id);
    return request !== undefined && request.atMs > now.getTime() - KEY_MS ? request : undefined;
  }

  /** False too for a turn that was left to be read later. */
  isRead(messageId: string): boolean {
    return this.#turns.has(messageId) && !this.#left.has(messageId);
  }

  /** Turns that were left to be read later, oldest first. */
  get left(): readonly MemoryLogTurn[] {
    return [...this.#left.values()];
  }

  /** Turns that were read. */
  get read(): readonly MemoryLogTurn[] {
    return [...this.#turns.values()].flatMap(({ turn }) => (this.#left.has(turn.message_id) ? [] : [turn]));
  }

  /** Says that the log was redacted: records as `change` makes them, and no words of what is no more. */
  redacted(change: (record: MemoryRecord) => MemoryRecord | null = (record) => record): void {
    for (const record of [...this.#records.values()]) this.#records.set(record.id, change(record) ?? record);
    this.#holdsRemovedTexts = false;
  }

  /** Undefined where the turn was neither read yet nor left to be read. */
  planned(messageId: string): PlannedTurn | undefined {
    return this.#turns.get(messageId);
  }

  /** What the store has to follow of what changed behind an entry. */
  since(seq: number): { readonly puts: readonly MemoryRecord[]; readonly removed: readonly string[] } {
    return {
      puts: [...this.#records.values()].filter(({ id }) => (this.#changedAt.get(id) ?? 0) > seq),
      removed: [...this.#removed].filter(([, at]) => at > seq).map(([id]) => id),
    };
  }

  /** Ids of all records, and of those that are no more. */
  get everyId(): readonly string[] {
    return [...this.#records.keys(), ...this.#removed.keys()];
  }

  /** Ids that were there and are no more. */
  isRemoved(id: string): boolean {
    return this.#removed.has(id);
  }

  /** Records, and all that they superseded, directly or through others. */
  withPredecessors(records: readonly MemoryRecord[]): MemoryRecord[] {
    const all = new Map(records.map((record) => [record.id, record]));
    for (let size = -1; size !== all.size; ) {
      size = all.size;
      for (const record of this.#records.values())
        if (record.superseded_by !== null && all.has(record.superseded_by)) all.set(record.id, record);
    }
    return [...all.values()];
  }
}
