/**
 * Searches of one user's points, on every store of vectors that is at hand, and how many times as long as LocalQdrant each takes.
 * `tsx bench/vectors.ts [--quick]`; quick: a tenth of the points. With POSTGRES_WITH_VECTOR and
 * CHROMA_TOOLS also pgvector and Chroma; with QDRANT_URL that Qdrant, else its client over HTTP to LocalQdrant.
 *
 * 1. 100,000 points of 1,000 users, 384 dimensions: top 20 of one user, dense; users taken in turn, so that caches are cold and warm as they
 *    come.
 * 2. One user's 3,000 points among 97,000 of others, 384 dimensions and BM25: hybrid (dense and sparse prefetch, RRF), top 20 with
 *    payloads; and the same of the others, who have about 97 each.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentVector, queryVector } from "../src/embedding/sparse-vectors.js";
import type { Filter, Point, VectorStore } from "../src/ports/vectors.js";
import { openLocalQdrant } from "../src/vectors/local/local-qdrant.js";
import { openQdrant } from "../src/vectors/qdrant/qdrant.js";
import { openChromaServer } from "../test/support/chroma-server.js";
import { CHROMA_TOOLS, POSTGRES_WITH_VECTOR } from "../test/support/needing.js";
import { openPgvectorServer } from "../test/support/pgvector-server.js";
import { openQdrantHttp } from "../test/support/qdrant-http.js";
import { quantile } from "./quantile.js";

const DIMENSION = 384;
const scale = process.argv.includes("--quick") ? 10 : 1;
const WORDS = Array.from({ length: 5_000 }, (_, i) => `w${i.toString(36)}`);

/** Mulberry32: the same points on every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const next = random(7);
const vector = () => Array.from({ length: DIMENSION }, () => next() - 0.5);
/** Common words are common, as in speech. */
const sentence = () => Array.from({ length: 20 }, () => WORDS[Math.floor(next() ** 3 * WORDS.length)]).join(" ");
const of = (user: string): Filter => ({ must: [{ key: "user_id", match: { value: user } }] });

async function timed(runs: number, work: (run: number) => Promise<unknown>): Promise<{ p50: number; p95: number }> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await work(run);
    times.push(performance.now() - start);
  }
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95) };
}

async function fill(store: VectorStore, collection: string, count: number, userOf: (n: number) => string, lexical: boolean): Promise<void> {
  await store.client.createCollection(collection, {
    vectors: { size: DIMENSION, distance: "Cosine" },
    sparse_vectors: { bm25: { modifier: "idf" } },
  });
  await store.client.createPayloadIndex(collection, { field_name: "user_id", field_schema: { type: "keyword", is_tenant: true } });
  for (let start = 0; start < count; start += 1_000) {
    const points: Point[] = [];
    for (let n = start; n < Math.min(count, start + 1_000); n++) {
      const text = sentence();
      points.push({
        id: n,
        vector: lexical ? { "": vector(), bm25: documentVector(text) } : { "": vector() },
        payload: { user_id: userOf(n), text },
      });
    }
    await store.client.upsert(collection, { points });
  }
}

/** Of what was measured first on each line. */
const first = new Map<string, number>();

function show(store: string, name: string, { p50, p95 }: { p50: number; p95: number }): void {
  const beside = first.get(name);
  if (beside === undefined) first.set(name, p50);
  const ratio = beside === undefined ? "" : `  ${(p50 / beside).toFixed(1)} ×`;
  console.log(`${store.padEnd(9)}${name.padEnd(74)} p50 ${p50.toFixed(2)} ms  p95 ${p95.toFixed(2)} ms${ratio}`);
}

async function measure(name: string, store: VectorStore): Promise<void> {
  const many = 100_000 / scale;
  await fill(store, "bench_dense", many, (n) => `user${n % 1_000}`, false);
  const dense = (filter?: Filter) => store.client.query("bench_dense", { query: vector(), limit: 20, ...(filter && { filter }) });
  show(
    name,
    `top 20 of one user's ${many / 1_000} among ${many} points, dense`,
    await timed(2_000, (run) => dense(of(`user${(run * 7) % 1_000}`))),
  );

  const others = 97_000 / scale;
  const own = 3_000;
  await fill(store, "bench_hybrid", others + own, (n) => (n % Math.round((others + own) / own) === 0 ? "one" : `other${n % 997}`), true);
  const hybrid = (user: string) => {
    const filter = of(user);
    return store.client.query("bench_hybrid", {
      prefetch: [
        { query: vector(), limit: 100, filter },
        { query: queryVector(sentence()), using: "bm25", limit: 100, filter },
      ],
      query: { fusion: "rrf" },
      filter,
      limit: 20,
      with_payload: true,
    });
  };
  show(name, "hybrid, the user's first query", await timed(1, () => hybrid("one")));
  show(name, `hybrid top 20 at ${own} points of one user among ${others} of others`, await timed(300, () => hybrid("one")));
  show(
    name,
    `hybrid top 20 of users with ${Math.round(others / 997)} points each`,
    await timed(1_000, (run) => hybrid(`other${(run * 7) % 997}`)),
  );
}

async function measured(name: string, store: VectorStore, after: () => Promise<unknown>): Promise<void> {
  try {
    await measure(name, store);
  } finally {
    for (const collection of ["bench_dense", "bench_hybrid"]) await store.client.deleteCollection(collection);
    await store.close();
    await after();
  }
}

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-"));
await measured("local", await openLocalQdrant({ path: join(dir, "vectors.db") }), () => rm(dir, { recursive: true, force: true }));
const { QDRANT_URL } = process.env;
if (QDRANT_URL) await measured("Qdrant", await openQdrant({ url: QDRANT_URL, timeoutMs: 60_000 }), async () => {});
else {
  // What the client and HTTP cost: LocalQdrant behind them.
  const http = await openQdrantHttp();
  await measured("HTTP", await openQdrant({ url: http.url, timeoutMs: 60_000 }), () => http.close());
}
if (POSTGRES_WITH_VECTOR !== "") {
  const server = await openPgvectorServer();
  await measured("pgvector", await server.open({ timeoutMs: 60_000 }), () => server.close());
}
if (CHROMA_TOOLS !== "") {
  const server = await openChromaServer();
  await measured("Chroma", await server.open({ timeoutMs: 600_000 }), () => server.close());
}
