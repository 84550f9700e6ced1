import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { JsonlLog, type LogLine } from "../../src/platform/jsonl-log.js";
import { FaultyFileSystem } from "../support/faulty-file-system.js";

const LINE_CHARS = 1_000;
/** Three times as much as is held in memory. */
const LINES = 1_200;

let dir: string;
let disk: FaultyFileSystem;
const open: JsonlLog[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-lines-"));
  disk = new FaultyFileSystem(nodeFileSystem);
});
afterEach(async () => {
  for (const log of open.splice(0)) await log.close();
  await rm(dir, { recursive: true });
});

const lineOf = (n: number) => `${String(n).padStart(4, "0")} ${"x".repeat(LINE_CHARS)}`;
const numberOf = ({ bytes }: LogLine) => Number(bytes.toString("utf8").slice(0, 4));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

async function written(lines: number): Promise<JsonlLog> {
  const log = await JsonlLog.create(disk, join(dir, "log"));
  open.push(log);
  for (const n of range(0, lines)) await log.append(Buffer.from(`${lineOf(n)}\n`));
  return log;
}

async function collected(blocks: AsyncIterable<readonly LogLine[]>): Promise<number[]> {
  const numbers: number[] = [];
  for await (const lines of blocks) numbers.push(...lines.map(numberOf));
  return numbers;
}

test("[recent-lines] a log reads the same both ways and from any line, however much of it is held in memory", async () => {
  const log = await written(LINES);
  const bytes = Buffer.byteLength(lineOf(0)) + 1;
  expect(await collected(log.forwards())).toEqual(range(0, LINES));
  expect(await collected(log.backwards())).toEqual(range(0, LINES).reverse());
  for (const n of [0, 1, 150, 800, 900, 1_050, 1_110, 1_150, 1_198, 1_199]) {
    expect(await collected(log.forwards(n * bytes))).toEqual(range(n, LINES));
    expect(await collected(log.forwards(0, n * bytes))).toEqual(range(0, n));
    expect(await collected(log.backwards(n * bytes))).toEqual(range(0, n).reverse());
    expect(numberOf((await log.lineAt(n * bytes)) as LogLine)).toBe(n);
    expect(await log.seek((line) => numberOf(line) < n)).toBe(n * bytes);
    expect(await log.seek((line) => numberOf(line) < n, n * bytes)).toBe(n * bytes);
  }
});

test("[recent-lines] what was just written, or read of the end, is not read from the disk again", async () => {
  const log = await written(LINES);
  const bytes = Buffer.byteLength(lineOf(0)) + 1;
  await collected(log.forwards((LINES - 40) * bytes));
  expect(disk.calls.get("read") ?? 0).toBe(0);

  const again = await JsonlLog.open(disk, join(dir, "log"));
  if (again === null) throw new Error("The log is gone.");
  open.push(again.log);
  for await (const _ of again.log.backwards()) break;
  const before = disk.calls.get("read") ?? 0;
  for await (const _ of again.log.backwards()) break;
  await collected(again.log.forwards((LINES - 20) * bytes));
  expect(disk.calls.get("read")).toBe(before);
});

/** Reads so many lines from the end, as a window does; gives how often the disk was asked. */
async function readsOf(log: JsonlLog, lines: number): Promise<number> {
  const before = disk.calls.get("read") ?? 0;
  let left = lines;
  for await (const block of log.backwards()) {
    left -= block.length;
    if (left <= 0) break;
  }
  return (disk.calls.get("read") ?? 0) - before;
}

test("[recent-lines] a log whose readers go further back holds as much as they ask for, also after appends", async () => {
  const log = await written(LINES);
  expect(await readsOf(log, 200)).toBeGreaterThan(0);
  expect(await readsOf(log, 200)).toBe(0);
  for (const n of range(0, 300)) await log.append(Buffer.from(`${lineOf(n)}\n`));
  expect(await readsOf(log, 200)).toBe(0);
  expect((await collected(log.backwards())).slice(298, 302)).toEqual([1, 0, 1_199, 1_198]);
});

test("[recent-lines] who walks through a whole log makes it hold no more of it", async () => {
  const log = await written(LINES);
  await collected(log.backwards());
  expect(await readsOf(log, 200)).toBeGreaterThan(0);
});

test("[recent-lines] what logs hold beyond their own is bounded together, and is there for others when one is closed", async () => {
  const logs: JsonlLog[] = [];
  for (const n of range(0, 60)) {
    const log = await JsonlLog.create(disk, join(dir, `log-${n}`));
    await log.append(Buffer.from(Array.from({ length: 300 }, (_, line) => `${lineOf(line)}\n`).join("")));
    logs.push(log);
  }
  const [first, last] = [logs[0], logs.at(-1)];
  if (!first || !last) throw new Error("No log was written.");
  for (const log of logs) await readsOf(log, 250);
  expect(await readsOf(first, 250)).toBe(0);
  expect(await readsOf(last, 250)).toBeGreaterThan(0);
  for (const log of logs.slice(0, -1)) await log.close();
  await readsOf(last, 250);
  expect(await readsOf(last, 250)).toBe(0);
  await last.close();
});

test("[recent-lines] what was cut off is not read any more, and what is appended behind the cut is", async () => {
  const log = await written(10);
  const bytes = Buffer.byteLength(lineOf(0)) + 1;
  expect(numberOf((await log.lineAt(7 * bytes)) as LogLine)).toBe(7);
  await log.cutFrom(5 * bytes);
  expect(await log.lineAt(7 * bytes)).toBeNull();
  await log.append(Buffer.from(`${lineOf(42)}\n`));
  expect(await collected(log.forwards())).toEqual([0, 1, 2, 3, 4, 42]);
  expect(await collected(log.backwards())).toEqual([42, 4, 3, 2, 1, 0]);
});

test("[recent-lines] nothing of an append that failed is read", async () => {
  const log = await written(3);
  disk.inject({ operation: "write", errno: "ENOSPC", afterBytes: 10 });
  await expect(log.append(Buffer.from(`${lineOf(9)}\n`))).rejects.toMatchObject({ code: "ENOSPC" });
  disk.inject({ operation: "datasync", errno: "EIO" });
  await expect(log.append(Buffer.from(`${lineOf(9)}\n`))).rejects.toMatchObject({ code: "EIO" });
  expect(await collected(log.forwards())).toEqual([0, 1, 2]);
  await log.append(Buffer.from(`${lineOf(3)}\n`));
  expect(await collected(log.backwards())).toEqual([3, 2, 1, 0]);
});
