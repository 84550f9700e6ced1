import { normalised } from "../../src/domain/folded-text.js";
import { holdsAt, type MemoryRecord } from "../../src/domain/memory-record.js";
import type { Owner } from "../../src/domain/owner.js";
import { type Clock, systemClock } from "../../src/platform/clock.js";
import { AppError } from "../../src/platform/errors.js";
import type { RecallRequest } from "../../src/ports/memories.js";
import type { MemoryStore, Projected, StoreFields, StoreMarker, StoreSearch } from "../../src/ports/memory-store.js";

const NOTHING_FOUND = { records: [], scores: new Map<string, number>(), vector: null };

/** The collection of memories in maps; likeness by shared words. `failWith` makes every call but recall and health throw. */
export class InMemoryStore implements MemoryStore {
  readonly remote: boolean;
  failWith: AppError | null = null;
  readonly #clock: Clock;
  #owners = new Map<Owner, Map<string, MemoryRecord>>();
  #markers = new Map<Owner, StoreMarker>();
  #ours = false;

  constructor(clock: Clock = systemClock, { remote = false } = {}) {
    this.#clock = clock;
    this.remote = remote;
  }

  /** Loses everything, as a deleted file does. */
  lose(): void {
    this.#owners = new Map();
    this.#markers = new Map();
    this.#ours = false;
  }

  /** A copy to go back to. */
  copy(): () => void {
    const [owners, markers] = [structuredClone(this.#owners), structuredClone(this.#markers)];
    return () => {
      this.#owners = owners;
      this.#markers = markers;
    };
  }

  async recall(owner: Owner, request: RecallRequest) {
    if (this.failWith !== null) return { status: "degraded" as const, found: NOTHING_FOUND };
    const { now } = request;
    const active = this.#all(owner).filter((record) => holdsAt(record, now));
    const scores = new Map(active.map((record) => [record.id, likeness(request.text, record.text)]));
    const near = [...scores].filter(([, score]) => score > 0).sort(([, a], [, b]) => b - a);
    return {
      status: "ok" as const,
      found: { records: active, scores: new Map(near.slice(0, Math.max(request.limit ?? 5, 5))), vector: null },
    };
  }

  async hard(owner: Owner) {
    this.#check();
    return this.#all(owner).filter(({ strength, status }) => strength === "hard" && (status === "active" || status === "review"));
  }

  async similar(owner: Owner, { text, limit, known, signal }: StoreSearch) {
    this.#check(signal);
    return this.#all(owner)
      .filter((record) => holdsAt(record, this.#clock.now()))
      .sort((a, b) => likeness(text, b.text) - likeness(text, a.text))
      .slice(0, limit)
      .flatMap(({ id }) => known.get(id) ?? []);
  }

  async search(owner: Owner, { text, limit, fields, known, signal }: StoreSearch & { readonly fields: StoreFields }) {
    this.#check(signal);
    return this.#all(owner)
      .filter((record) => Object.entries(fields).every(([key, field]) => fits(record, key, field)))
      .map((record) => ({ record, score: likeness(text, record.text) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .flatMap(({ record: { id }, score }) => {
        const record = known.get(id);
        return record === undefined ? [] : [{ record, score }];
      });
  }

  async *all(owner: Owner): AsyncIterable<MemoryRecord> {
    this.#check();
    yield* this.#all(owner);
  }

  async count(owner: Owner) {
    this.#check();
    return this.#all(owner).length;
  }

  async takenBySomebodyElse(owner: Owner, ids: readonly string[]) {
    this.#check();
    const others = [...this.#owners].flatMap(([other, records]) => (other === owner ? [] : [...records.keys()]));
    return new Set(others.filter((id) => ids.includes(id)));
  }

  async marker(owner: Owner) {
    this.#check();
    return this.#markers.get(owner) ?? null;
  }

  async knowsUs() {
    this.#check();
    return this.#ours;
  }

  async announce() {
    this.#check();
    this.#ours = true;
  }

  async project(owner: Owner, { puts, removed, marker }: Projected, options: { signal?: AbortSignal }) {
    this.#check(options.signal);
    const records = this.#owners.get(owner) ?? new Map<string, MemoryRecord>();
    for (const record of puts) records.set(record.id, record);
    for (const id of removed) records.delete(id);
    this.#owners.set(owner, records);
    this.#markers.set(owner, marker);
  }

  async countRecalled(owner: Owner, ids: readonly string[], at: string) {
    this.#check();
    const records = this.#owners.get(owner);
    for (const id of ids) {
      const record = records?.get(id);
      if (record !== undefined) records?.set(id, { ...record, last_recalled_at: at });
    }
  }

  async erase(owner: Owner) {
    this.#check();
    const all = this.#all(owner);
    this.#owners.delete(owner);
    this.#markers.delete(owner);
    return { memories: all.length, history_entries: all.reduce((sum, record) => sum + record.events.length, 0) };
  }

  async residue(owner: Owner) {
    this.#check();
    return this.#all(owner).length + (this.#markers.has(owner) ? 1 : 0);
  }

  async health() {
    return { status: this.failWith === null ? ("ok" as const) : ("down" as const) };
  }

  async close() {}

  #check(signal?: AbortSignal) {
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    if (this.failWith !== null) throw this.failWith;
  }

  #all(owner: Owner): MemoryRecord[] {
    return [...(this.#owners.get(owner)?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

function fits(record: MemoryRecord, key: string, field: StoreFields[string]): boolean {
  const value = fieldOf(record, key);
  const values = Array.isArray(value) ? value : [value];
  if (typeof field === "string") return values.includes(field);
  if ("in" in field) return values.some((each) => field.in.includes(each));
  return "gte" in field ? Number(value) >= field.gte : Number(value) <= field.lte;
}

function fieldOf(record: MemoryRecord, key: string): unknown {
  if (key === "source_session_id") return record.source?.session_id;
  if (key === "valid_from_ts") return secondsOf(record.valid_from);
  if (key === "valid_until_ts") return record.valid_until === null ? Number.MAX_SAFE_INTEGER : secondsOf(record.valid_until);
  return record[key as keyof MemoryRecord];
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
