import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Composed, compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { ownerOf } from "../src/domain/owner.js";
import { quantile } from "./quantile.js";

/**
 * What one guest's long messages cost another: turns of a guest by themselves (before and after), and while somebody else has sent eight messages of 8,000
 * characters at once. By the product's own stand-ins, on files: all the work is this process's.
 *
 * `npm run bench:fairness -- [turns=40]`; ends with 1 when a turn beside them takes more than twice as long at p95.
 */
const [turns = 40] = process.argv.slice(2).map(Number);
const LONG_MESSAGES = 8;
const LONG_CHARS = 8_000;
const WARM_UP = 10;
const SENTENCES = [
  "We had dinner near the harbour last night and my sister Ida liked the soup more than I did.",
  "I prefer aisle seats when we go to the opera, but not on Mondays, because the trains are late.",
  "Could you look up what is on next weekend in Bergen?",
  "My mother is allergic to walnuts and she can't climb stairs any more.",
  "The weather was fine, the concert was long, and nobody wanted to leave before the second encore!",
];

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-fairness-"));
try {
  process.exitCode = await run();
} finally {
  await rm(dir, { recursive: true });
}

async function run(): Promise<number> {
  const maitred = await compose(parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "10000" }));
  // As a server does when it listens.
  await maitred.warm();
  const sessionId = (await say(maitred, "quiet", "Hello")).session_id;
  await timed(maitred, sessionId, WARM_UP);
  await maitred.sessions.flush(ownerOf("default", "quiet"), sessionId, 60_000);
  const alone = await timed(maitred, sessionId, turns);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const long = Array.from({ length: LONG_MESSAGES }, (_, i) => say(maitred, "busy", longMessage(i)));
  const beside = await timed(maitred, sessionId, turns);
  const answered = await Promise.all(long);
  for (const { session_id } of answered) await maitred.sessions.flush(ownerOf("default", "busy"), session_id, 120_000);
  delay.disable();
  // The session has grown meanwhile.
  alone.push(...(await timed(maitred, sessionId, turns)));
  await maitred.close();
  for (const [name, taken] of Object.entries({ alone, beside })) {
    const of = (what: keyof Taken, share: number) => p(taken, what, share).toFixed(1);
    console.log(
      `${name}: p50 ${of("ms", 0.5)} ms, p95 ${of("ms", 0.95)} ms; worked meanwhile p50 ${of("cpuMs", 0.5)} ms, p95 ${of("cpuMs", 0.95)} ms`,
    );
  }
  const [p50, p95] = [p(beside, "ms", 0.5) / p(alone, "ms", 0.5), p(beside, "ms", 0.95) / p(alone, "ms", 0.95)];
  console.log(`beside to alone: p50 ${p50.toFixed(2)}, p95 ${p95.toFixed(2)}`);
  console.log(`event loop held: p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, most ${(delay.max / 1e6).toFixed(1)} ms`);
  return p95 > 2 ? 1 : 0;
}

function p(taken: readonly Taken[], what: keyof Taken, share: number): number {
  return quantile(
    taken.map((each) => each[what]),
    share,
  );
}

/** Of a turn: how long it took, and how much the process worked while it lasted, whoever for. */
interface Taken {
  readonly ms: number;
  readonly cpuMs: number;
}

function say(maitred: Composed, user: string, message: string, sessionId?: string) {
  return maitred.chat.chat({ owner: ownerOf("default", user), message, ...(sessionId !== undefined && { sessionId }) });
}

async function timed(maitred: Composed, sessionId: string, count: number): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (let turn = 0; turn < count; turn++) {
    const [started, before] = [performance.now(), process.cpuUsage()];
    await say(maitred, "quiet", `What is on next Friday, and is it step-free? (${turn})`, sessionId);
    const { user, system } = process.cpuUsage(before);
    taken.push({ ms: performance.now() - started, cpuMs: (user + system) / 1_000 });
  }
  return taken;
}

function longMessage(index: number): string {
  let text = `Message ${index}.`;
  for (let at = index; text.length < LONG_CHARS; at++) text += ` ${SENTENCES[at % SENTENCES.length]}`;
  return text.slice(0, LONG_CHARS);
}
