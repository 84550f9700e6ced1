import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { floatsIn, floatsText, numbersOf } from "../../platform/numbers.js";
import {
  type Filter,
  type Payload,
  type Point,
  type PointId,
  type QueryArgs,
  type ScoredPoint,
  type SparseVector,
  type StoredPoint,
  type VectorClient,
  type VectorStore,
  VectorStoreError,
  type WithPayload,
} from "../../ports/vectors.js";
import { bothFilters, pinnedValues } from "../requests/filter.js";
import { denseOf, idOf, keyOf } from "../requests/point.js";
import { type Ranked, reciprocalRankFusion, TopK } from "../requests/ranked.js";
import { DEFAULT_LIMIT } from "../requests/requests.js";
import { scrolled } from "../requests/scrolled.js";
import { DENSE_VERSION, tellsWords } from "./encrypted-vectors.js";
import { WHOSE } from "./sealed-write.js";

/** The payload's key that holds a point's dense vector: 32-bit floats in base64, sealed with what else the payload says. */
const DENSE = "_dense";
const VERSION_BYTES = 8;
/** Points asked for at once. */
const PAGE = 1_000;
/** What a vector takes in memory beside its numbers, in bytes. */
const BESIDE_BYTES = 300;

interface Held {
  readonly owner: unknown;
  readonly version: string;
  /** Of length 1. */
  readonly vector: Float32Array;
}
type Named = Readonly<Record<string, number[] | SparseVector>>;
type ByVector = Pick<QueryArgs, "using" | "filter" | "limit"> & { readonly query: number[] | SparseVector };

/**
 * Stores whose payloads are sealed, with dense vectors sealed in them: the store itself gets one and the same vector for all. Searched
 * by a dense vector is in memory, exactly: the store tells which points a filter lets pass and at which version each is, and those that
 * are not held, or at another version, are read. So a search costs by the points that its filter lets pass, and an owner's first one
 * reads them all. Points stored before are searched by their clear vectors, read each time, until `maitred encrypt` has been.
 * `cacheBytes`: of vectors in memory, for all stores together.
 */
export function denseInMemory(cacheBytes: number): (store: VectorStore) => VectorStore {
  const held = new LRUCache<string, Held>({
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ vector }) => vector.byteLength + BESIDE_BYTES,
  });
  return (store) => ({
    client: searchedInMemory(store.client, held),
    location: store.location,
    withSignal: (signal, work) => store.withSignal(signal, work),
    health: () => store.health(),
    close: () => store.close(),
  });
}

function searchedInMemory(inner: VectorClient, held: LRUCache<string, Held>): VectorClient {
  const sizes = new Map<string, number>();
  const placeOf = (collection: string, id: PointId) => `${collection}\n${keyOf(id)}`;

  /** Of its dense vectors. @throws status 404 */
  const sizeOf = async (collection: string): Promise<number> => {
    const known = sizes.get(collection);
    if (known !== undefined) return known;
    const { size } = (await inner.getCollection(collection)).config.params.vectors as { readonly size: number };
    sizes.set(collection, size);
    return size;
  };

  /** By id, of those that are there. */
  const vectorsOf = async (collection: string, found: readonly StoredPoint[]): Promise<ReadonlyMap<PointId, Float32Array>> => {
    const vectors = new Map<PointId, Float32Array>();
    const wanted: PointId[] = [];
    for (const { id, payload } of found) {
      const known = held.get(placeOf(collection, id));
      if (known !== undefined && known.version === payload?.[DENSE_VERSION]) vectors.set(id, known.vector);
      else wanted.push(id);
    }
    for (let from = 0; from < wanted.length; from += PAGE) {
      const ids = wanted.slice(from, from + PAGE);
      for (const point of await inner.retrieve(collection, { ids, with_payload: [WHOSE, DENSE, DENSE_VERSION], with_vector: true })) {
        const numbers = denseIn(point);
        if (numbers === null) continue;
        const vector = unit(numbers);
        vectors.set(point.id, vector);
        const { [WHOSE]: owner, [DENSE_VERSION]: version } = point.payload ?? {};
        if (typeof version === "string") held.set(placeOf(collection, point.id), { owner, version, vector });
      }
    }
    return vectors;
  };

  const drop = (owners: ReadonlySet<unknown> | null) => {
    if (owners === null) held.clear();
    else for (const [place, { owner }] of held.entries()) if (owners.has(owner)) held.delete(place);
  };

  const nearest = async (collection: string, query: readonly number[], filter: Filter | undefined, limit: number): Promise<Ranked[]> => {
    if (limit < 1) throw new VectorStoreError(422, "Format error in query: limit");
    const asked = denseOf({ vectors: { size: await sizeOf(collection), distance: "Cosine" } }, query);
    const best = new TopK(limit);
    for await (const points of scrolled(inner, collection, { limit: PAGE, with_payload: [DENSE_VERSION], ...(filter && { filter }) })) {
      for (const [id, vector] of await vectorsOf(collection, points)) {
        let score = 0;
        for (let i = 0; i < asked.length; i++) score += (asked[i] ?? 0) * (vector[i] ?? 0);
        best.offer(keyOf(id), score);
      }
    }
    return best.sorted();
  };

  const ranked = async (collection: string, { query, using, filter, limit = DEFAULT_LIMIT }: ByVector): Promise<Ranked[]> => {
    if (Array.isArray(query) && (using ?? "") === "") return nearest(collection, query, filter, limit);
    const { points } = await inner.query(collection, { query, limit, ...(using !== undefined && { using }), ...(filter && { filter }) });
    return points.map(({ id, score }) => ({ key: keyOf(id), score }));
  };

  /** Reads with what is needed to show a point's vectors, and shows what was asked for. */
  const shown = async <P extends StoredPoint>(
    read: (payload: WithPayload) => Promise<readonly P[]>,
    withPayload: WithPayload,
    withVector: boolean,
  ): Promise<P[]> => {
    const needed =
      !withVector || withPayload === true ? withPayload : [...(withPayload === false ? [] : withPayload), DENSE, DENSE_VERSION];
    const hidden = Array.isArray(withPayload) ? withPayload : null;
    return (await read(needed)).map((point) => {
      const { vector, payload, ...rest } = point;
      const numbers = withVector ? denseIn(point) : null;
      const isOurs = (key: string) => (key === DENSE || key === DENSE_VERSION) && hidden?.includes(key) !== true;
      const left = payload && Object.fromEntries(Object.entries(payload).filter(([key]) => !isOurs(key)));
      return {
        ...rest,
        ...(withPayload !== false && payload !== undefined && { payload: left }),
        ...(withVector && { vector: numbers === null ? vector : withDense(vector, numbers) }),
      } as P;
    });
  };

  const client: VectorClient = {
    ...inner,
    upsert: (collection, args) => inner.upsert(collection, { ...args, points: args.points.map(sealing) }),
    async query(collection, args) {
      const { query, prefetch = [], using, filter, limit = DEFAULT_LIMIT, with_payload = false, with_vector = false } = args;
      const lists = await Promise.all(
        prefetch.map(({ filter: own, ...each }) => {
          const both = bothFilters(filter, own);
          return ranked(collection, { ...each, ...(both && { filter: both }) });
        }),
      );
      if (!Array.isArray(query) && "fusion" in query) {
        if (lists.length === 0) throw new VectorStoreError(400, "A fusion needs prefetches.");
        return { points: await scored(collection, reciprocalRankFusion(lists).slice(0, limit), with_payload, with_vector) };
      }
      const among: Filter | undefined = lists.length === 0 ? undefined : { must: [{ has_id: idsOf(lists.flat()) }] };
      const both = bothFilters(filter, among);
      const found = await ranked(collection, { query, limit, ...(using !== undefined && { using }), ...(both && { filter: both }) });
      return { points: await scored(collection, found, with_payload, with_vector) };
    },
    async scroll(collection, { with_payload = true, with_vector = false, ...args }) {
      let next: Awaited<ReturnType<VectorClient["scroll"]>>["next_page_offset"] = null;
      const read = async (payload: WithPayload) => {
        const page = await inner.scroll(collection, { ...args, with_payload: payload, with_vector });
        next = page.next_page_offset ?? null;
        return page.points;
      };
      return { points: await shown(read, with_payload, with_vector), next_page_offset: next };
    },
    retrieve: (collection, { ids, with_payload = true, with_vector = false }) =>
      shown((payload) => inner.retrieve(collection, { ids, with_payload: payload, with_vector }), with_payload, with_vector),
    async delete(collection, args) {
      const done = await inner.delete(collection, args);
      for (const id of args.points ?? []) held.delete(placeOf(collection, id));
      // What a filter took is not known by id: of its owners nothing stays.
      if (args.points === undefined) drop(pinnedValues(args.filter, WHOSE));
      return done;
    },
    async deleteCollection(collection) {
      held.clear();
      sizes.delete(collection);
      return inner.deleteCollection(collection);
    },
  };

  const scored = async (collection: string, found: readonly Ranked[], withPayload: WithPayload, withVector: boolean) => {
    if (found.length === 0) return [];
    const points = await client.retrieve(collection, { ids: idsOf(found), with_payload: withPayload, with_vector: withVector });
    const byKey = new Map(points.map((point) => [keyOf(point.id), point]));
    // One that was deleted since is left out.
    return found.flatMap(({ key, score }): ScoredPoint[] => {
      const point = byKey.get(key);
      return point === undefined ? [] : [{ ...point, score }];
    });
  };
  return client;
}

/** What the store gets of a point. Of one that tells no words the vector says nothing either. */
function sealing(point: Point): Point {
  if (!tellsWords(point)) return point;
  const { id, vector, payload = {} } = point;
  const { "": dense, ...others }: Named = Array.isArray(vector) ? { "": vector } : vector;
  if (!Array.isArray(dense) || dense.some((each) => !Number.isFinite(each))) return point;
  const words = { [DENSE]: floatsText(unit(dense)) };
  const version = randomBytes(VERSION_BYTES).toString("hex");
  return { id, vector: { ...others, "": sameForAll(dense.length) }, payload: { ...payload, ...words, [DENSE_VERSION]: version } };
}

function sameForAll(size: number): number[] {
  return Array.from({ length: size }, (_, place) => (place === 0 ? 1 : 0));
}

/** Of length 1 where it was sealed; null where there is none. */
function denseIn({ payload, vector }: StoredPoint): readonly number[] | null {
  const { [DENSE]: sealed, [DENSE_VERSION]: version } = (payload as Payload | null | undefined) ?? {};
  // Sealed under a key that was destroyed.
  if (version !== undefined && sealed === undefined) return null;
  if (typeof sealed === "string") return numbersOf(floatsIn(sealed));
  const clear = Array.isArray(vector) ? vector : (vector as Named | null | undefined)?.[""];
  return Array.isArray(clear) ? clear : null;
}

function withDense(vector: unknown, numbers: readonly number[]): unknown {
  if (typeof vector !== "object" || vector === null || Array.isArray(vector)) return [...numbers];
  return { ...vector, "": [...numbers] };
}

function unit(numbers: readonly number[]): Float32Array {
  return denseOf({ vectors: { size: numbers.length, distance: "Cosine" } }, numbers);
}

function idsOf(ranked: readonly Ranked[]): PointId[] {
  return [...new Set(ranked.map(({ key }) => idOf(key)))];
}
