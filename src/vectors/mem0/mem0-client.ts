import type { Memory } from "mem0ai/oss";
import { z } from "zod";
import type { MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { AsyncValue } from "../../platform/async-value.js";
import { AppError } from "../../platform/errors.js";
import { makeDirectory } from "../../platform/file-system.js";
import type { SimilarMemory, StoreFields } from "../../ports/memory-store.js";
import type { Filter, ScoredPoint, SparseVectors, VectorClient } from "../../ports/vectors.js";
import { vectorNumbers } from "../requests/requests.js";
import { type CollectionShape, ensureMemoryCollection, MEMORY_COLLECTION, SPARSE_NAME } from "./collections.js";
import type { MemoryPayload } from "./memory-payload.js";
import { compareIds, type Foreign, recordsOf, type SimilarMemories } from "./memory-points.js";

export interface Mem0ClientOptions extends CollectionShape {
  readonly reads: VectorClient;
  readonly writes: VectorClient;
  /** Of memories. */
  readonly collection: string;
  readonly sparse: SparseVectors;
  /** Where Mem0 keeps its own id. */
  readonly dir: string;
}

export interface Mem0SearchOptions {
  readonly filters: StoreFields;
  readonly limit: number;
  /** The least cosine of a hit that shares no word with the text; infinite: there is none. Default: any. */
  readonly relevantFrom?: number | undefined;
  /** All of the owner's memories, by id: what is found is taken from them, the others are left out. Default: the store's payloads. */
  readonly known?: ReadonlyMap<string, MemoryRecord> | undefined;
}

/**
 * Loads `mem0ai/oss`. Two variables of the process have to be set before its first import, as it takes no option in their place: telemetry
 * off (it is on by default, and awaited on every call), and `MEM0_DIR`, where it keeps a random id for itself, in the storage directory
 * (made where it is missing) instead of the user's home.
 */
export async function loadMem0(dir: string): Promise<typeof import("mem0ai/oss")> {
  process.env.MEM0_TELEMETRY = "false";
  process.env.MEM0_DIR = dir;
  await makeDirectory(dir);
  return import("mem0ai/oss");
}

/**
 * What Mem0 is working on. Mem0 knows no owners of ours, no signals and no ids of ours, so a scope is opened around each call, and
 * the client and the embedder that Mem0 was given look into it. Outside of a scope they refuse to work.
 */
export interface Mem0Scope extends Pick<Mem0SearchOptions, "relevantFrom"> {
  readonly kind: "add" | "search";
  readonly client: VectorClient;
  readonly collection: string;
  readonly owner: Owner;
  /** The text that Mem0 was given, and its vector: made beforehand, so that each text is embedded once, and in batches. */
  readonly text: string;
  readonly vector: readonly number[];
  /** Of an addition. */
  readonly memoryId?: string;
  /** Of a hit no more is read than whose and which it is, and its text. Default: all of it. */
  readonly brief?: boolean;
  readonly foreign: Foreign;
  /** What went wrong in the client: Mem0 swallows some errors, prints others, and turns off features after a third kind. */
  readonly failures: unknown[];
  /** Points that were handed to the store. */
  upserted: number;
  /** What shares a word with the text, as it was looked for last: Mem0 asks for it once more. */
  sharing?: { readonly request: string; readonly points: Promise<readonly ScoredPoint[]> };
}

/** Adds memories, and finds the nearest, through Mem0's `Memory`; opened when the store is first reached, and again until it was. */
export class Mem0Client {
  readonly #options: Mem0ClientOptions;
  readonly #scopes = new AsyncValue<Mem0Scope>();
  #opened: Promise<Memory> | undefined;

  constructor(options: Mem0ClientOptions) {
    this.#options = options;
  }

  /** Resolves when the collection is there. @throws REINDEX_REQUIRED, QDRANT_TOO_OLD, what the store threw */
  ready(): Promise<Memory> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Adds one memory; insert only. @throws what the store threw; LONG_TERM_MEMORY_UNAVAILABLE when nothing was handed to it */
  async add(owner: Owner, payload: MemoryPayload, vector: readonly number[]): Promise<void> {
    const { data: text, user_id: _owner, ...metadata } = payload;
    const { writes: client, collection } = this.#options;
    const at = { client, collection, owner, text, vector };
    const scope: Mem0Scope = { kind: "add", ...at, memoryId: payload.memory_id, failures: [], foreign: { count: 0 }, upserted: 0 };
    await this.#within(scope, (mem0) => mem0.add(text, { userId: owner, infer: false, metadata }));
    // Mem0 can report an addition that never reached the store.
    if (scope.upserted !== 1) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: "Mem0 stored nothing." });
  }

  /** Best first. @throws what the store threw */
  async similar(owner: Owner, text: string, vector: readonly number[], options: Mem0SearchOptions): Promise<SimilarMemories> {
    const { reads: client, collection } = this.#options;
    const { filters, limit, known, relevantFrom } = options;
    const foreign: Foreign = { count: 0 };
    const at = { client, collection, owner, text, vector, relevantFrom, brief: known !== undefined };
    const asked = { filters: { ...filters, user_id: owner }, topK: limit, threshold: 0 };
    const scope: Mem0Scope = { kind: "search", ...at, foreign, failures: [], upserted: 0 };
    const { results } = await this.#within(scope, (mem0) => mem0.search(text, asked));
    const hits = results.flatMap(({ id, score = 0, memory: data, metadata, ...whose }): SimilarMemory[] => {
      const payload = { ...metadata, data, ...whose };
      const [record] = known === undefined ? recordsOf(owner, [{ id, payload }], foreign) : [known.get(id)];
      return record === undefined ? [] : [{ record, score }];
    });
    return { hits: hits.sort((a, b) => b.score - a.score || compareIds(a.record, b.record)), foreign: foreign.count };
  }

  /** @throws the first failure that the client met, whatever Mem0 made of it */
  async #within<T>(scope: Mem0Scope, work: (mem0: Memory) => Promise<T>): Promise<T> {
    const mem0 = await this.ready();
    const result = await this.#scopes.run(scope, () => work(mem0));
    if (scope.failures.length > 0) throw scope.failures[0];
    return result;
  }

  async #open(): Promise<Memory> {
    const { writes, collection, dir, sparse, dimension } = this.#options;
    await ensureMemoryCollection(writes, collection, this.#options);
    const { Memory } = await loadMem0(dir);
    const client = guardedClient(this.#scopes, sparse, dimension);
    return new Memory({
      disableHistory: true,
      embedder: { provider: "langchain", config: { model: scopedEmbedder(this.#scopes, dimension) } },
      llm: { provider: "langchain", config: { model: noModel } },
      vectorStore: { provider: "qdrant", config: { client, collectionName: COLLECTION, dimension } },
    });
  }
}

/** As Mem0 knows it, whatever it is called. */
const COLLECTION = MEMORY_COLLECTION;
/** What says of a payload whose it is, and which memory. */
const WHOSE: readonly (keyof MemoryPayload)[] = ["user_id", "memory_id"];

const inferred = z.strictObject({ text: z.string(), model: z.literal("Qdrant/bm25") });
const vector = z.strictObject({ "": vectorNumbers, [SPARSE_NAME]: inferred });
const point = z.strictObject({ id: z.uuid(), vector, payload: z.record(z.string(), z.unknown()) });
const upsertRequest = z.strictObject({ points: z.tuple([point]) });
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const match = z.union([z.strictObject({ value: scalar }), z.strictObject({ any: z.array(z.string()) })]);
const range = z.strictObject({ gt: z.number(), gte: z.number(), lt: z.number(), lte: z.number() }).partial();
const condition = z.union([z.strictObject({ key: z.string(), match }), z.strictObject({ key: z.string(), range })]);
const nothing = z.undefined().optional();
const filterRequest = z.strictObject({ must: z.array(condition).min(1), should: nothing, must_not: nothing });
const limit = z.number().int().positive();
const searchRequest = z.strictObject({ vector: vectorNumbers, filter: filterRequest, limit });
const keyword = { query: inferred, using: z.literal(SPARSE_NAME), with_payload: z.literal(true) };
const keywordRequest = z.strictObject({ ...keyword, filter: filterRequest, limit });

/**
 * The client that Mem0 is handed, in front of either backend: the calls that its `qdrant` provider makes. A request of another shape, of
 * another collection, outside of a scope, or whose filter doesn't pin exactly the scope's owner is refused and the call fails (`failures`
 * of the scope), whatever Mem0 makes of it. What it changes:
 * - collections and indexes are ours already: `createCollection` answers 409 without asking the server, `getCollection` from what was
 *   checked at the start, `createPayloadIndex` does nothing; Mem0's `memory_migrations` and `*_entities` are answered empty, locally;
 * - `upsert`: the point's id is the payload's `memory_id`, the sparse vector is ours, insert only, `wait: true`, and what Mem0
 *   adds to the payload for itself (hash, stems) is left out: it would be text that an edit or an export doesn't know;
 * - `search` goes through `query`; hits are checked again and dropped when they are not the owner's memories, or have nothing to do with
 *   the text (the scope's `relevantFrom`).
 */
export function guardedClient(scopes: AsyncValue<Mem0Scope>, sparse: SparseVectors, dimension: number) {
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
  const refuse = async (what: string): Promise<never> => {
    scopes.get()?.failures.push(refused(what));
    throw refused(what);
  };
  const isOurs = (name: string) => {
    if (name === COLLECTION) return true;
    if (name !== "memory_migrations" && name !== `${COLLECTION}_entities`) throw refused("an unknown collection");
    return false;
  };
  const ownHits = ({ owner, foreign }: Mem0Scope, points: readonly ScoredPoint[]) => {
    const own = points.filter(({ id, payload, score }) => payload?.user_id === owner && payload.memory_id === id && Number.isFinite(score));
    foreign.count += points.length - own.length;
    return own;
  };
  /** Points that share a word with the scope's text: whose and which they are. */
  const sharing = async (scope: Mem0Scope, filter: Filter, limit: number): Promise<readonly ScoredPoint[]> => {
    const request = JSON.stringify([filter, limit]);
    if (scope.sharing?.request === request) return scope.sharing.points;
    const query = sparse.queryVector(scope.text);
    if (query.indices.length === 0) return [];
    const asked = scope.client.query(scope.collection, { query, using: SPARSE_NAME, filter, limit, with_payload: [...WHOSE] });
    scope.sharing = { request, points: asked.then(({ points }) => ownHits(scope, points)) };
    return scope.sharing.points;
  };

  const isThere = Object.assign(new Error("The collection is there already."), { status: 409 });
  return {
    createCollection: (_name: string, _args: unknown): Promise<never> => Promise.reject(isThere),
    async getCollection(name: string) {
      isOurs(name);
      return { config: { params: { vectors: { size: dimension }, sparse_vectors: { [SPARSE_NAME]: { modifier: "idf" } } } } };
    },
    createPayloadIndex: async (_name: string, _args: unknown) => true,
    async upsert(name: string, args: unknown): Promise<unknown> {
      if (!isOurs(name)) return {};
      return inScope<unknown>("add", {}, async (scope) => {
        const [{ vector, payload }] = parsed(upsertRequest, args, "upsert").points;
        const { textLemmatized: _stems, hash: _hash, createdAt: _createdAt, ...own } = payload;
        const { memoryId: id = "", text } = scope;
        const [record] = recordsOf(scope.owner, [{ id, payload: own }], scope.foreign);
        if (record?.text !== text || vector[""].length !== dimension) throw refused("an upsert of another memory");
        const points = [{ id, vector: { "": vector[""], [SPARSE_NAME]: sparse.documentVector(text) }, payload: own }];
        const answer = await scope.client.upsert(scope.collection, { points, wait: true, update_mode: "insert_only" });
        scope.upserted += 1;
        return answer;
      });
    },
    async search(name: string, args: unknown): Promise<unknown[]> {
      if (!isOurs(name)) return [];
      return inScope<unknown[]>("search", [], async (scope) => {
        const { vector: query, limit, filter: given } = parsed(searchRequest, args, "search");
        const filter = ownFilter(scope, given);
        const { relevantFrom: from = Number.NEGATIVE_INFINITY } = scope;
        if (from === Number.POSITIVE_INFINITY) return [];
        const near = scope.client.query(scope.collection, { query, filter, limit, with_payload: scope.brief ? [...WHOSE, "data"] : true });
        // Beside the search also where Mem0 alone asks for it, next: it finds the answer there.
        const sharingWords = sharing(scope, filter, limit);
        sharingWords.catch(() => undefined);
        const { points } = await near;
        if (from === Number.NEGATIVE_INFINITY) return ownHits(scope, points);
        const byWords = new Set((await sharingWords).map(({ id }) => id));
        // Mem0 drops what is below zero, whatever its words say.
        const relevant = points.filter(({ id, score }) => score >= from || byWords.has(id));
        return ownHits(scope, relevant).map((point) => ({ ...point, score: Math.max(0, point.score) }));
      });
    },
    async query(name: string, args: unknown): Promise<{ points: unknown[] }> {
      if (!isOurs(name)) return { points: [] };
      return inScope<{ points: unknown[] }>("search", { points: [] }, async (scope) => {
        const { filter, limit } = parsed(keywordRequest, args, "query");
        return { points: [...(await sharing(scope, ownFilter(scope, filter), limit))] };
      });
    },
    scroll: async (name: string, _args: unknown) => (isOurs(name) ? refuse("scroll") : { points: [] }),
    retrieve: (_name: string, _args: unknown) => refuse("retrieve"),
    delete: (_name: string, _args: unknown) => refuse("delete"),
    deleteCollection: (_name: string) => refuse("deleteCollection"),
  };
}

/** The filter as we pass it on. @throws unless one condition, and one alone, pins the scope's owner */
function ownFilter(scope: Mem0Scope, { must }: z.infer<typeof filterRequest>): Filter {
  const values = must.filter(({ key }) => key === "user_id").map((pin) => "match" in pin && "value" in pin.match && pin.match.value);
  if (values.length !== 1 || values[0] !== scope.owner) throw refused("a filter that doesn't pin the owner");
  return { must } as Filter;
}

/** @throws LONG_TERM_MEMORY_UNAVAILABLE, which names the keys of the request, for the log, never its values */
function parsed<T>(schema: z.ZodType<T>, args: unknown, what: string): T {
  const result = schema.safeParse(args);
  if (!result.success) throw refused(`${what} { ${Object.keys(args ?? {}).join(", ")} }`);
  return result.data;
}

function refused(what: string): AppError {
  return new AppError("LONG_TERM_MEMORY_UNAVAILABLE", {
    detail: `Mem0 made a request that is not known: ${what}.`,
    hint: "The installed mem0ai differs from the one that this version was made for; install the locked version.",
  });
}

/** Langchain's shape of an embedder. Answers with the scope's vector: the service has embedded the text before. */
function scopedEmbedder(scopes: AsyncValue<Mem0Scope>, dimension: number) {
  return {
    async embedQuery(text: string): Promise<number[]> {
      const scope = scopes.get();
      if (scope?.text !== text) throw new AppError("EMBEDDING_UNAVAILABLE", { detail: "Mem0 embeds an unknown text." });
      return [...scope.vector];
    },
    /** The names in a query, to be looked up in the collection of entities, which is answered empty: any vector will do. */
    embedDocuments: async (texts: string[]): Promise<number[][]> => texts.map(() => new Array<number>(dimension).fill(0)),
  };
}

/** Mem0 wants a model at hand; with `infer: false` it never asks it. */
const noModel = { invoke: () => Promise.reject(new AppError("INTERNAL", { detail: "Mem0 asked a model." })) };
