import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Composed, compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { statementSchema } from "../src/domain/memory.js";
import { ownerOf } from "../src/domain/owner.js";
import type { ChatModel, ModelEvent } from "../src/ports/agent.js";
import { median, quantile } from "./quantile.js";

/**
 * What Maitred adds to a turn, beside the model: a whole turn whose model answers at once, with and without long-term memory, on
 * files and in memory alone; beside the two syncs to disk that every durable turn needs. The user has memories and a long
 * session; what a turn leaves to write back is done before the next, as a guest takes longer to read than that takes. The set-ups
 * take turns, so that the machine strikes them alike.
 *
 * `npm run bench:parts -- [turns=500] [memories=100]`; ends with 1 when the whole, on files, takes 10 ms or more at p50.
 */
const [turns = 500, memories = 100] = process.argv.slice(2).map(Number);
const WARM_UP = 30;
const MAX_P50_MS = 10;
const KINDS = ["jazz", "opera", "folk", "ballet", "theatre", "football", "tapas", "ramen"];

const model: ChatModel = {
  name: "at once",
  standIn: true,
  async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
    yield { type: "text", delta: "Very well." };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  },
};

interface SetUp {
  readonly name: string;
  readonly variables: Readonly<Record<string, string>>;
}

const WHOLE: SetUp = { name: "files, long-term memory, history", variables: {} };
const SET_UPS: readonly SetUp[] = [
  WHOLE,
  { name: "files, no long-term memory (MEM0_ENABLED=false)", variables: { MEM0_ENABLED: "false" } },
  {
    name: "nothing kept (SHORT_TERM_BACKEND=memory), long-term memory, history",
    variables: { SHORT_TERM_BACKEND: "memory" },
  },
  {
    name: "nothing kept, no long-term memory",
    variables: { SHORT_TERM_BACKEND: "memory", MEM0_ENABLED: "false", HISTORY_BACKEND: "none" },
  },
];

interface Running {
  readonly setUp: SetUp;
  readonly maitred: Composed;
  readonly sessionId: string;
  readonly total: number[];
  readonly window: number[];
  readonly recall: number[];
}

const owner = ownerOf("default", "bench");
const dir = await mkdtemp(join(tmpdir(), "maitred-bench-turn-"));
try {
  process.exitCode = await run();
} finally {
  await rm(dir, { recursive: true });
}

async function run(): Promise<number> {
  const running: Running[] = [];
  for (const [n, setUp] of SET_UPS.entries()) running.push(await start(setUp, join(dir, String(n))));
  const syncs: number[] = [];
  const disk = await open(join(dir, "syncs"), "w");
  for (let turn = -WARM_UP; turn < turns; turn++) {
    for (const each of running) await oneTurn(each, turn);
    if (turn >= 0) syncs.push(await twoSyncs(disk));
  }
  await disk.close();
  for (const { maitred } of running) await maitred.close({ drainMs: 0 });

  say(`${turns} turns each, one session, ${memories} memories; milliseconds`);
  for (const { setUp, total, window, recall } of running) {
    say(`\n${setUp.name}`);
    report("the whole turn", total);
    report("  of it reading the window", window);
    report("  of it recall", recall);
  }
  say("\nfor comparison");
  report("two appends of 1 KB, each synced", syncs);
  const p50 = running.map(({ total }) => median(total));
  const [whole = Number.NaN, withoutMemory = Number.NaN] = p50;
  say(
    `\nratios at p50: long-term memory on to off ${ratio(whole, withoutMemory)}; the whole to its two syncs ${ratio(whole, median(syncs))}`,
  );
  say(`the whole at p50: ${whole.toFixed(2)} ms (under ${MAX_P50_MS} is asked for)`);
  return whole < MAX_P50_MS ? 0 : 1;
}

async function start(setUp: SetUp, storage: string): Promise<Running> {
  const maitred = await compose(
    parseConfig({ MEMORY_STORAGE_DIR: storage, EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "5000", ...setUp.variables }),
    { model },
  );
  if (maitred.info.longTerm.enabled) {
    for (let n = 0; n < memories; n++) {
      const text = `Likes ${KINDS[n % KINDS.length]} at venue ${n}`;
      await maitred.memories.add(owner, statementSchema.parse({ text, category: "other", aspect: `venue ${n}` }), { now: new Date() });
    }
  }
  const { id } = await maitred.sessions.create(owner, {});
  return { setUp, maitred, sessionId: id, total: [], window: [], recall: [] };
}

async function oneTurn({ setUp, maitred, sessionId, total, window, recall }: Running, turn: number): Promise<void> {
  const message = `Is there any ${KINDS[(turn + WARM_UP) % KINDS.length]} in the old town on day ${turn + WARM_UP}?`;
  const from = performance.now();
  const answer = await maitred.chat.chat({ owner, sessionId, message });
  const took = performance.now() - from;
  const expected = setUp.variables.MEM0_ENABLED === "false" ? "disabled" : "ok";
  if (!(await maitred.parts.worker.drain(30_000))) throw new Error(`${setUp.name}: write-back did not keep up`);
  if (answer.memory.status !== expected) throw new Error(`${setUp.name}: recall was ${answer.memory.status}`);
  if (turn < 0) return;
  total.push(took - answer.timing.model_ms);
  window.push(answer.timing.window_ms);
  recall.push(answer.timing.recall_ms);
}

async function twoSyncs(disk: Awaited<ReturnType<typeof open>>): Promise<number> {
  const line = Buffer.alloc(1024, "x");
  const from = performance.now();
  for (let n = 0; n < 2; n++) {
    await disk.write(line);
    await disk.datasync();
  }
  return performance.now() - from;
}

function report(what: string, taken: readonly number[]): void {
  say(`  ${what.padEnd(34)} p50 ${median(taken).toFixed(2).padStart(7)}   p95 ${quantile(taken, 0.95).toFixed(2).padStart(7)}`);
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(2);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
