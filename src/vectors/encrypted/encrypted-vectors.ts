import type { OwnerSeal, OwnerSeals } from "../../ports/key-vault.js";
import {
  type Condition,
  type Filter,
  type Payload,
  type Point,
  type PointId,
  type QueryArgs,
  type SparseVector,
  type StoredPoint,
  type VectorClient,
  type VectorStore,
  VectorStoreError,
  type WithPayload,
} from "../../ports/vectors.js";
import { scrolled } from "../requests/scrolled.js";
import { placeOf, SEALED, sealedIn, WHOSE, Writing } from "./sealed-write.js";

/** The payload's key that names, by chance, which dense vector is sealed with it, where that is. */
export const DENSE_VERSION = "_dense_version";
/** What tells no words, and may be filtered or grouped by: ids, states, kinds and times. Numbers and booleans stay clear anyway. */
const CLEAR: ReadonlySet<string> = new Set([
  ...[WHOSE, "memory_id", "message_id", "session_id", "source_session_id", "source_message_id", "superseded_by", "confirmed_by"],
  ...["status", "strength", "type", "category", "scope", "role", "embedder", "stated_at", "created_at", "updated_at"],
  ...["valid_from", "valid_until", "last_confirmed_at", "last_recalled_at", DENSE_VERSION],
]);
/** What is filtered by and tells words: there as keyed hashes of its owner's. */
const HASHED: ReadonlySet<string> = new Set(["tags", "entities", "subject", "channel"]);
const PAGE = 256;

/**
 * Any store of vectors, with what payloads say sealed under the key of the owner whom they name, and words of sparse vectors as keyed
 * hashes. Dense vectors stay as they are. How rare a word is is counted in its owner's points alone. A payload that was changed, put into
 * another point's place, or whose key was destroyed reads without what was sealed of it.
 */
export function encryptedVectors(store: VectorStore, seals: OwnerSeals): VectorStore {
  return {
    client: encryptedClient(store.client, seals),
    location: store.location,
    withSignal: (signal, work) => store.withSignal(signal, work),
    health: () => store.health(),
    close: () => store.close(),
  };
}

function encryptedClient(inner: VectorClient, seals: OwnerSeals): VectorClient {
  /** Sparse vectors that were given out: their words are hashed already. */
  const hashed = new WeakSet<object>();

  const sparse = (vector: SparseVector, seal: OwnerSeal): SparseVector => {
    if (hashed.has(vector)) return vector;
    const weights = new Map<number, number>();
    for (const [at, word] of seal.hashedWords(vector.indices).entries())
      weights.set(word, (weights.get(word) ?? 0) + (vector.values[at] ?? 0));
    return { indices: [...weights.keys()], values: [...weights.values()] };
  };

  const sealedPoint = async (collection: string, point: Point, writing: Writing): Promise<Point> => {
    if (!tellsWords(point)) return point;
    const { id, vector, payload = {} } = point;
    const seal = await writing.of(whose(payload));
    const named = Array.isArray(vector)
      ? vector
      : Object.fromEntries(Object.entries(vector).map(([name, each]) => [name, Array.isArray(each) ? each : sparse(each, seal)]));
    const sealed = sealedPayload(payload, seal, placeOf(collection, id));
    writing.wrote(id, whose(payload), sealedIn(sealed));
    return { id, vector: named, payload: sealed };
  };

  const opened = async <P extends StoredPoint>(collection: string, points: readonly P[], shown: WithPayload): Promise<P[]> => {
    for (const { vector } of points)
      for (const each of Object.values(vector ?? {})) if (typeof each === "object" && each !== null) hashed.add(each);
    if (tellsNoWords(shown)) return [...points];
    const owners = new Map<string, OwnerSeal>();
    /** Null where no key opens what is sealed of it. */
    const wordsOf = async (id: PointId, payload: Payload): Promise<string | null> => {
      const sealed = sealedIn(payload);
      if (sealed === null) return "{}";
      const owner = whose(payload);
      const known = owners.get(owner);
      const seal = known?.knows(sealed) ? known : await seals.of(owner, sealed);
      owners.set(owner, seal);
      return seal.open(sealed, placeOf(collection, id));
    };
    const result: P[] = [];
    const lost = new Map<PointId, number>();
    for (const point of points) {
      const { id, payload } = point;
      const words = payload == null ? null : await wordsOf(id, payload);
      if (payload != null && words === null) lost.set(id, result.length);
      result.push(payload == null ? point : { ...point, payload: pick(openedPayload(payload, words), shown) });
    }
    if (lost.size === 0) return result;
    // Sealed anew, maybe, between the look at them and the one at keys.
    for (const { id, payload } of await inner.retrieve(collection, { ids: [...lost.keys()], with_payload: asked(shown) })) {
      const at = lost.get(id) ?? -1;
      const before = points[at];
      if (before === undefined || payload == null || sealedIn(payload) === sealedIn(before.payload ?? {})) continue;
      result[at] = { ...before, payload: pick(openedPayload(payload, await wordsOf(id, payload)), shown) };
    }
    return result;
  };

  const filtered = async (filter: Filter | undefined): Promise<{ readonly filter?: Filter }> => {
    if (filter === undefined) return {};
    const conditions = [...(filter.must ?? []), ...(filter.must_not ?? [])];
    if (!conditions.some((condition) => "key" in condition && HASHED.has(condition.key))) return { filter };
    const seal = await seals.of(ownerIn(filter));
    const each = (condition: Condition): Condition => {
      if (!("key" in condition) || !HASHED.has(condition.key) || condition.match === undefined) return condition;
      const { key, match } = condition;
      const tag = (value: unknown) => tagOf(seal, key, value);
      return { key, match: "any" in match ? { any: match.any.map(tag) } : { value: tag(match.value) } };
    };
    return {
      filter: {
        ...(filter.must && { must: filter.must.map(each) }),
        ...(filter.must_not && { must_not: filter.must_not.map(each) }),
      },
    };
  };

  /** Points one by one: what is sealed of each is one value. */
  const changeEach = async (collection: string, points: readonly StoredPoint[], change: Payload, writing: Writing): Promise<void> => {
    for (const { id, payload } of points) {
      const before = payload ?? {};
      const owner = whose({ ...before, ...change });
      const seal = await writing.of(owner);
      const after = sealedPayload({ ...before, ...change }, seal, placeOf(collection, id));
      // Another owner's tags are others.
      const keys = [...(WHOSE in change ? Object.keys(before).filter((key) => before[key] !== null) : []), ...Object.keys(change)];
      const written = Object.fromEntries([...keys, SEALED].map((key) => [key, after[key] ?? null]));
      await inner.setPayload(collection, { payload: written, points: [id], wait: true });
      writing.wrote(id, owner, sealedIn(after));
    }
  };

  const client: VectorClient = {
    collectionExists: (collection) => inner.collectionExists(collection),
    getCollection: (collection) => inner.getCollection(collection),
    createCollection: (collection, args) => inner.createCollection(collection, args),
    deleteCollection: (collection) => inner.deleteCollection(collection),
    createPayloadIndex: (collection, args) => inner.createPayloadIndex(collection, args),
    async upsert(collection, args) {
      const points: Point[] = [];
      const writing = new Writing(inner, seals, collection);
      for (const point of args.points) points.push(await sealedPoint(collection, point, writing));
      const done = await inner.upsert(collection, { ...args, points });
      await writing.ended();
      return done;
    },
    async query(collection, { with_payload = false, prefetch, ...args }) {
      const query = async <Q extends Pick<QueryArgs, "query" | "filter">>(asked: Q): Promise<Q> => {
        const { query: by, filter } = asked;
        const words =
          typeof by === "object" && "indices" in by ? { query: sparse(by, await seals.of(ownerIn(filter ?? args.filter))) } : {};
        return { ...asked, ...words, ...(await filtered(filter)) };
      };
      const fetched = prefetch === undefined ? {} : { prefetch: await Promise.all(prefetch.map(query)) };
      const found = await inner.query(collection, { ...(await query(args)), ...fetched, with_payload: asked(with_payload) });
      return { points: await opened(collection, found.points, with_payload) };
    },
    async scroll(collection, { filter, with_payload = true, ...args }) {
      const page = await inner.scroll(collection, { ...args, ...(await filtered(filter)), with_payload: asked(with_payload) });
      return { ...page, points: await opened(collection, page.points, with_payload) };
    },
    async retrieve(collection, { with_payload = true, ...args }) {
      return opened(collection, await inner.retrieve(collection, { ...args, with_payload: asked(with_payload) }), with_payload);
    },
    async setPayload(collection, { payload, points, filter, wait }) {
      const isClear = Object.entries(payload).every(([key, value]) => key !== WHOSE && CLEAR.has(key) && typeof value !== "object");
      if (isClear)
        return inner.setPayload(collection, {
          payload,
          ...(points && { points }),
          ...(await filtered(filter)),
          ...(wait !== undefined && { wait }),
        });
      const writing = new Writing(inner, seals, collection);
      if (points !== undefined) {
        const found = await client.retrieve(collection, { ids: points, with_payload: true });
        if (found.length < new Set(points).size) throw new VectorStoreError(404, "There is no such point.");
        await changeEach(collection, found, payload, writing);
      } else
        for await (const found of scrolled(client, collection, { limit: PAGE, ...(filter && { filter }) }))
          await changeEach(collection, found, payload, writing);
      return writing.ended();
    },
    async delete(collection, { filter, ...args }) {
      return inner.delete(collection, { ...args, ...(await filtered(filter)) });
    },
    async count(collection, { filter, ...args }) {
      return inner.count(collection, { ...args, ...(await filtered(filter)) });
    },
    async facet(collection, { filter, ...args }) {
      return inner.facet(collection, { ...args, ...(await filtered(filter)) });
    },
  };
  return client;
}

/** Whether anything of a point is to be sealed: markers are all ids and numbers. */
export function tellsWords({ payload = {}, vector }: Pick<Point, "payload" | "vector">): boolean {
  const isSparse = (each: unknown) => !Array.isArray(each);
  return (
    Object.entries(payload).some(([key, value]) => isWord(key, value)) || (!Array.isArray(vector) && Object.values(vector).some(isSparse))
  );
}

function isWord(key: string, value: unknown): boolean {
  return !CLEAR.has(key) && (typeof value === "string" || (typeof value === "object" && value !== null));
}

function whose(payload: Payload): string {
  return typeof payload[WHOSE] === "string" ? payload[WHOSE] : "";
}

/** @throws VectorStoreError where the filter names no one owner: words are hashed for each by their own key */
function ownerIn(filter: Filter | undefined): string {
  for (const condition of filter?.must ?? [])
    if ("key" in condition && condition.key === WHOSE && condition.match !== undefined && "value" in condition.match)
      return String(condition.match.value);
  throw new VectorStoreError(400, "Words are looked for in one owner's points: the filter names none.");
}

function tagOf(seal: OwnerSeal, key: string, value: unknown): string {
  return seal.hashed(`${key} ${JSON.stringify(value)}`).toString(16);
}

function sealedPayload(
  payload: Payload,
  seal: OwnerSeal & { readonly seal: (text: string, place: string) => string },
  place: string,
): Payload {
  const clear: Payload = {};
  const words: Payload = {};
  for (const [key, value] of Object.entries(payload)) {
    if (isWord(key, value)) words[key] = value;
    else clear[key] = value;
    if (HASHED.has(key) && key in words)
      clear[key] = Array.isArray(value) ? value.map((each) => tagOf(seal, key, each)) : tagOf(seal, key, value);
  }
  return Object.keys(words).length === 0 ? clear : { ...clear, [SEALED]: seal.seal(JSON.stringify(words), place) };
}

/** Key by key: a turn opens dozens, and to spread objects of so many keys takes ten times as long. */
function openedPayload(payload: Payload, words: string | null): Payload {
  if (!(SEALED in payload)) return payload;
  const opened: Payload = {};
  for (const key of Object.keys(payload)) if (key !== SEALED && (words !== null || !HASHED.has(key))) opened[key] = payload[key];
  return words === null ? opened : Object.assign(opened, JSON.parse(words) as Payload);
}

/** What has to be read for what is to be shown. */
function asked(shown: WithPayload): WithPayload {
  return Array.isArray(shown) && !tellsNoWords(shown) ? [...new Set([...shown, WHOSE, SEALED])] : shown;
}

/** Whether what is to be shown stands in clear. */
function tellsNoWords(shown: WithPayload): boolean {
  return Array.isArray(shown) ? shown.every((key) => CLEAR.has(key)) : !shown;
}

function pick(payload: Payload, shown: WithPayload): Payload {
  if (!Array.isArray(shown)) return payload;
  const picked: Payload = {};
  for (const key of Object.keys(payload)) if (shown.includes(key)) picked[key] = payload[key];
  return picked;
}
