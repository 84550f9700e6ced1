import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { MemoryRecord } from "../src/domain/memory-record.js";
import { type Owner, ownerOf } from "../src/domain/owner.js";
import { HashingEmbedder } from "../src/embedding/hashing-embedder.js";
import { documentVector, queryVector } from "../src/embedding/sparse-vectors.js";
import { systemClock } from "../src/platform/clock.js";
import { silentLogger } from "../src/platform/logger.js";
import { openLocalQdrant } from "../src/vectors/local/local-qdrant.js";
import { ensureMemoryCollection } from "../src/vectors/mem0/collections.js";
import { loadMem0 } from "../src/vectors/mem0/mem0-client.js";
import { Mem0Service } from "../src/vectors/mem0/mem0-service.js";
import { median, quantile } from "./quantile.js";
import { type MemoryRow, NOW, rowOf } from "./recall/memory-rows.js";
import { questionOf } from "./recall/memory-texts.js";

/**
 * How long the five memories nearest to a message take to find, for one of many users: through Mem0Service on LocalQdrant,
 * embedding included, beside the same Mem0 on its own `memory` vector store. Also the whole recall of a turn (constraints,
 * standing preferences, profile). Loading goes past Mem0, in bulk; the searches don't.
 *
 * `npm run bench:memories -- [users=1000] [memories of each=100]`; ends with 1 when it is not 300 times as fast at p50.
 */
const [users = 1000, each = 100] = process.argv.slice(2).map(Number);
const DIMENSION = 384;
const QUERIES = 300;
const SLOW_QUERIES = 5;
const MIN_RATIO = 300;

const owners = Array.from({ length: users }, (_, n) => ownerOf("bench", `user-${n}`));
const embedder = new HashingEmbedder({ dimension: DIMENSION });
const dir = await mkdtemp(join(tmpdir(), "maitred-bench-"));
try {
  process.exitCode = await run();
} finally {
  await rm(dir, { recursive: true });
}

async function run(): Promise<number> {
  const total = users * each;
  say(`${total.toLocaleString("en")} memories of ${users.toLocaleString("en")} users, ${DIMENSION} dimensions, ${embedder.id}`);
  const ours = await openLocalQdrant({ path: join(dir, "vectors.db") });
  await ensureMemoryCollection(ours.client, "memory", { dimension: DIMENSION, embedder: embedder.id });
  const slow = await openOwnStore();
  const logged = new Map<Owner, ReadonlyMap<string, MemoryRecord>>();

  await timed("loading", async () => {
    for (const [u, owner] of owners.entries()) {
      const rows = await Promise.all(Array.from({ length: each }, (_, m) => rowOf(owner, u * each + m, embedder)));
      logged.set(owner, new Map(rows.map(({ id, record }) => [id, record])));
      const points = rows.map(({ id, text, vector, payload }) => ({ id, vector: { "": vector, bm25: documentVector(text) }, payload }));
      await ours.client.upsert("memory", { points, wait: true });
      await slow.load(rows);
    }
  });

  const service = await Mem0Service.open(
    {
      reads: ours,
      writes: ours,
      embedder,
      sparse: { documentVector, queryVector },
      clock: { now: () => NOW },
      logger: silentLogger,
    },
    { dir },
  );
  const someone = (n: number) => owners[(n * 7919) % owners.length] as Owner;
  const knownOf = (n: number) => logged.get(someone(n)) ?? new Map<string, MemoryRecord>();
  const search = (n: number, text: string) =>
    service.search(someone(n), { text, limit: 5, fields: { status: "active" }, known: knownOf(n) });

  const first = await measure(QUERIES, async (n) => expectFive(await search(n, questionOf(n))));
  const again = await measure(QUERIES, async (n) => expectFive(await search(n, questionOf(n + 5))));
  const recall = await measure(QUERIES, async (n) => {
    const result = await service.recall(someone(n), { text: questionOf(n), now: NOW, deadlineMs: 5_000, known: knownOf(n) });
    if (result.status !== "ok") throw new Error(`recall was ${result.status}`);
  });
  const theirs = await measure(SLOW_QUERIES, async (n) => expectFive(await slow.search(someone(n), questionOf(n))));
  await service.close();
  await ours.close();

  report("Mem0Service, each user for the first time", first);
  report("Mem0Service, users seen before", again);
  report("Mem0Service, the whole recall of a turn", recall);
  report("Mem0 on its own `memory` store", theirs);
  const ratio = median(theirs) / median(first);
  say(`ratio at p50, against users seen for the first time: ${ratio.toFixed(0)} (at least ${MIN_RATIO} is asked for)`);
  return ratio >= MIN_RATIO ? 0 : 1;
}

/** The same Mem0, as it comes, on the store that it brings along. */
async function openOwnStore() {
  const { Memory } = await loadMem0(join(dir, "mem0"));
  const embed = async (text: string) => Array.from((await embedder.embed([text]))[0] ?? []);
  const memory = new Memory({
    disableHistory: true,
    embedder: {
      provider: "langchain",
      config: { model: { embedQuery: embed, embedDocuments: (texts: string[]) => Promise.all(texts.map(embed)) } },
    },
    llm: { provider: "langchain", config: { model: { invoke: async () => "" } } },
    vectorStore: { provider: "memory", config: { collectionName: "memory", dimension: DIMENSION, dbPath: join(dir, "own.db") } },
  });
  await memory.search("warm up", { filters: { user_id: "nobody" }, topK: 1 });
  const { vectorStore } = memory as unknown as {
    vectorStore: { insert(vectors: number[][], ids: string[], payloads: Record<string, unknown>[]): Promise<void> };
  };
  return {
    load: (rows: readonly MemoryRow[]) =>
      vectorStore.insert(
        rows.map(({ vector }) => vector),
        rows.map(({ id }) => id),
        rows.map(({ payload }) => payload),
      ),
    search: async (owner: Owner, query: string) =>
      (await memory.search(query, { filters: { user_id: owner }, topK: 5, threshold: 0 })).results,
  };
}

function expectFive(found: readonly unknown[]): void {
  if (found.length !== Math.min(5, each)) throw new Error(`found ${found.length} memories instead of 5`);
}

async function measure(times: number, work: (n: number) => Promise<void>): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const from = performance.now();
    await work(n);
    taken.push(performance.now() - from);
  }
  return taken;
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const from = systemClock.now().getTime();
  await work();
  say(`${what}: ${((systemClock.now().getTime() - from) / 1000).toFixed(0)} s`);
}

function report(what: string, taken: readonly number[]): void {
  say(`${what}: p50 ${median(taken).toFixed(2)} ms, p95 ${quantile(taken, 0.95).toFixed(2)} ms (${taken.length} searches)`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
