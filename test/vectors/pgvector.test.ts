import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../src/platform/logger.js";
import type { Point, VectorStore } from "../../src/ports/vectors.js";
import { ofUser, uuid, vectorsContract } from "../../src/testing/vectors-contract.js";
import { openPgvector } from "../../src/vectors/pgvector/pgvector.js";
import { freePort } from "../support/free-port.js";
import { needing } from "../support/needing.js";
import { openPgvectorServer, type PgvectorServer } from "../support/pgvector-server.js";
import { openPostgresServer } from "../support/postgres-server.js";

const WORDS = { vectors: { size: 3, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } } as const;

/** What somebody is told: the sentence, and what to do. */
async function told(opening: Promise<unknown>): Promise<string> {
  const error = await opening.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof Error && "hint" in error ? `${error.message} ${String(error.hint)}` : String(error);
}

needing("pgvector")("pgvector", () => {
  let server: PgvectorServer;
  beforeAll(async () => {
    server = await openPgvectorServer();
  });
  afterAll(() => server.close());

  const sql = async (text: string, url = server.url) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const made = async (store: VectorStore, name: string) => {
    await store.client.createCollection(name, WORDS);
    await store.client.createPayloadIndex(name, { field_name: "user_id", field_schema: { type: "keyword", is_tenant: true } });
    await store.client.createPayloadIndex(name, { field_name: "tags", field_schema: "keyword" });
  };
  const point = (n: number, user: string, indices: number[] = [], dense = [1, n / 100, 0]): Point => ({
    id: uuid(n),
    vector: { "": dense, bm25: { indices, values: indices.map(() => 1) } },
    payload: { user_id: user },
  });

  vectorsContract("pgvector", () => server.open({ schema: "contract" }));

  test("texts that jsonb does not take are kept, shown and found as they are", async () => {
    const store = await server.open();
    await made(store, "odd");
    const odd = ["nul \0 in it", "half \ud800 a pair", "\u0001 first", 'a "quote"'];
    for (const [n, tag] of odd.entries())
      await store.client.upsert("odd", { points: [{ ...point(n, "ana"), payload: { user_id: "ana", tags: [tag], text: tag } }] });
    for (const [n, tag] of odd.entries()) {
      const { points } = await store.client.scroll("odd", { filter: ofUser("ana", { key: "tags", match: { value: tag } }) });
      expect(points).toEqual([{ id: uuid(n), payload: { user_id: "ana", tags: [tag], text: tag } }]);
    }
    const { hits } = await store.client.facet("odd", { key: "tags", filter: ofUser("ana") });
    expect(hits.map(({ value }) => value).sort()).toEqual([...odd].sort());
    await store.close();
  });

  test("writers side by side count words as one after the other, and what is deleted leaves no word behind", async () => {
    const [one, other] = [await server.open(), await server.open()];
    await made(one, "counted");
    const words = (n: number) => [1, 2, 3, 1_000 + (n % 7)];
    const write = (store: VectorStore, n: number) => store.client.upsert("counted", { points: [point(n, "ana", words(n))] });
    await Promise.all(Array.from({ length: 40 }, (_, n) => write(n % 2 === 0 ? one : other, n)));
    // Written again, half with other words, while others go.
    const again = (n: number) => one.client.upsert("counted", { points: [point(n, "ana", n % 2 === 0 ? words(n) : [9])] });
    const remove = (n: number) => other.client.delete("counted", { points: [uuid(n)] });
    await Promise.all(Array.from({ length: 20 }, (_, n) => [again(n), remove(n + 20)]).flat());
    const counts = await sql("SELECT term, points FROM maitred.vector_terms WHERE collection = 'counted' ORDER BY term");
    expect(counts.filter(({ term }) => Number(term) < 1_000)).toEqual([
      { term: "-1", points: 20 },
      ...["1", "2", "3"].map((term) => ({ term, points: 10 })),
      { term: "9", points: 10 },
    ]);
    await one.client.delete("counted", { filter: ofUser("ana") });
    expect(await sql("SELECT term FROM maitred.vector_terms WHERE collection = 'counted'")).toEqual([]);
    await one.close();
    await other.close();
  });

  test("an owner with more points than are compared gets an index of their own, which goes when they do", async () => {
    const store = await server.open({ schema: "large", exactUpTo: 100, lookEvery: 1 });
    await made(store, "near");
    const many = Array.from({ length: 300 }, (_, n) => point(n, "o'hara", [n % 5], [Math.cos(n), Math.sin(n), 0.1]));
    await store.client.upsert("near", { points: [...many, point(900, "ben")] });
    const indexes = () => sql("SELECT indexdef FROM pg_indexes WHERE schemaname = 'large' AND indexdef LIKE '%hnsw%'");
    await expect.poll(indexes, { timeout: 20_000 }).toMatchObject([{ indexdef: expect.stringContaining("o''hara") }]);
    const query = [Math.cos(7), Math.sin(7), 0.1];
    const filter = ofUser("o'hara");
    const nearest = many
      .map(({ id, vector }) => ({ id, score: dot(query, (vector as { "": number[] })[""]) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 10);
    const alone = await store.client.query("near", { query, filter, limit: 10 });
    expect(alone.points.map(({ id }) => id)).toEqual(nearest.map(({ id }) => id));
    const words = { query: { indices: [2], values: [1] }, using: "bm25", filter, limit: 300 };
    const both = await store.client.query("near", { prefetch: [words], query, filter, limit: 1 });
    expect(both.points).toMatchObject([{ id: uuid(7) }]);
    await store.client.delete("near", { filter });
    expect(await indexes()).toEqual([]);
    await store.close();
  });

  test("an extension that lies in a schema of its own, as on some services, does as well", async () => {
    await sql("CREATE DATABASE elsewhere");
    const url = server.url.replace("/postgres", "/elsewhere");
    await sql("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions", url);
    const store = await server.open({ url, exactUpTo: 1, lookEvery: 1 });
    await made(store, "things");
    await store.client.upsert("things", { points: [point(1, "ana", [5]), point(2, "ana", [6])] });
    const indexes = () => sql("SELECT indisvalid AS valid FROM pg_index WHERE indexrelid::regclass::text LIKE '%near_%'", url);
    await expect.poll(indexes, { timeout: 20_000 }).toEqual([{ valid: true }]);
    const words = { query: { indices: [6], values: [1] }, using: "bm25", filter: ofUser("ana") };
    const both = await store.client.query("things", { prefetch: [words], query: [1, 0, 0], filter: ofUser("ana"), with_vector: true });
    expect(both.points).toMatchObject([{ id: uuid(2), vector: { bm25: { indices: [6], values: [1] } } }]);
    await store.close();
  });

  test("a collection that another process made anew with other vectors is an error, and no empty answer", async () => {
    const [one, other] = [await server.open({ schema: "anew" }), await server.open({ schema: "anew" })];
    await made(one, "things");
    await one.client.upsert("things", { points: [point(1, "ana")] });
    await other.client.deleteCollection("things");
    await other.client.createCollection("things", { vectors: { size: 2, distance: "Cosine" } });
    await other.client.upsert("things", { points: [{ id: uuid(1), vector: [1, 0] }] });
    await expect(one.client.query("things", { query: [1, 0, 0] })).rejects.toMatchObject({ status: 400 });
    await one.close();
    await other.close();
  });

  test("a server that goes away is told, and used again when it is back; one that is not there yet stops no start", async () => {
    await server.kill();
    const early = await server.open({ schema: "early", timeoutMs: 1_000 });
    expect(await early.health()).toMatchObject({ status: "down" });
    await expect(early.client.count("any", {})).rejects.toMatchObject({ name: "VectorStoreError", status: 0 });
    await server.start();
    expect(await early.health()).toEqual({ status: "ok" });
    await made(early, "things");
    await server.kill();
    // A connection may still have been told that the server ends.
    await expect(early.client.count("things", {})).rejects.toMatchObject({ status: expect.toBeOneOf([0, 503]) });
    expect(await early.health()).toMatchObject({ status: "down" });
    await server.start();
    expect(await early.client.count("things", {})).toEqual({ count: 0 });
    await early.close();
  });

  test("a user without rights, and tables of a newer version, end the start with what to do", async () => {
    await (await server.open({ schema: "newer" })).close();
    await sql("UPDATE newer.vector_layout SET version = 99");
    expect(await told(server.open({ schema: "newer" }))).toMatch(/version 99; this Maitred knows 1.*at least as new/);
    await sql("CREATE ROLE guest LOGIN");
    await sql("CREATE DATABASE bare");
    const url = server.url.replace("maitred@", "guest@");
    expect(await told(server.open({ url: url.replace("/postgres", "/bare") }))).toMatch(/CREATE EXTENSION vector/);
    expect(await told(server.open({ url, schema: "theirs" }))).toMatch(/DATABASE_URL/);
    expect(await told(server.open({ url: server.url.replace("maitred@", "nobody@") }))).toMatch(/refuses the user or the password/);
  });
});

needing("postgres")("a PostgreSQL without pgvector", () => {
  test("ends the start with where to get it", async () => {
    const server = await openPostgresServer();
    const opening = openPgvector({ url: server.url, schema: "maitred", timeoutMs: 5_000, logger: silentLogger });
    expect(await told(opening)).toMatch(/does not have the extension `vector`.*pgvector\/pgvector/);
    await server.close();
  });
});

test("an address where nothing answers stops no start, and is told by health", async () => {
  const url = `postgres://maitred@127.0.0.1:${await freePort()}/postgres`;
  const store = await openPgvector({ url, schema: "maitred", timeoutMs: 500, logger: silentLogger });
  expect(await store.health()).toMatchObject({ status: "down", detail: expect.stringContaining("ECONNREFUSED") });
  await store.close();
});

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
}
