import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";
import { type Composed, compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { ownerOf } from "../src/domain/owner.js";
import { quantile } from "./quantile.js";

/**
 * What writing one user's batches costs another's recall, with the model of the package, on files: recalls by themselves (before and after),
 * and while somebody else's memories are written, a hundred at a time. Every recall asks something new, so that each is embedded.
 *
 * `npm run bench:beside -- [recalls=150] [sentences of a memory=1]`; ends with 1 when a recall beside them takes more than 1.3 times as
 * long at p95, or is late.
 */
const [count = 150, sentences = 1] = process.argv.slice(2).map(Number);
const WARM_UP = 40;
const BATCH = 100;
const MOST = 1.3;
/** Between two recalls: what is measured is one user, not the most that fits. */
const PAUSE_MS = 20;
const LIKED = ["jazz concerts", "aisle seats", "Italian food", "quiet rooms", "morning trains", "red wine", "window tables"];

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-beside-"));
let asked = 0;
let stated = 0;
try {
  process.exitCode = await run();
} finally {
  await rm(dir, { recursive: true });
}

async function run(): Promise<number> {
  const maitred = await compose(parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "minilm" }));
  await maitred.warm();
  await state(maitred, "quiet", 50);
  await recalls(maitred, WARM_UP);
  const alone = await recalls(maitred, count);
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) await state(maitred, "busy", BATCH);
  })();
  await recalls(maitred, WARM_UP);
  const from = stated;
  const beside = await recalls(maitred, count);
  const rss = process.memoryUsage().rss / 1e6;
  isWriting = false;
  await writing;
  const after = await recalls(maitred, count);
  await maitred.close();
  const all = { alone: { ms: [...alone.ms, ...after.ms], late: alone.late + after.late }, beside };
  for (const [name, { ms, late }] of Object.entries(all))
    console.log(`${name}: p50 ${quantile(ms, 0.5).toFixed(1)} ms, p95 ${quantile(ms, 0.95).toFixed(1)} ms; ${late} of ${ms.length} late`);
  const ratio = quantile(beside.ms, 0.95) / quantile(all.alone.ms, 0.95);
  console.log(`beside to alone at p95: ${ratio.toFixed(2)}; some ${stated - from} memories stated meanwhile; RSS ${rss.toFixed(0)} MB`);
  return ratio > MOST || beside.late > 0 ? 1 : 0;
}

async function recalls(maitred: Composed, times: number): Promise<{ readonly ms: readonly number[]; readonly late: number }> {
  const ms: number[] = [];
  let late = 0;
  for (let each = 0; each < times; each++) {
    const text = `Is there jazz or an opera on day ${asked++}?`;
    const started = performance.now();
    const { status } = await maitred.parts.longTerm.recall(ownerOf("default", "quiet"), { text, now: new Date(), deadlineMs: 150 });
    ms.push(performance.now() - started);
    if (status !== "ok" && status !== "empty") late += 1;
    await passed(PAUSE_MS);
  }
  return { ms, late };
}

async function state(maitred: Composed, user: string, memories: number): Promise<void> {
  const said = Array.from({ length: memories }, () => {
    const at = stated++;
    return { text: `Prefers ${LIKED[at % LIKED.length]} of kind ${at}, on day ${at * 13}. `.repeat(sentences).trim(), category: "genre" };
  });
  await maitred.memories.addAll(ownerOf("default", user), said, { now: new Date() });
}
