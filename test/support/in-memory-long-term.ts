import { AppError } from "../../src/errors.js";
import { byHand, refuseUnfit } from "../../src/long-term/by-hand.js";
import { CONCIERGE_CATEGORIES } from "../../src/long-term/categories.js";
import { eventsOf } from "../../src/long-term/memory-events.js";
import { listMemories, selectionOf } from "../../src/long-term/memory-listing.js";
import type { MemoryPoints } from "../../src/long-term/memory-points.js";
import { patched } from "../../src/long-term/patch.js";
import { PROFILE_DEFAULTS, profileOf } from "../../src/long-term/profile.js";
import { topStanding } from "../../src/long-term/ranking.js";
import { type Changes, type ReconcileOptions, reconcile, reconcileClaims, resettle } from "../../src/long-term/reconcile.js";
import { holdsAt, type MemoryRecord, memoryOf, recordOf } from "../../src/long-term/record.js";
import { normalised, textHash } from "../../src/long-term/same-statement.js";
import { ended } from "../../src/long-term/slots.js";
import type {
  LongTermMemory,
  Memory,
  MemoryOperation,
  MemoryPatch,
  MemoryQuery,
  MemorySearch,
  MemorySource,
  NewStatement,
  RecallRequest,
  RecallResult,
  RestorableMemory,
} from "../../src/long-term.js";
import type { Owner } from "../../src/owner.js";
import type { Tombstone } from "../../src/owner-ledger.js";
import { type Clock, systemClock } from "../../src/platform/clock.js";
import { derivedId, newId } from "../../src/platform/ids.js";
import type { Filter } from "../../src/vectors.js";

const categoryOrder = CONCIERGE_CATEGORIES.map((category) => category.name);

/**
 * Long-term memory in maps, for tests of everything that stands on the port: the real rules, likeness by shared words.
 * `failWith` makes every call but recall and health throw, and recall degraded.
 */
export class InMemoryLongTerm implements LongTermMemory {
  failWith: AppError | null = null;
  readonly #clock: Clock;
  readonly #owners = new Map<Owner, { records: Map<string, MemoryRecord>; tombstones: Tombstone[] }>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  async recall(owner: Owner, request: RecallRequest): Promise<RecallResult> {
    if (this.failWith !== null) return { status: "degraded", memories: [], profile: "" };
    const { now } = request;
    const active = this.#all(owner).filter((record) => holdsAt(record, now));
    const hard = active.filter((record) => record.strength === "hard");
    const soft = active.filter((record) => record.strength === "soft" && record.type !== "episodic");
    const scores = new Map(active.map((record) => [record.id, likeness(request.text, record.text)]));
    const near = active
      .filter((record) => (scores.get(record.id) ?? 0) > 0)
      .sort((a, b) => (scores.get(b.id) ?? 0) - (scores.get(a.id) ?? 0));
    const standing = soft.filter((record) => record.valid_until === null);
    const trip = soft.filter((record) => record.valid_until !== null);
    const chosen = [
      ...hard,
      ...trip,
      ...topStanding(standing, 12, now, { halfLifeDays: 180, categoryOrder }),
      ...near.slice(0, request.limit ?? 5),
    ];
    const memories = [...new Set(chosen)].map(({ id, text, category, strength, subject, source, created_at }) => ({
      id,
      text,
      category,
      strength,
      subject,
      score: (scores.get(id) ?? 0) > 0 ? (scores.get(id) ?? null) : null,
      source: source === null ? null : { session_id: source.session_id, turn: source.turn, message_id: source.message_id },
      created_at,
    }));
    return {
      status: memories.length === 0 ? "empty" : "ok",
      memories,
      profile: profileOf(hard, standing, { ...PROFILE_DEFAULTS, categoryOrder }),
    };
  }

  async constraints(
    owner: Owner,
    options: { now: Date; categories?: readonly string[]; signal?: AbortSignal },
  ): Promise<readonly Memory[]> {
    this.#check(options.signal);
    return this.#all(owner)
      .filter((record) => record.strength === "hard" && holdsAt(record, options.now))
      .filter((record) => options.categories?.includes(record.category) ?? true)
      .map(memoryOf);
  }

  async related(owner: Owner, text: string, options: { limit: number; signal?: AbortSignal }): Promise<readonly Memory[]> {
    this.#check(options.signal);
    return this.#all(owner)
      .filter((record) => holdsAt(record, this.#clock.now()))
      .sort((a, b) => likeness(text, b.text) - likeness(text, a.text))
      .slice(0, options.limit)
      .map(memoryOf);
  }

  async apply(owner: Owner, operations: readonly MemoryOperation[], options: { now: Date; signal?: AbortSignal }) {
    this.#check(options.signal);
    const changes = reconcile(this.#all(owner), operations, this.#rules(owner, options.now));
    this.#commit(owner, changes);
    const going = this.#all(owner).filter((record) => changes.forgotten.includes(record.id));
    return { ...changes.outcome, forgotten: this.#forget(owner, going, options.now).map((record) => record.id) };
  }

  async add(owner: Owner, said: NewStatement, options: { id?: string; now: Date; source?: MemorySource }): Promise<Memory> {
    this.#check();
    const { statement, review } = byHand(said, CONCIERGE_CATEGORIES);
    const id = options.id ?? newId();
    const claim = { id, statedAt: options.now.toISOString(), source: options.source ?? null, statement, review, replaces: null };
    const changes = reconcileClaims(this.#all(owner), [claim], { ...this.#rules(owner, options.now), minConfidence: 0 });
    this.#commit(owner, changes);
    return memoryOf(this.#find(owner, changes.resolved.get(id) ?? ""));
  }

  async get(owner: Owner, id: string, options: { signal?: AbortSignal } = {}): Promise<Memory> {
    this.#check(options.signal);
    return memoryOf(this.#find(owner, id));
  }

  async list(owner: Owner, query: MemoryQuery) {
    this.#check(query.signal);
    const page = await listMemories(this.#asPoints(owner), owner, query, this.#clock.now());
    return { data: page.data.map(memoryOf), nextCursor: page.nextCursor };
  }

  async search(owner: Owner, query: MemorySearch) {
    this.#check(query.signal);
    const { fields, keep } = selectionOf(query, this.#clock.now());
    return this.#all(owner)
      .filter((record) => keep(record) && Object.entries(fields).every(([key, field]) => fits(record, key, field)))
      .map((record) => ({ ...memoryOf(record), score: likeness(query.text, record.text) }))
      .filter((memory) => memory.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, query.limit ?? 20);
  }

  async patch(owner: Owner, id: string, patch: MemoryPatch, options: { now: Date }): Promise<Memory> {
    this.#check();
    refuseUnfit(patch);
    const before = this.#find(owner, id);
    const edited = patched(before, patch, options.now);
    const at = options.now.toISOString();
    const replaces = edited.text !== before.text;
    const after: MemoryRecord = replaces
      ? { ...edited, id: newId(), created_at: at, source: null, confirmed_by: [], events: [{ at, event: "edited" }] }
      : edited;
    this.#commit(owner, resettle(this.#all(owner), [after], this.#rules(owner, options.now)));
    if (replaces) this.#of(owner).records.set(id, ended(before, at, after.id, options.now));
    return memoryOf(this.#find(owner, after.id));
  }

  async approve(owner: Owner, id: string, options: { now: Date }): Promise<Memory> {
    this.#check();
    const record = this.#find(owner, id);
    if (record.status !== "review") return memoryOf(record);
    const at = options.now.toISOString();
    const approved = { ...record, status: "active", explicit: true, events: [...record.events, { at, event: "approved" }] } as const;
    this.#commit(owner, resettle(this.#all(owner), [approved], this.#rules(owner, options.now)));
    return memoryOf(this.#find(owner, id));
  }

  async history(owner: Owner, id: string) {
    this.#check();
    return eventsOf(this.#withPredecessors(owner, [this.#find(owner, id)]), this.#clock.now());
  }

  async forget(owner: Owner, id: string, options: { now: Date }): Promise<readonly Memory[]> {
    this.#check();
    return this.#forget(owner, [this.#find(owner, id)], options.now).map(memoryOf);
  }

  async forgetAll(owner: Owner, options: { now: Date }): Promise<number> {
    this.#check();
    return this.#forget(owner, this.#all(owner), options.now).length;
  }

  async detachSession(owner: Owner, sessionId: string, how: "delete" | "drop-quotes"): Promise<number> {
    this.#check();
    const { records } = this.#of(owner);
    const from = this.#all(owner).filter((record) => record.source?.session_id === sessionId);
    for (const record of from) {
      if (how === "delete") records.delete(record.id);
      else if (record.source !== null) records.set(record.id, { ...record, source: { ...record.source, quote: "" } });
    }
    return from.length;
  }

  async *all(owner: Owner): AsyncIterable<Memory> {
    this.#check();
    for (const record of this.#all(owner)) yield memoryOf(record);
  }

  async restore(owner: Owner, memories: readonly RestorableMemory[]): Promise<number> {
    this.#check();
    const { records, tombstones } = this.#of(owner);
    const taken = new Set([...this.#owners].flatMap(([other, of]) => (other === owner ? [] : [...of.records.keys()])));
    const own = (id: string) => (taken.has(id) ? derivedId("memory", owner, id) : id);
    const fresh = memories
      .map((memory) => ({
        ...recordOf(memory),
        id: own(memory.id),
        superseded_by: memory.superseded_by === null ? null : own(memory.superseded_by),
      }))
      .filter((record) => !records.has(record.id) && !tombstones.some((tombstone) => tombstone.memoryId === record.id));
    for (const record of fresh) records.set(record.id, record);
    return fresh.length;
  }

  async erase(owner: Owner) {
    this.#check();
    const all = this.#all(owner);
    this.#owners.delete(owner);
    return { memories: all.length, history_entries: all.reduce((sum, record) => sum + record.events.length, 0) };
  }

  async residue(owner: Owner): Promise<number> {
    this.#check();
    return this.#all(owner).length;
  }

  async health() {
    return { status: this.failWith === null ? ("ok" as const) : ("down" as const) };
  }

  async close(): Promise<void> {}

  #check(signal?: AbortSignal) {
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    if (this.failWith !== null) throw this.failWith;
  }

  #of(owner: Owner) {
    const of = this.#owners.get(owner) ?? { records: new Map<string, MemoryRecord>(), tombstones: [] };
    this.#owners.set(owner, of);
    return of;
  }

  #all(owner: Owner): MemoryRecord[] {
    return [...(this.#owners.get(owner)?.records.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #find(owner: Owner, id: string): MemoryRecord {
    const record = this.#owners.get(owner)?.records.get(id);
    if (record === undefined) throw new AppError("MEMORY_NOT_FOUND");
    return record;
  }

  #commit(owner: Owner, changes: Changes) {
    for (const record of [...changes.created, ...changes.updated]) this.#of(owner).records.set(record.id, record);
  }

  #forget(owner: Owner, records: readonly MemoryRecord[], now: Date): MemoryRecord[] {
    const all = this.#withPredecessors(owner, records);
    for (const record of all) {
      const messageIds = [...(record.source === null ? [] : [record.source.message_id]), ...record.confirmed_by];
      this.#of(owner).tombstones.push({ memoryId: record.id, messageIds, textHash: textHash(owner, record.text), at: now.toISOString() });
      this.#of(owner).records.delete(record.id);
    }
    return all;
  }

  #withPredecessors(owner: Owner, records: readonly MemoryRecord[]): MemoryRecord[] {
    const all = new Map(records.map((record) => [record.id, record]));
    for (let size = -1; size !== all.size; ) {
      size = all.size;
      for (const record of this.#all(owner)) if (record.superseded_by !== null && all.has(record.superseded_by)) all.set(record.id, record);
    }
    return [...all.values()];
  }

  #rules(owner: Owner, now: Date): ReconcileOptions {
    const hash = (text: string) => textHash(owner, text);
    return { now, minConfidence: 0.6, tombstones: this.#owners.get(owner)?.tombstones ?? [], hash, categories: CONCIERGE_CATEGORIES };
  }

  /** The two reads that a listing makes. */
  #asPoints(owner: Owner): MemoryPoints {
    const matching = (filter: Filter) =>
      this.#all(owner).filter((record) =>
        (filter.must ?? []).every((condition) => {
          if (!("key" in condition)) throw new Error("an unknown condition");
          const { key, match, range } = condition;
          if (match !== undefined)
            return fits(record, key, "value" in match ? String(match.value) : { in: ("any" in match ? match.any : []).map(String) });
          return range !== undefined && inRange(fieldOf(record, key) as number, range);
        }),
      );
    const latest = (_owner: Owner, filter: Filter, _by: string, limit: number) =>
      Promise.resolve(
        matching(filter)
          .sort((a, b) => secondsOf(b.stated_at) - secondsOf(a.stated_at))
          .slice(0, limit),
      );
    return { collect: async (_owner: Owner, filter: Filter) => matching(filter), latest } as unknown as MemoryPoints;
  }
}

function fieldOf(record: MemoryRecord, key: string): unknown {
  if (key === "stated_at_ts") return secondsOf(record.stated_at);
  if (key === "valid_from_ts") return secondsOf(record.valid_from);
  if (key === "valid_until_ts") return record.valid_until === null ? Number.MAX_SAFE_INTEGER : secondsOf(record.valid_until);
  return record[key as keyof MemoryRecord];
}

function fits(record: MemoryRecord, key: string, field: string | { in: readonly string[] } | { gte: number } | { lte: number }): boolean {
  const value = fieldOf(record, key);
  if (typeof field === "string") return value === field;
  return "in" in field ? field.in.includes(String(value)) : inRange(value as number, field);
}

function inRange(value: number, range: { lt?: number; lte?: number; gt?: number; gte?: number }): boolean {
  const { lt = Infinity, lte = Infinity, gt = -Infinity, gte = -Infinity } = range;
  return value < lt && value <= lte && value > gt && value >= gte;
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

/** Share of the query's words that the text has. */
function likeness(query: string, text: string): number {
  const words = new Set(
    normalised(query)
      .split(" ")
      .filter((word) => word !== ""),
  );
  const there = new Set(normalised(text).split(" "));
  return words.size === 0 ? 0 : [...words].filter((word) => there.has(word)).length / words.size;
}
