import { z } from "zod";
import { AppError } from "../../platform/errors.js";
import type { Filter, ScoredPoint, SparseVector, VectorClient } from "../../ports/vectors.js";
import type { Mem0Scope, Mem0Scopes } from "./mem0-scope.js";
import { fromPayload, type MemoryPayload } from "./memory-payload.js";

/** How texts become sparse vectors: the same on every backend, with no inference on the server. */
export interface SparseVectors {
  readonly documentVector: (text: string) => SparseVector;
  readonly queryVector: (text: string) => SparseVector;
}

export interface GuardedClientOptions {
  readonly client: VectorClient;
  readonly scopes: Mem0Scopes;
  readonly collection: string;
  readonly dimension: number;
  readonly sparse: SparseVectors;
}

/** The calls of the Qdrant client that Mem0's `qdrant` provider makes. */
export interface GuardedClient {
  createCollection(collection: string, args: unknown): Promise<never>;
  getCollection(collection: string): Promise<unknown>;
  createPayloadIndex(collection: string, args: unknown): Promise<boolean>;
  upsert(collection: string, args: unknown): Promise<unknown>;
  search(collection: string, args: unknown): Promise<unknown[]>;
  query(collection: string, args: unknown): Promise<{ points: unknown[] }>;
  scroll(collection: string, args: unknown): Promise<{ points: unknown[] }>;
  retrieve(collection: string, args: unknown): Promise<never>;
  delete(collection: string, args: unknown): Promise<never>;
  deleteCollection(collection: string): Promise<never>;
}

const MIGRATIONS = "memory_migrations";
/** The name of the sparse vector, which Mem0 dictates. */
export const SPARSE_NAME = "bm25";

/** What says of a payload whose it is, and which memory. */
const WHOSE: readonly (keyof MemoryPayload)[] = ["user_id", "memory_id"];

const inferred = z.strictObject({ text: z.string(), model: z.literal("Qdrant/bm25") });
const upsertRequest = z.strictObject({
  points: z.tuple([
    z.strictObject({
      id: z.uuid(),
      vector: z.strictObject({ "": z.array(z.number()), [SPARSE_NAME]: inferred }),
      payload: z.record(z.string(), z.unknown()),
    }),
  ]),
});
const equals = z.strictObject({ key: z.string(), match: z.strictObject({ value: z.union([z.string(), z.number(), z.boolean()]) }) });
const within = z.strictObject({
  key: z.string(),
  range: z.strictObject({ gt: z.number().optional(), gte: z.number().optional(), lt: z.number().optional(), lte: z.number().optional() }),
});
const anyOf = z.strictObject({ key: z.string(), match: z.strictObject({ any: z.array(z.string()) }) });
const filterRequest = z.strictObject({
  must: z.array(z.union([equals, within, anyOf])).min(1),
  should: z.undefined().optional(),
  must_not: z.undefined().optional(),
});
const searchRequest = z.strictObject({ vector: z.array(z.number()), filter: filterRequest, limit: z.number().int().positive() });
const keywordRequest = z.strictObject({
  query: inferred,
  using: z.literal(SPARSE_NAME),
  filter: filterRequest,
  limit: z.number().int().positive(),
  with_payload: z.literal(true),
});

/**
 * The client that Mem0 is handed, in front of either backend. It speaks only what it knows: a request of another shape, of
 * another collection, outside of a scope, or whose filter doesn't pin exactly the scope's owner, is refused and the call
 * fails (`failures` of the scope), whatever Mem0 makes of it. What it changes:
 * - collections and indexes are ours already: `createCollection` answers 409 without asking the server, `getCollection`
 *   from what was checked at the start, `createPayloadIndex` does nothing; Mem0's `memory_migrations` and `*_entities`
 *   are answered empty, locally;
 * - `upsert`: the point's id is the payload's `memory_id`, the sparse vector is ours, insert only, `wait: true`, and what Mem0
 *   adds to the payload for itself (hash, stems) is left out: it would be text that an edit or an export doesn't know;
 * - `search` goes through `query`; hits are checked again and dropped when they are not the owner's memories, or have nothing to do with
 *   the text (the scope's `relevantFrom`).
 */
export function guardedClient(options: GuardedClientOptions): GuardedClient {
  const { client, scopes, collection, dimension, sparse } = options;

  /** Runs in the scope; a failure is kept there, and never reaches Mem0, which would switch its keyword search off. */
  const inScope = async <T>(kind: Mem0Scope["kind"], otherwise: T, work: (scope: Mem0Scope) => Promise<T>): Promise<T> => {
    const scope = scopes.get();
    if (scope === undefined) throw refused("outside of a scope");
    try {
      if (scope.kind !== kind) throw refused(`a ${kind} during ${scope.kind}`);
      return await work(scope);
    } catch (error) {
      scope.failures.push(error);
      return otherwise;
    }
  };
  const refuse = (what: string) => async () => {
    const error = refused(what);
    scopes.get()?.failures.push(error);
    throw error;
  };
  const isOurs = (name: string) => {
    if (name === collection) return true;
    if (name === MIGRATIONS || name === `${collection}_entities`) return false;
    throw refused("an unknown collection");
  };
  const hitsOf = (scope: Mem0Scope, points: readonly ScoredPoint[]) =>
    points.filter(({ id, payload, score }) => {
      const own = payload?.user_id === scope.owner && payload.memory_id === id && Number.isFinite(score);
      if (!own) scope.foreign += 1;
      return own;
    });

  const looked = new WeakMap<Mem0Scope, { readonly request: string; readonly points: Promise<readonly ScoredPoint[]> }>();
  /** Points that share a word with the scope's text: whose and which they are. Mem0 asks for them too: they are looked for once. */
  const sharing = async (scope: Mem0Scope, filter: Filter, limit: number): Promise<readonly ScoredPoint[]> => {
    const request = JSON.stringify([filter, limit]);
    const before = looked.get(scope);
    if (before?.request === request) return before.points;
    const query = sparse.queryVector(scope.text);
    if (query.indices.length === 0) return [];
    const points = client
      .query(collection, { query, using: SPARSE_NAME, filter, limit, with_payload: [...WHOSE] })
      .then((answer) => hitsOf(scope, answer.points));
    looked.set(scope, { request, points });
    return points;
  };

  return {
    async createCollection() {
      throw Object.assign(new Error("The collection is there already."), { status: 409 });
    },
    async getCollection(name) {
      isOurs(name);
      return { config: { params: { vectors: { size: dimension }, sparse_vectors: { [SPARSE_NAME]: { modifier: "idf" } } } } };
    },
    async createPayloadIndex() {
      return true;
    },
    async upsert(name, args) {
      if (!isOurs(name)) return { status: "completed" };
      return inScope<unknown>("add", { status: "completed" }, async (scope) => {
        if (scope.kind !== "add") throw refused("an upsert during search");
        const { points } = parsed(upsertRequest, args, "upsert");
        const [{ vector, payload }] = points;
        const { textLemmatized: _stems, hash: _hash, createdAt: _createdAt, ...own } = payload;
        const memory = fromPayload(own);
        if (memory === null || memory.owner !== scope.owner || memory.record.id !== scope.memoryId || memory.record.text !== scope.text)
          throw refused("an upsert of another memory");
        if (vector[""].length !== dimension) throw refused("a vector of another dimension");
        const point = {
          id: memory.record.id,
          vector: { "": vector[""], [SPARSE_NAME]: sparse.documentVector(memory.record.text) },
          payload: own,
        };
        const answer = await client.upsert(collection, { points: [point], wait: true, update_mode: "insert_only" });
        scope.upserted += 1;
        return answer;
      });
    },
    async search(name, args) {
      if (!isOurs(name)) return [];
      return inScope<unknown[]>("search", [], async (scope) => {
        const request = parsed(searchRequest, args, "search");
        const filter = ownFilter(scope, request.filter);
        const from = scope.kind === "search" ? (scope.relevantFrom ?? Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY;
        if (from === Number.POSITIVE_INFINITY) return [];
        const { limit } = request;
        const with_payload = scope.kind === "search" && scope.brief === true ? [...WHOSE, "data"] : true;
        const near = client.query(collection, { query: request.vector, filter, limit, with_payload });
        // Beside the search also where Mem0 alone asks for it, next: it finds the answer there.
        const sharingWords = sharing(scope, filter, limit);
        sharingWords.catch(() => undefined);
        const { points } = await near;
        if (from === Number.NEGATIVE_INFINITY) return hitsOf(scope, points);
        const byWords = new Set((await sharingWords).map(({ id }) => id));
        // Mem0 drops what is below zero, whatever its words say.
        const relevant = points.filter(({ id, score }) => score >= from || byWords.has(id));
        return hitsOf(scope, relevant).map((point) => ({ ...point, score: Math.max(0, point.score) }));
      });
    },
    async query(name, args) {
      if (!isOurs(name)) return { points: [] };
      return inScope<{ points: unknown[] }>("search", { points: [] }, async (scope) => {
        const request = parsed(keywordRequest, args, "query");
        const filter = ownFilter(scope, request.filter);
        return { points: [...(await sharing(scope, filter, request.limit))] };
      });
    },
    async scroll(name, args) {
      if (!isOurs(name)) return { points: [] };
      return refuse(`scroll ${shapeOf(args)}`)();
    },
    retrieve: refuse("retrieve"),
    delete: refuse("delete"),
    deleteCollection: refuse("deleteCollection"),
  };
}

/** The filter as we pass it on. @throws unless one condition, and one alone, pins the scope's owner */
function ownFilter(scope: Mem0Scope, filter: z.infer<typeof filterRequest>): Filter {
  const pins = filter.must.filter((condition) => condition.key === "user_id");
  const pinned = pins.length === 1 && pins.every((pin) => "match" in pin && "value" in pin.match && pin.match.value === scope.owner);
  if (!pinned) throw refused("a filter that doesn't pin the owner");
  return { must: filter.must.map((condition) => withoutUndefined(condition)) as NonNullable<Filter["must"]> };
}

function withoutUndefined(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object;
}

function parsed<T>(schema: z.ZodType<T>, args: unknown, what: string): T {
  const result = schema.safeParse(args);
  if (!result.success) throw refused(`${what} ${shapeOf(args)}`);
  return result.data;
}

/** The keys of a request, for the log; never its values. */
function shapeOf(args: unknown): string {
  return typeof args === "object" && args !== null ? `{ ${Object.keys(args).join(", ")} }` : typeof args;
}

function refused(what: string): AppError {
  return new AppError("LONG_TERM_MEMORY_UNAVAILABLE", {
    detail: `Mem0 made a request that is not known: ${what}.`,
    hint: "The installed mem0ai differs from the one that this version was made for; install the locked version.",
  });
}
