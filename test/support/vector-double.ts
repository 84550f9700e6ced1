import type {
  Condition,
  Filter,
  Payload,
  Point,
  PointId,
  ScoredPoint,
  SparseVector,
  StoredPoint,
  VectorClient,
  VectorStore,
} from "../../src/ports/vectors.js";

/** One call that was made, for tests that look at what was sent. */
export interface RecordedCall {
  readonly call: keyof VectorClient;
  readonly collection: string;
  readonly args: unknown;
}

interface Collection {
  readonly size: number;
  readonly indexes: Map<string, unknown>;
  readonly points: Map<PointId, { vector: { [name: string]: number[] | SparseVector }; payload: Payload }>;
}

/**
 * Qdrant's calls over maps: strict (unindexed keys, unknown collections and odd vectors are errors), and recording.
 * `fail` is asked before each call and may throw or wait; `answer` may put other points in the place of those found.
 */
export class VectorDouble implements VectorClient {
  readonly calls: RecordedCall[] = [];
  fail: (call: keyof VectorClient, args: unknown) => void | Promise<void> = () => {};
  answer: <T extends StoredPoint>(points: T[]) => T[] = (points) => points;
  readonly #collections = new Map<string, Collection>();

  store(): VectorStore {
    return {
      client: this,
      location: "double",
      withSignal: (signal, work) => {
        signal.throwIfAborted();
        return work();
      },
      health: async () => ({ status: "ok" }),
      close: async () => {},
    };
  }

  async collectionExists(name: string) {
    await this.#note("collectionExists", name, {});
    return { exists: this.#collections.has(name) };
  }

  async getCollection(name: string) {
    await this.#note("getCollection", name, {});
    const { indexes, size } = this.#collection(name);
    return {
      config: { params: { vectors: { size }, sparse_vectors: { bm25: { modifier: "idf" } } } },
      payload_schema: Object.fromEntries(indexes),
    };
  }

  async createCollection(name: string, args: { vectors: { size: number } }) {
    await this.#note("createCollection", name, args);
    if (this.#collections.has(name)) throw failure(409);
    this.#collections.set(name, { size: args.vectors.size, indexes: new Map(), points: new Map() });
    return true;
  }

  async deleteCollection(name: string) {
    await this.#note("deleteCollection", name, {});
    return this.#collections.delete(name);
  }

  async createPayloadIndex(name: string, args: { field_name: string; field_schema: unknown }) {
    await this.#note("createPayloadIndex", name, args);
    this.#collection(name).indexes.set(args.field_name, args.field_schema);
    return {};
  }

  async upsert(name: string, args: { points: Point[]; update_mode?: string }) {
    await this.#note("upsert", name, args);
    const { points, size } = this.#collection(name);
    for (const point of args.points) {
      if (Array.isArray(point.vector)) throw failure(400);
      const dense = point.vector[""];
      if (!Array.isArray(dense) || dense.length !== size) throw failure(400);
      if (args.update_mode === "insert_only" && points.has(point.id)) continue;
      points.set(point.id, structuredClone({ vector: point.vector, payload: point.payload ?? {} }));
    }
    return {};
  }

  async query(
    name: string,
    args: { query?: unknown; using?: string; filter?: Filter; limit?: number },
  ): Promise<{ points: ScoredPoint[] }> {
    await this.#note("query", name, args);
    const scored = this.#matching(name, args.filter).map(([id, point]): ScoredPoint => {
      const score =
        args.using === undefined
          ? dot(args.query as number[], point.vector[""] as number[])
          : sparseDot(args.query as SparseVector, point.vector[args.using] as SparseVector);
      return { id, payload: structuredClone(point.payload), score };
    });
    const found = scored.filter(({ score }) => args.using === undefined || score > 0).sort((a, b) => b.score - a.score);
    return { points: this.answer(found.slice(0, args.limit ?? 10)) };
  }

  async scroll(
    name: string,
    args: {
      filter?: Filter;
      limit?: number;
      offset?: PointId;
      with_vector?: unknown;
    },
  ) {
    await this.#note("scroll", name, args);
    const { offset, limit = 10 } = args;
    const all = this.#matching(name, args.filter).sort(([a], [b]) => (a < b ? -1 : 1));
    const from = offset === undefined ? all : all.filter(([id]) => id >= offset);
    const page = from
      .slice(0, limit)
      .map(([id, { payload, vector }]) => ({ id, payload: structuredClone(payload), ...(args.with_vector ? { vector } : {}) }));
    return { points: this.answer(page), next_page_offset: from[limit]?.[0] ?? null };
  }

  async retrieve(name: string, args: { ids: PointId[] }): Promise<StoredPoint[]> {
    await this.#note("retrieve", name, args);
    const { points } = this.#collection(name);
    return this.answer(
      args.ids.flatMap((id) => {
        const point = points.get(id);
        return point === undefined ? [] : [{ id, payload: structuredClone(point.payload) }];
      }),
    );
  }

  async setPayload(name: string, args: { payload: Payload; filter?: Filter }) {
    await this.#note("setPayload", name, args);
    for (const [, point] of this.#matching(name, args.filter)) {
      Object.assign(point.payload, structuredClone(args.payload));
      for (const [key, value] of Object.entries(args.payload)) if (value === null) delete point.payload[key];
    }
    return {};
  }

  async delete(name: string, args: { filter?: Filter; points?: readonly PointId[] }) {
    await this.#note("delete", name, args);
    for (const id of args.points ?? []) this.#collection(name).points.delete(id);
    if (args.points !== undefined) return {};
    if (args.filter === undefined) throw failure(400);
    for (const [id] of this.#matching(name, args.filter)) this.#collection(name).points.delete(id);
    return {};
  }

  async count(name: string, args: { filter?: Filter }) {
    await this.#note("count", name, args);
    return { count: this.#matching(name, args.filter).length };
  }

  async facet(name: string, args: { key: string; filter?: Filter }) {
    await this.#note("facet", name, args);
    this.#indexed(name, args.key);
    const values = this.#matching(name, args.filter).map(([, { payload }]) => String(payload[args.key]));
    return { hits: [...new Set(values)].map((value) => ({ value, count: values.filter((each) => each === value).length })) };
  }

  async #note(call: keyof VectorClient, collection: string, args: unknown) {
    this.calls.push({ call, collection, args: structuredClone(args) });
    await this.fail(call, args);
  }

  #collection(name: string): Collection {
    const found = this.#collections.get(name);
    if (found === undefined) throw failure(404);
    return found;
  }

  #indexed(name: string, key: string) {
    if (!this.#collection(name).indexes.has(key)) throw failure(400);
  }

  #matching(name: string, filter: Filter | undefined) {
    const fits = (condition: Condition, id: PointId, payload: Payload): boolean => {
      if ("has_id" in condition) return condition.has_id.includes(id);
      this.#indexed(name, condition.key);
      const value = payload[condition.key];
      const { match, range } = condition;
      if (match !== undefined) {
        if ("value" in match) return value === match.value;
        return (match.any as unknown[]).includes(value);
      }
      const number = Number(value);
      if (range === undefined) throw failure(400);
      return (
        (range.lt === undefined || number < range.lt) &&
        (range.lte === undefined || number <= range.lte) &&
        (range.gt === undefined || number > range.gt) &&
        (range.gte === undefined || number >= range.gte)
      );
    };
    const matches = (f: Filter, id: PointId, payload: Payload): boolean =>
      (f.must ?? []).every((c) => fits(c, id, payload)) && !(f.must_not ?? []).some((c) => fits(c, id, payload));
    return [...this.#collection(name).points].filter(([id, point]) => filter === undefined || matches(filter, id, point.payload));
  }
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

function sparseDot(a: SparseVector, b: SparseVector): number {
  const weights = new Map(b.indices.map((index, i) => [index, b.values[i] ?? 0]));
  return a.indices.reduce((sum, index, i) => sum + (a.values[i] ?? 0) * (weights.get(index) ?? 0), 0);
}

function failure(status: number): Error {
  return Object.assign(new Error(`status ${status}`), { status });
}
