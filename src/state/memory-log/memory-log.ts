import { LRUCache } from "lru-cache";
import { type EventDataOf, type EventType, eventOf, type OwnerEvent } from "../../domain/event.js";
import { isWaiting, type MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type {
  AppendMemoryOptions,
  ChangeRecord,
  MemoryChangeKind,
  MemoryLog,
  MemoryLogEntry,
  NewMemoryLogEntry,
  ReadMemoryLogOptions,
} from "../../ports/memory-log.js";
import type { OwnersQuery } from "../../ports/owner-activity.js";
import type { Page } from "../../ports/session-store.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { eventPuts, type PublishesEvents, publishing } from "../events/outbox.js";
import { ERASURE_KEY, ownerErased } from "../ledger/ledger-values.js";
import { optimisticChange, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { ownersHolding } from "../owners-holding.js";
import { named, numberKey, ownerPartition } from "../partition.js";
import { jsonOf, partitionPages, partsOf, wholePage, wholeValues } from "../stored-rows.js";
import { memoryLogEntrySchema, redacted } from "./memory-log-entries.js";

const ROWS = "memory-log/";
/**
 * The owner, the seq of the last entry, and how many memories wait: an append, who asks for the last, and who asks for what waits, read no
 * entry.
 */
export const MEMORY_LOG_HEAD = "memory-log-head";

/** Ids of what waits for the owner's word; not there where nothing does. */
const WAITING = "memory-waiting";

/** Rows read at once: so many at first, and then as many as are likely to hold {@link PAGE_CHARS}. */
const PAGE = 200;
const MAX_PAGE = 2_000;
const PAGE_CHARS = 1_000_000;
/** Rows deleted in one commit, and owners listed at once. */
const DELETED = 90;
const OWNERS = 1_000;
const MAX_KNOWN = 10_000;

type StoredHead = readonly [owner: Owner, seq: number, waiting: number];

interface Head {
  readonly seq: number;
  /** Of the head's key: what an append is refused by where another was faster. 0: there is none. */
  readonly version: number;
  /** Ids of memories that wait for the owner's word. */
  readonly waiting: readonly string[];
}

/** Memory logs, an entry a row. */
export class EngineMemoryLog implements MemoryLog {
  readonly #engine: StateEngine;
  readonly #events: PublishesEvents | null;
  /** As last seen: a commit says whether it still is so. */
  readonly #known = new LRUCache<Owner, Head>({ max: MAX_KNOWN });

  /** `events`: what is appended is told there. Default: nobody is told. */
  constructor(engine: StateEngine, events: PublishesEvents | null = null) {
    this.#engine = engine;
    this.#events = events;
  }

  async append(
    owner: Owner,
    entry: NewMemoryLogEntry,
    { expectedSeq, epoch, behindFence, now }: AppendMemoryOptions,
  ): Promise<MemoryLogEntry> {
    const kept: MemoryLogEntry = { v: 1, seq: expectedSeq + 1, at: now.toISOString(), ...entry };
    const events = this.#events === null ? [] : memoryEvents(owner, kept);
    const puts = [...this.#parts(rowKey(kept.seq), kept), ...(kept.seq === 1 ? [named(owner)] : []), ...eventPuts(owner, events)];
    for (let known = this.#known.get(owner); ; known = undefined) {
      const head = known?.seq === expectedSeq ? known : await this.#head(owner, epoch);
      if (head.seq !== expectedSeq) throw new AppError("MEMORIES_CHANGED");
      const fence = behindFence ? [] : [{ key: ERASURE_KEY, version: null }];
      const checks = [{ key: MEMORY_LOG_HEAD, version: head.version === 0 ? null : head.version }, ...fence];
      const publish = () => (events.length > 0 ? this.#events?.publish(owner) : undefined);
      const waiting = waitingAfter(head.waiting, kept);
      const headPut = { key: MEMORY_LOG_HEAD, value: JSON.stringify([owner, kept.seq, waiting.length] satisfies StoredHead) };
      const { rows, gone } = waiting === head.waiting ? UNCHANGED : this.#waitingRows(head.waiting, waiting);
      const commit = { ...(epoch !== undefined && { epoch }), checks, puts: [...puts, headPut, ...rows], deletes: gone };
      const done = await publishing(publish, committed(this.#engine, ownerPartition(owner), commit));
      if (done.ok) {
        this.#known.set(owner, { seq: kept.seq, version: done.version, waiting });
        return structuredClone(kept);
      }
      this.#known.delete(owner);
      if (done.refused === "epoch" || done.keys.includes(ERASURE_KEY)) throw ownerErased();
    }
  }

  async *read(owner: Owner, options: ReadMemoryLogOptions = {}): AsyncIterable<MemoryLogEntry> {
    for await (const { value } of this.#rows(owner, options)) yield parsed(value);
  }

  async lastSeq(owner: Owner): Promise<number> {
    // Where nobody else writes it is as this process left it.
    const known = this.#engine.manifest.shared ? undefined : this.#known.get(owner);
    return (known ?? (await this.#head(owner))).seq;
  }

  /** Entry by entry: what is appended meanwhile is not held up. Again where it was broken off. */
  async redact(owner: Owner, change: ChangeRecord): Promise<void> {
    for await (const { key, value } of this.#rows(owner)) {
      const entry = parsed(value);
      if (redacted(entry, change) !== entry) await this.#redact(owner, key, change);
    }
  }

  waiting(query: OwnersQuery): Promise<Page<Owner>> {
    return ownersHolding(this.#engine, MEMORY_LOG_HEAD, { ...query, together: OWNERS }, (owner, entry) =>
      headOf(entry)[2] > 0 ? owner : null,
    );
  }

  async *owners(): AsyncIterable<Owner> {
    for await (const page of partitionPages(this.#engine, MEMORY_LOG_HEAD, OWNERS)) yield* page.map((entry) => headOf(entry)[0]);
  }

  async erase(owner: Owner): Promise<number> {
    this.#known.delete(owner);
    const query = { keys: [MEMORY_LOG_HEAD], ranges: [{ ...prefixRange(ROWS), limit: DELETED }, prefixRange(WAITING)] };
    for (let erased = 0; ; ) {
      const page = await optimisticCommit(this.#engine, ownerPartition(owner), query, (read) => {
        const [rows = [], waiting = []] = read.ranges;
        const last = rows.length < DELETED;
        const deletes = [...rows, ...waiting].map(({ key }) => key).concat(last ? [MEMORY_LOG_HEAD] : []);
        const nothing = rows.length === 0 && !read.entries.has(MEMORY_LOG_HEAD);
        const commit = nothing ? null : { checks: unchanged(read, MEMORY_LOG_HEAD), deletes };
        return { commit, result: { entries: wholeValues(rows).length, last } };
      });
      erased += page.entries;
      if (page.last) return erased;
    }
  }

  async residue(owner: Owner): Promise<number> {
    let entries = 0;
    for await (const _ of this.#rows(owner)) entries += 1;
    return entries > 0 || (await this.#head(owner)).seq === 0 ? entries : 1;
  }

  /** Without effect: the engine is the caller's. */
  async close(): Promise<void> {}

  async #head(owner: Owner, epoch?: number): Promise<Head> {
    const read = await this.#engine.read(ownerPartition(owner), { keys: [MEMORY_LOG_HEAD], ranges: [prefixRange(WAITING)] });
    if (epoch !== undefined && read.epoch !== epoch) throw new AppError("OWNER_ERASED");
    const entry = read.entries.get(MEMORY_LOG_HEAD);
    const [waits] = wholeValues(read.ranges[0] ?? []);
    const waiting = jsonOf<readonly string[]>(waits) ?? [];
    return entry === undefined ? { seq: 0, version: 0, waiting } : { seq: headOf(entry)[1], version: entry.version, waiting };
  }

  /** Entries whose values are whole, oldest first. */
  async *#rows(owner: Owner, { fromSeq = 1, toSeq, signal }: ReadMemoryLogOptions = {}): AsyncGenerator<StoredEntry> {
    const to = toSeq === undefined ? prefixRange(ROWS).to : rowKey(toSeq + 1);
    for (let from = rowKey(fromSeq), limit = PAGE; ; ) {
      signal?.throwIfAborted();
      const query = { ranges: [{ from, to, limit }] };
      const [rows = []] = (await this.#engine.read(ownerPartition(owner), query, signal && { signal })).ranges;
      const page = wholePage(rows, limit);
      yield* page.rows;
      if (page.next === null) return;
      from = page.next;
      const chars = rows.reduce((sum, { value }) => sum + value.length, 0);
      limit = Math.min(MAX_PAGE, Math.max(PAGE, Math.floor((PAGE_CHARS * rows.length) / chars)));
    }
  }

  #waitingRows(before: readonly string[], after: readonly string[]) {
    const rowsOf = (ids: readonly string[]) => (ids.length === 0 ? [] : this.#parts(WAITING, ids));
    const rows = rowsOf(after);
    const gone = rowsOf(before).slice(rows.length);
    return { rows, gone: gone.map(({ key }) => key) };
  }

  #parts(key: string, value: MemoryLogEntry | readonly string[]): readonly { readonly key: string; readonly value: string }[] {
    return partsOf(key, JSON.stringify(value), this.#engine.manifest.maxValueBytes);
  }

  async #redact(owner: Owner, key: string, change: ChangeRecord): Promise<void> {
    await optimisticChange(this.#engine, ownerPartition(owner), { ranges: [prefixRange(key)] }, (read) => {
      const [rows = []] = read.ranges;
      const [first] = wholeValues(rows);
      const before = first === undefined ? null : parsed(first.value);
      const after = before === null ? null : redacted(before, change);
      if (first === undefined || after === null || after === before) return null;
      const puts = this.#parts(key, after);
      return { checks: [{ key, version: first.version }], puts, deletes: rows.slice(puts.length).map((row) => row.key) };
    });
  }
}

const UNCHANGED = { rows: [], gone: [] };

/** The same array where nothing of it changes. */
function waitingAfter(before: readonly string[], { puts, removed }: Pick<MemoryLogEntry, "puts" | "removed">): readonly string[] {
  const ids = new Set(before);
  for (const record of puts) isWaiting(record) ? ids.add(record.id) : ids.delete(record.id);
  for (const id of removed) ids.delete(id);
  return ids.size === before.length && before.every((id) => ids.has(id)) ? before : [...ids];
}

function rowKey(seq: number): string {
  return `${ROWS}${numberKey(seq)}`;
}

function headOf(row: Pick<StoredEntry, "value">): StoredHead {
  return jsonOf<StoredHead>(row);
}

function parsed(value: string): MemoryLogEntry {
  return memoryLogEntrySchema.parse(JSON.parse(value));
}

/** What these put changes no memory in the user's eyes: where it was kept, how often it was used, what is told of all together. */
const UNTOLD: ReadonlySet<MemoryChangeKind> = new Set(["seed", "recalled", "narrative", "merge"]);

/** What an entry of the memory log tells of to the outside, as its records say what happened to them in it. Pure. */
export function memoryEvents(owner: Owner, entry: MemoryLogEntry): OwnerEvent[] {
  if (UNTOLD.has(entry.kind)) return [];
  const gone = entry.removed.map((id) => eventOf(owner, "memory.forgotten", [id, entry.at], entry.at, { memory_id: id }));
  return [...entry.puts.flatMap((record) => eventsOfRecord(owner, entry, record)), ...gone];
}

function eventsOfRecord(owner: Owner, { at, kind }: MemoryLogEntry, record: MemoryRecord): OwnerEvent[] {
  const types = new Set<EventType>();
  if (kind === "import" && isCurrent(record)) types.add(record.status === "review" ? "memory.to_confirm" : "memory.added");
  else
    for (const event of record.events) {
      const type = event.at === at ? typeOf(event.event, record) : null;
      if (type !== null) types.add(type);
    }
  const told = [...types].map((type) => eventOf(owner, type, [record.id, at], at, dataOf(type, record)));
  // It waits for as long as it stands in the record: told once for each.
  const { pending_change: change } = record;
  if (change === null || types.has("memory.to_confirm")) return told;
  return [...told, eventOf(owner, "memory.to_confirm", [record.id, change.stated_at], at, dataOf("memory.to_confirm", record))];
}

function isCurrent({ status }: MemoryRecord): boolean {
  return status === "active" || status === "review";
}

function typeOf(event: MemoryRecord["events"][number]["event"], record: MemoryRecord): EventType | null {
  switch (event) {
    case "added":
      return record.status === "review" ? "memory.to_confirm" : "memory.added";
    case "edited":
      return record.events.length === 1 ? "memory.added" : "memory.confirmed";
    case "confirmed":
    case "approved":
      return "memory.confirmed";
    case "superseded":
    case "expired":
      return "memory.superseded";
    case "forgotten":
      return null;
  }
}

function dataOf(type: EventType, { id, strength, source, superseded_by }: MemoryRecord): EventDataOf["memory.added"] {
  return {
    memory_id: id,
    strength,
    ...(source !== null && { session_id: source.session_id, turn: source.turn, message_id: source.message_id }),
    ...(type === "memory.superseded" && { superseded_by }),
  };
}
