// Over 300 lines: one contract of one client, call by call.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Filter, Point, VectorClient, VectorStore } from "../ports/vectors.js";
import { type ContractOptions, optionalTests } from "./supports.js";

const NAME = `maitred_test_${randomUUID().slice(0, 8)}`;

/** The nth id of the suite; they sort by n. */
export function uuid(n: number): string {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
}

export function ofUser(user: string, ...more: NonNullable<Filter["must"]>): Filter {
  return { must: [{ key: "user_id", match: { value: user } }, ...more] };
}

async function statusOf(call: Promise<unknown>): Promise<number> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Error && "status" in error && typeof error.status === "number") return error.status;
  throw new Error(`expected a refusal with a status, got ${String(error)}`);
}

/**
 * `sparse` vectors; `idf_of_all`: their IDF is over the points of all users, else over those of the users asked for; `fusion` of
 * prefetches; `strict_filters`: a key without an index is refused.
 */
export type VectorsFeature = "sparse" | "idf_of_all" | "fusion" | "strict_filters";

/**
 * Qdrant's calls as Maitred uses them, on whatever answers them: what a server (1.17 to 1.19) does, on one node with one shard. Left
 * open is what it leaves open: the order of equal scores, and how much deleted points still count in an IDF. Collections of its own,
 * removed afterwards.
 */
export function vectorsContract(name: string, make: () => Promise<VectorStore>, { supports }: ContractOptions<VectorsFeature> = {}): void {
  const when = optionalTests(supports);
  describe(`vectors contract: ${name}`, () => {
    let store: VectorStore;
    let client: VectorClient;
    const made: string[] = [];

    beforeAll(async () => {
      store = await make();
      client = store.client;
    });
    afterAll(async () => {
      const removed = await Promise.allSettled(made.map((collection) => client.deleteCollection(collection)));
      await store.close();
      expect(removed.filter(({ status }) => status === "rejected")).toEqual([]);
    });

    async function collection(points: Point[] = []): Promise<string> {
      const fresh = `${NAME}_${made.length}`;
      made.push(fresh);
      await client.createCollection(fresh, {
        vectors: { size: 4, distance: "Cosine" },
        sparse_vectors: { bm25: { modifier: "idf" } },
        hnsw_config: { m: 0, payload_m: 16 },
      });
      const index = (field_name: string, field_schema: Parameters<VectorClient["createPayloadIndex"]>[1]["field_schema"]) =>
        client.createPayloadIndex(fresh, { field_name, field_schema, wait: true });
      await index("user_id", { type: "keyword", is_tenant: true });
      await index("status", "keyword");
      await index("tags", "keyword");
      await index("at", "integer");
      await index("done", "bool");
      if (points.length > 0) await client.upsert(fresh, { points, wait: true });
      return fresh;
    }

    const point = (n: number, payload: Record<string, unknown> = {}, dense: number[] = [1, 0, 0, 0]): Point => ({
      id: uuid(n),
      vector: { "": dense },
      payload: { user_id: "ana", ...payload },
    });
    const idsOf = (points: readonly { id: unknown }[]) => points.map(({ id }) => id);
    const scrolled = async (name: string, filter: Filter) => idsOf((await client.scroll(name, { filter, limit: 100 })).points);

    test("a collection is made once, described, and gone when deleted", async () => {
      const fresh = await collection();
      expect(await client.collectionExists(fresh)).toMatchObject({ exists: true });
      expect(await statusOf(client.createCollection(fresh, { vectors: { size: 4, distance: "Cosine" } }))).toBe(409);
      const info = await client.getCollection(fresh);
      expect(info.config.params).toMatchObject({ vectors: { size: 4, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } });
      expect(Object.keys(info.payload_schema).sort()).toEqual(["at", "done", "status", "tags", "user_id"]);
      await client.deleteCollection(fresh);
      expect(await client.collectionExists(fresh)).toMatchObject({ exists: false });
      expect(await statusOf(client.getCollection(fresh))).toBe(404);
      expect(await statusOf(client.count(fresh, {}))).toBe(404);
      expect(await statusOf(client.upsert(fresh, { points: [point(1)], wait: true }))).toBe(404);
    });

    test("an insert-only upsert leaves what is there, an update-only one adds nothing", async () => {
      const name = await collection([point(1, { status: "first" })]);
      await client.upsert(name, {
        points: [point(1, { status: "second" }), point(2, { status: "second" })],
        update_mode: "insert_only",
        wait: true,
      });
      await client.upsert(name, { points: [point(2, { status: "third" }), point(3)], update_mode: "update_only", wait: true });
      const points = await client.retrieve(name, { ids: [uuid(1), uuid(2), uuid(3)], with_payload: true });
      const statuses = new Map(points.map(({ id, payload }) => [id, payload?.status]));
      expect(statuses).toEqual(
        new Map([
          [uuid(1), "first"],
          [uuid(2), "third"],
        ]),
      );
    });

    test("of two points with one id in a call the later one is stored", async () => {
      const name = await collection();
      for (const update_mode of ["insert_only", "update_only", "upsert"] as const) {
        await client.upsert(name, { points: [point(1, { at: 1 }), point(1, { status: update_mode })], update_mode, wait: true });
        const [stored] = await client.retrieve(name, { ids: [uuid(1)], with_payload: true });
        expect(stored?.payload).toEqual({ user_id: "ana", status: update_mode });
      }
    });

    // A vector that an upsert leaves out may stay on a server before 1.19, where the point lies in an optimized segment.
    when("sparse")("an upsert with an empty sparse vector takes the old one away", async () => {
      const withTerm = { ...point(1), vector: { "": [1, 0, 0, 0], bm25: { indices: [5], values: [1] } } };
      const name = await collection([withTerm]);
      const ask = () => client.query(name, { query: { indices: [5], values: [1] }, using: "bm25", filter: ofUser("ana") });
      expect(idsOf((await ask()).points)).toEqual([uuid(1)]);
      await client.upsert(name, { points: [{ ...withTerm, vector: { "": [1, 0, 0, 0], bm25: { indices: [], values: [] } } }], wait: true });
      expect((await ask()).points).toEqual([]);
    });

    test("an upsert replaces the whole payload, setPayload merges its top-level keys", async () => {
      const name = await collection([point(1, { status: "active", source: { a: 1, b: 2 } })]);
      await client.setPayload(name, { points: [uuid(1)], payload: { at: 7, source: { a: 3 } }, wait: true });
      const [merged] = await client.retrieve(name, { ids: [uuid(1)], with_payload: true });
      expect(merged?.payload).toEqual({ user_id: "ana", status: "active", at: 7, source: { a: 3 } });
      await client.upsert(name, { points: [point(1, { at: 8 })], wait: true });
      const [replaced] = await client.retrieve(name, { ids: [uuid(1)], with_payload: true });
      expect(replaced?.payload).toEqual({ user_id: "ana", at: 8 });
      await client.setPayload(name, { filter: ofUser("ana"), payload: { status: "review" }, wait: true });
      expect(await scrolled(name, ofUser("ana", { key: "status", match: { value: "review" } }))).toEqual([uuid(1)]);
    });

    test("an upsert keeps a null, a set payload with null removes the key", async () => {
      const name = await collection([point(1, { status: null, tags: ["a"], at: null })]);
      await client.setPayload(name, { points: [uuid(1)], payload: { tags: null, at: null, source: { a: null } }, wait: true });
      const [left] = await client.retrieve(name, { ids: [uuid(1)], with_payload: true });
      expect(left?.payload).toEqual({ user_id: "ana", status: null, source: { a: null } });
    });

    test("a set payload on an id that isn't there is a 404, one by a filter that fits nothing is not", async () => {
      const name = await collection([point(1)]);
      expect(await statusOf(client.setPayload(name, { points: [uuid(9)], payload: { at: 1 }, wait: true }))).toBe(404);
      await client.setPayload(name, { filter: ofUser("ana", { has_id: [uuid(9)] }), payload: { at: 1 }, wait: true });
      expect(await client.count(name, { exact: true })).toMatchObject({ count: 1 });
      const [left] = await client.retrieve(name, { ids: [uuid(1), uuid(9)], with_payload: true });
      expect(left?.payload).toEqual({ user_id: "ana" });
    });

    test("a set payload that changes the user moves the point to them", async () => {
      const name = await collection([point(1), point(2)]);
      await client.count(name, { filter: ofUser("ana"), exact: true });
      await client.setPayload(name, { points: [uuid(1)], payload: { user_id: "ben" }, wait: true });
      expect(await scrolled(name, ofUser("ana"))).toEqual([uuid(2)]);
      expect(await scrolled(name, ofUser("ben"))).toEqual([uuid(1)]);
    });

    test("vectors come back normalised, and a cosine is −1 to 1", async () => {
      const name = await collection([point(1, {}, [3, 4, 0, 0]), point(2, {}, [-3, -4, 0, 0]), point(3, {}, [0, 0, 2, 0])]);
      const { points } = await client.query(name, { query: [30, 40, 0, 0], filter: ofUser("ana"), limit: 10, with_vector: true });
      expect(idsOf(points)).toEqual([uuid(1), uuid(3), uuid(2)]);
      expect(points[0]?.score).toBeCloseTo(1, 5);
      expect(points[1]?.score).toBeCloseTo(0, 5);
      expect(points[2]?.score).toBeCloseTo(-1, 5);
      const [x = 0, y = 0] = (points[0]?.vector ?? []) as number[];
      expect(x).toBeCloseTo(0.6, 5);
      expect(y).toBeCloseTo(0.8, 5);
    });

    test("a vector of zeros is at 0 to everything", async () => {
      const name = await collection([point(1, {}, [0, 0, 0, 0]), point(2)]);
      const scores = async (query: number[]) =>
        new Map((await client.query(name, { query, filter: ofUser("ana") })).points.map(({ id, score }) => [id, score]));
      expect((await scores([1, 0, 0, 0])).get(uuid(1))).toBeCloseTo(0, 5);
      expect([...(await scores([0, 0, 0, 0])).values()].map((score) => Math.abs(score))).toEqual([0, 0]);
    });

    test("a query keeps to its filter and limit", async () => {
      const name = await collection([
        point(1, { status: "active" }, [1, 0, 0, 0]),
        point(2, { status: "active" }, [1, 1, 0, 0]),
        point(3, { status: "gone" }, [1, 0.1, 0, 0]),
        point(4, { status: "active" }, [0, 1, 0, 0]),
        { ...point(5), payload: { user_id: "ben", status: "active" } },
      ]);
      const filter = ofUser("ana", { key: "status", match: { value: "active" } });
      const ask = async (more: object) => idsOf((await client.query(name, { query: [1, 0, 0, 0], filter, ...more })).points);
      expect(await ask({})).toEqual([uuid(1), uuid(2), uuid(4)]);
      expect(await ask({ limit: 1 })).toEqual([uuid(1)]);
      expect(await statusOf(client.query(name, { query: [1, 0, 0, 0], filter, limit: 0 }))).toBe(422);
    });

    test("what is shown is what was asked for", async () => {
      const name = await collection([point(1, { status: "active", at: 3 })]);
      const query = async (more: object) => (await client.query(name, { query: [1, 0, 0, 0], filter: ofUser("ana"), ...more })).points[0];
      expect((await query({}))?.payload ?? null).toBeNull();
      expect((await query({ with_payload: true }))?.payload).toEqual({ user_id: "ana", status: "active", at: 3 });
      expect((await query({ with_payload: ["status"] }))?.payload).toEqual({ status: "active" });
      expect((await client.scroll(name, { filter: ofUser("ana") })).points[0]?.payload).toHaveProperty("at", 3);
      expect((await client.scroll(name, { filter: ofUser("ana"), with_payload: false })).points[0]?.payload ?? null).toBeNull();
    });

    const scoresByWords = async () => {
      const sparse = (n: number, user: string, indices: number[]): Point => ({
        id: uuid(n),
        vector: { "": [1, 0, 0, 0], bm25: { indices, values: indices.map(() => 2) } },
        payload: { user_id: user },
      });
      const withWords = [sparse(1, "ana", [1, 2]), sparse(2, "ana", [2]), sparse(3, "ana", [3]), sparse(4, "ben", [1])];
      // A point that has no such vector, or an empty one, doesn't count.
      const without: Point[] = [point(5), { ...point(6), vector: { "": [1, 0, 0, 0], bm25: { indices: [], values: [] } } }];
      const name = await collection([...withWords, ...without]);
      const { points } = await client.query(name, { query: { indices: [1, 2], values: [1, 1] }, using: "bm25", filter: ofUser("ana") });
      return points;
    };

    when("sparse")("a sparse query finds only what shares a term, what shares more first", async () => {
      expect(idsOf(await scoresByWords())).toEqual([uuid(1), uuid(2)]);
    });

    when("idf_of_all")("a sparse query scores by weight × IDF over the vectors of all users", async () => {
      const points = await scoresByWords();
      const idf = Math.log(1 + (4 - 2 + 0.5) / (2 + 0.5));
      expect(points[0]?.score).toBeCloseTo(4 * idf, 4);
      expect(points[1]?.score).toBeCloseTo(2 * idf, 4);
    });

    when("fusion")("a dense query scores anew what its prefetches found; what has no dense vector is left out", async () => {
      const points: Point[] = [
        { id: uuid(1), vector: { "": [0, 1, 0, 0], bm25: { indices: [9], values: [3] } }, payload: { user_id: "ana" } },
        { id: uuid(2), vector: { "": [1, 1, 0, 0], bm25: { indices: [9], values: [1] } }, payload: { user_id: "ana" } },
        { id: uuid(3), vector: { bm25: { indices: [9], values: [2] } }, payload: { user_id: "ana" } },
        { id: uuid(4), vector: { "": [1, 0, 0, 0] }, payload: { user_id: "ana" } },
        { id: uuid(5), vector: { "": [1, 0, 0, 0], bm25: { indices: [9], values: [4] } }, payload: { user_id: "ben" } },
      ];
      const filter = ofUser("ana");
      const sparse = { query: { indices: [9], values: [1] }, using: "bm25", filter, limit: 3 };
      const { points: found } = await client.query(await collection(points), {
        prefetch: [sparse],
        query: [1, 0, 0, 0],
        filter,
        limit: 5,
        with_payload: true,
      });
      expect(idsOf(found)).toEqual([uuid(2), uuid(1)]);
      expect(found[0]?.score).toBeCloseTo(Math.SQRT1_2, 4);
      expect(found[1]?.score).toBeCloseTo(0, 4);
    });

    when("fusion")("prefetches are fused: RRF with k = 2 and ranks from 0", async () => {
      const both = (n: number, dense: number[], weight: number): Point => ({
        id: uuid(n),
        vector: { "": dense, bm25: { indices: [9], values: [weight] } },
        payload: { user_id: "ana" },
      });
      const name = await collection([both(1, [1, 0, 0, 0], 1), both(2, [1, 1, 0, 0], 3), both(3, [0, 1, 0, 0], 2)]);
      const filter = ofUser("ana");
      const { points: rrf } = await client.query(name, {
        prefetch: [
          { query: [1, 0, 0, 0], filter, limit: 3 },
          { query: { indices: [9], values: [1] }, using: "bm25", filter, limit: 2 },
        ],
        query: { fusion: "rrf" },
        limit: 3,
      });
      expect(idsOf(rrf)).toEqual([uuid(2), uuid(3), uuid(1)].sort((a, b) => expected(b) - expected(a)));
      for (const { id, score } of rrf) expect(score).toBeCloseTo(expected(String(id)), 5);
      function expected(id: string): number {
        // Dense ranks: 1, 2, 3; sparse ranks: 2, 3.
        return { [uuid(1)]: 1 / 2, [uuid(2)]: 1 / 3 + 1 / 2, [uuid(3)]: 1 / 4 + 1 / 3 }[id] ?? Number.NaN;
      }
    });

    test("a condition holds if any element of an array fits; must_not holds on a missing key", async () => {
      const name = await collection([
        point(1, { tags: ["jazz", "late"] }),
        point(2, { tags: "rock" }),
        point(3, {}),
        point(4, { tags: [] }),
        point(5, { tags: null }),
      ]);
      const holding = (more: Partial<Filter>) => scrolled(name, { ...more, must: [...(ofUser("ana").must ?? []), ...(more.must ?? [])] });
      const jazz = { key: "tags", match: { value: "jazz" } };
      expect(await holding({ must: [jazz] })).toEqual([uuid(1)]);
      expect(await holding({ must_not: [jazz] })).toEqual([uuid(2), uuid(3), uuid(4), uuid(5)]);
      expect(await holding({ must: [{ key: "tags", match: { any: ["late", "rock"] } }] })).toEqual([uuid(1), uuid(2)]);
      expect(await holding({ must_not: [jazz, { has_id: [uuid(2)] }] })).toEqual([uuid(3), uuid(4), uuid(5)]);
    });

    test("ranges, booleans and integers", async () => {
      const name = await collection([point(1, { at: 10, done: true }), point(2, { at: 20, done: false }), point(3)]);
      expect(await scrolled(name, ofUser("ana", { key: "at", range: { gte: 10, lt: 20 } }))).toEqual([uuid(1)]);
      expect(await scrolled(name, ofUser("ana", { key: "at", range: { gt: 10, lte: 20 } }))).toEqual([uuid(2)]);
      expect(await scrolled(name, ofUser("ana", { key: "done", match: { value: false } }))).toEqual([uuid(2)]);
      expect(await scrolled(name, ofUser("ana", { key: "at", match: { any: [10, 20] } }))).toEqual([uuid(1), uuid(2)]);
    });

    test("a scroll goes in id order, page by page, each point once", async () => {
      const name = await collection([5, 3, 9, 1, 7, 2].map((n) => point(n)));
      const seen: unknown[] = [];
      let offset: string | number | undefined;
      do {
        const page = await client.scroll(name, { filter: ofUser("ana"), limit: 2, ...(offset === undefined ? {} : { offset }) });
        seen.push(...idsOf(page.points));
        const next = page.next_page_offset;
        offset = typeof next === "string" || typeof next === "number" ? next : undefined;
      } while (offset !== undefined);
      expect(seen).toEqual([1, 2, 3, 5, 7, 9].map(uuid));
    });

    test("deletes by ids and by filter, and counts what is left", async () => {
      const name = await collection([point(1), point(2), point(3, { status: "gone" }), { ...point(4), payload: { user_id: "ben" } }]);
      await client.delete(name, { points: [uuid(1), uuid(99)], wait: true });
      expect(await client.count(name, { exact: true })).toMatchObject({ count: 3 });
      await client.delete(name, { filter: ofUser("ana", { key: "status", match: { value: "gone" } }), wait: true });
      expect(await scrolled(name, ofUser("ana"))).toEqual([uuid(2)]);
      await client.delete(name, { filter: ofUser("ana"), wait: true });
      expect(await client.count(name, { filter: ofUser("ana"), exact: true })).toMatchObject({ count: 0 });
      expect(await client.count(name, { filter: ofUser("ben"), exact: true })).toMatchObject({ count: 1 });
    });

    test("counts points by the values of a key, the most frequent first, within a filter", async () => {
      const name = await collection([
        point(1, { status: "gone" }),
        point(2, { status: "kept" }),
        point(3, { status: "kept" }),
        { ...point(4), payload: { user_id: "ben", status: "kept" } },
        { ...point(5), payload: { user_id: "cem", status: "gone" } },
      ]);
      const of = async (filter: Filter, limit?: number) =>
        (await client.facet(name, { key: "status", filter, exact: true, ...(limit !== undefined && { limit }) })).hits;
      expect(await of(ofUser("ana"))).toMatchObject([
        { value: "kept", count: 2 },
        { value: "gone", count: 1 },
      ]);
      expect(await of(ofUser("ana"), 1)).toMatchObject([{ value: "kept", count: 2 }]);
      const some = {
        must: [
          { key: "user_id", match: { any: ["ana", "ben"] } },
          { key: "status", match: { any: ["kept", "none"] } },
        ],
      };
      expect(await of(some)).toMatchObject([{ value: "kept", count: 3 }]);
      expect(await of(ofUser("nobody"))).toEqual([]);
      expect(await statusOf(client.facet(name, { key: "colour" }))).toBe(400);
    });

    when("strict_filters")("a filter on a key without an index is refused", async () => {
      const name = await collection([point(1)]);
      const unindexed = ofUser("ana", { key: "colour", match: { value: "red" } });
      expect(await statusOf(client.scroll(name, { filter: unindexed }))).toBe(400);
      expect(await statusOf(client.query(name, { query: [1, 0, 0, 0], filter: unindexed }))).toBe(400);
      expect(await statusOf(client.count(name, { filter: unindexed }))).toBe(400);
      expect(await statusOf(client.delete(name, { filter: unindexed, wait: true }))).toBe(400);
      expect(await statusOf(client.setPayload(name, { filter: unindexed, payload: { at: 1 }, wait: true }))).toBe(400);
      expect(await client.count(name, { exact: true })).toMatchObject({ count: 1 });
    });

    test("ids that are neither UUID nor unsigned integer, and vectors of another dimension, are refused; nothing is written", async () => {
      const name = await collection();
      expect(await statusOf(client.upsert(name, { points: [point(1), { ...point(2), id: "two" }], wait: true }))).toBe(400);
      expect(await statusOf(client.upsert(name, { points: [point(1, {}, [1, 0])], wait: true }))).toBe(400);
      expect(await statusOf(client.query(name, { query: [1, 0], filter: ofUser("ana") }))).toBe(400);
      expect(await statusOf(client.query(name, { query: { indices: [1], values: [1] }, using: "other", filter: ofUser("ana") }))).toBe(400);
      expect(await client.count(name, { exact: true })).toMatchObject({ count: 0 });
    });

    test("inside an aborted signal every call rejects with ABORTED and nothing is written", async () => {
      const name = await collection();
      const upsert = store.withSignal(AbortSignal.abort(), () => client.upsert(name, { points: [point(1)], wait: true }));
      await expect(upsert).rejects.toMatchObject({ code: "ABORTED" });
      expect(await client.count(name, { exact: true })).toMatchObject({ count: 0 });
    });

    test("it says that it is well", async () => {
      expect(await store.health()).toMatchObject({ status: "ok" });
    });
  });
}
