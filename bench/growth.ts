import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Terminal } from "../src/cli/terminal.js";
import type { MemoryRecord } from "../src/domain/memory-record.js";
import { ownerOf } from "../src/domain/owner.js";
import { FOUND } from "./field/data.js";
import { inTurns, type Point, spread } from "./growth/in-turns.js";
import { curve } from "./growth/plot.js";
import { openRecalls, type Recalls } from "./growth/recalls.js";
import { startUpWith } from "./growth/start-ups.js";
import { turnsBySize } from "./growth/turns.js";
import { questionOf } from "./recall/memory-texts.js";

/**
 * Whether cost grows with what is kept: a whole turn by the rounds of its session, a search for one user's memories by those of all users,
 * and a process's start by sessions. Draws the first two as bench/growth-turn.svg and bench/growth-recall.svg, unless --quick.
 *
 * `npm run bench:growth -- [--quick] [--large] [--check]`; --large: up to 100,000 rounds, 1,000,000 memories and 100,000 sessions. With
 * --check it ends with 1 when a turn costs over 1.2, or a search over 1.5 times as much at one size as at another.
 */
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    large: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});
const { quick, large, check } = values;
const upTo = (least: number, most: number) => powersOfTen(least, quick ? most / 100 : large ? most : most / 10);
const ROUNDS = upTo(10, 100_000);
const MEMORIES = upTo(1_000, 1_000_000);
const SESSIONS = upTo(100, 100_000);
const MEMORIES_OF_EACH = 1_000;
const TURN_SPREAD = 1.2;
const RECALL_SPREAD = 1.5;

const terminal = new Terminal(process, { colours: false, json: false });
const dir = await mkdtemp(join(tmpdir(), "maitred-bench-growth-"));
try {
  console.log(`Node ${process.versions.node}; load average ${loadavg()[0]?.toFixed(1)}; milliseconds at the median\n`);
  const turns = await turnsBySize(await place("turns"), ROUNDS, amount(40), bar("turns"));
  show("a whole turn, beside the model", "rounds in the session", turns, TURN_SPREAD);
  const recalls = await recallsBySize();
  show(`the nearest ${FOUND} of a user's ${MEMORIES_OF_EACH.toLocaleString("en")} memories`, "memories of all", recalls, RECALL_SPREAD);
  if (!quick) {
    await draw("turn", turns, { title: "A whole turn, beside the model", of: "rounds in the session" });
    await draw("recall", recalls, { title: "The nearest 5 of a user's 1,000 memories", of: "memories of all users" });
  }
  console.log("a start, until turns can be answered");
  for (const sessions of SESSIONS) {
    const { ms, cpuMs, megabytes } = await startUpWith(await place(`sessions-${sessions}`), sessions);
    console.log(`${count(sessions)} sessions${figures({ ms, cpuMs })}, ${megabytes.toFixed(0)} MB resident`);
  }
  if (check && (spread(turns) > TURN_SPREAD || spread(recalls) > RECALL_SPREAD)) process.exitCode = 1;
} finally {
  await rm(dir, { recursive: true, force: true });
}

async function recallsBySize(): Promise<Point[]> {
  const opened: (Recalls & { readonly size: number })[] = [];
  try {
    for (const size of MEMORIES) {
      const filled = { memories: size, each: MEMORIES_OF_EACH };
      opened.push({ size, ...(await openRecalls(await place(`memories-${size}`), filled)) });
    }
    const owner = ownerOf("default", "guest-0");
    const sized = opened.map(async ({ size, service }) => {
      const known = new Map<string, MemoryRecord>();
      for await (const record of service.all(owner)) known.set(record.id, record);
      const operation = async (n: number) => {
        const found = await service.search(owner, { text: questionOf(n), limit: FOUND, fields: { status: "active" }, known });
        if (found.length !== FOUND) throw new Error(`found ${found.length} instead of ${FOUND}`);
      };
      return { size, operation };
    });
    return await inTurns(await Promise.all(sized), amount(150), bar("recall"));
  } finally {
    for (const { close } of opened) await close();
  }
}

function amount(operations: number) {
  return quick ? { operations: 10, warmUp: 5 } : { operations, warmUp: Math.ceil(operations / 2) };
}

function show(what: string, of: string, points: readonly Point[], most: number): void {
  console.log(what);
  for (const point of points) console.log(`${count(point.size)} ${of}${figures(point)}`);
  console.log(`the dearest costs ${spread(points).toFixed(2)} times the cheapest by the processor (at most ${most} is asked for)\n`);
}

function figures({ ms, cpuMs }: Pick<Point, "ms" | "cpuMs">): string {
  return `: ${ms.toFixed(2)} ms, ${cpuMs.toFixed(2)} ms of the processor`;
}

function count(size: number): string {
  return size.toLocaleString("en").padStart(11);
}

async function draw(name: string, points: readonly Point[], labels: { readonly title: string; readonly of: string }): Promise<void> {
  await writeFile(new URL(`growth-${name}.svg`, import.meta.url), await curve(points, labels));
}

async function place(name: string): Promise<string> {
  const path = join(dir, name);
  await mkdir(path);
  return path;
}

function bar(label: string): (done: number, total: number) => void {
  const progress = terminal.progress(label);
  return (done, total) => (done === total ? progress.stop() : progress.update(done, total));
}

function powersOfTen(least: number, most: number): number[] {
  return least > most ? [] : [least, ...powersOfTen(least * 10, most)];
}
