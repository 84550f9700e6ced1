/**
 * LocalQdrant's searches beside scanning everything. `tsx bench/vectors.ts [--quick]`; quick: a tenth of the points.
 *
 * 1. 100,000 points of 1,000 users, 384 dimensions: top 20 of one user, dense; users taken in turn, so that caches are cold and warm as they come.
 * 2. One user's 3,000 points among 300,000 of others, 384 dimensions and BM25: hybrid (dense and sparse prefetch, RRF), top 20 with payloads.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentVector, queryVector } from "../src/embedding/sparse-vectors.js";
import type { Filter, Point } from "../src/ports/vectors.js";
import type { LocalVectorStore } from "../src/vectors/local/local-qdrant.js";
import { openLocalQdrant } from "../src/vectors/local/local-qdrant.js";
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

async function fill(
  store: LocalVectorStore,
  collection: string,
  count: number,
  userOf: (n: number) => string,
  lexical: boolean,
): Promise<void> {
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

function show(name: string, { p50, p95 }: { p50: number; p95: number }): void {
  console.log(`${name.padEnd(66)} p50 ${p50.toFixed(2)} ms  p95 ${p95.toFixed(2)} ms`);
}

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-"));
const path = join(dir, "vectors.db");
const store = await openLocalQdrant({ path });
try {
  const many = 100_000 / scale;
  await fill(store, "dense", many, (n) => `user${n % 1_000}`, false);
  const dense = (filter?: Filter) => store.client.query("dense", { query: vector(), limit: 20, ...(filter && { filter }) });
  const one = await timed(2_000, (run) => dense(of(`user${(run * 7) % 1_000}`)));
  show(`top 20 of one user's ${many / 1_000} among ${many} points, dense`, one);
  const all = await timed(3, () => dense());
  show(`top 20 of all ${many} points (full scan)`, all);
  console.log(`ratio at p50: ${(all.p50 / one.p50).toFixed(0)}`);

  const others = 300_000 / scale;
  const own = 3_000;
  await fill(store, "hybrid", others + own, (n) => (n % Math.round((others + own) / own) === 0 ? "one" : `other${n % 997}`), true);
  const hybrid = (filter?: Filter) =>
    store.client.query("hybrid", {
      prefetch: [
        { query: vector(), limit: 100, ...(filter && { filter }) },
        { query: queryVector(sentence()), using: "bm25", limit: 100, ...(filter && { filter }) },
      ],
      query: { fusion: "rrf" },
      ...(filter && { filter }),
      limit: 20,
      with_payload: true,
    });
  const first = await timed(1, () => hybrid(of("one")));
  show("hybrid, the user's first query (their points come from the file)", first);
  const warm = await timed(500, () => hybrid(of("one")));
  show(`hybrid top 20 at 3,000 points of one user among ${others} of others`, warm);
  const scan = await timed(1, () => hybrid());
  show("the same over all points (full scan)", scan);
  console.log(`ratio at p50: ${(scan.p50 / warm.p50).toFixed(0)}; file: ${((await stat(path)).size / 1e6).toFixed(0)} MB`);
} finally {
  await store.close();
  await rm(dir, { recursive: true, force: true });
}
