import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownerOf } from "../src/domain/owner.js";
import { journalRecordSchema, type NewRecord } from "../src/domain/session.js";
import { nodeFileSystem } from "../src/platform/file-system.js";
import { newId } from "../src/platform/ids.js";
import { silentLogger } from "../src/platform/logger.js";
import { FileMemoryService } from "../src/state/jsonl/file-memory-service.js";
import { median } from "./quantile.js";

/**
 * What a window of ten rounds costs in sessions of 100, 10,000 and 1,000,000 lines, warm (journal open) and cold
 * (opened for this read), beside reading and parsing the whole file. Exits 1 where the largest costs more than 1.5 times
 * the smallest, or reads more bytes than a window has reason to. `npx tsx bench/window.ts [largest number of lines]`
 */
const LINES = [100, 10_000, 1_000_000];
const ROUNDS = 10;
const MAX_RATIO = 1.5;
/** Two blocks of 64 KiB backwards, and the summary. */
const MAX_BYTES = 192 * 1024;
const WARM_RUNS = 2_000;
const COLD_RUNS = 300;
const LINES_PER_APPEND = 4_000;

const owner = ownerOf("default", "bench");
const largest = Number(process.argv[2] ?? LINES.at(-1));

interface Result {
  readonly lines: number;
  readonly megabytes: number;
  readonly warmMs: number;
  readonly coldMs: number;
  readonly bytesRead: number;
  readonly wholeMs: number;
}

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-window-"));
try {
  const sessions: { lines: number; id: string }[] = [];
  for (const lines of LINES.filter((each) => each <= largest)) sessions.push({ lines, id: await fill(lines) });
  // All sizes in turn, several times over, so that what else the machine does strikes them alike.
  const warm = new Map<number, number[]>();
  const cold = new Map<number, number[]>();
  const bytes = new Map<number, number>();
  const open = await service();
  for (let run = 0; run < WARM_RUNS; run += 1)
    for (const { lines, id } of sessions) into(warm, lines, await timed(() => open.window(owner, id, { rounds: ROUNDS })));
  await open.close();
  for (let run = 0; run < COLD_RUNS; run += 1) {
    for (const { lines, id } of sessions) {
      const fresh = await service();
      into(
        cold,
        lines,
        await timed(async () => {
          const { bytesRead, rounds } = await fresh.window(owner, id, { rounds: ROUNDS });
          if (rounds.length !== ROUNDS) throw new Error(`The window of ${lines} lines has ${rounds.length} rounds.`);
          bytes.set(lines, bytesRead);
        }),
      );
      await fresh.close();
    }
  }
  const results: Result[] = [];
  for (const { lines, id } of sessions) {
    const path = join(dir, `${id}.jsonl`);
    const size = (await nodeFileSystem.stat(path))?.size ?? 0;
    const wholeMs = await timed(async () => {
      for (const line of (await readFile(path, "utf8")).trimEnd().split("\n")) journalRecordSchema.parse(JSON.parse(line));
    });
    const at = (times: Map<number, number[]>) => median(times.get(lines) ?? []);
    results.push({ lines, megabytes: size / 1e6, warmMs: at(warm), coldMs: at(cold), bytesRead: bytes.get(lines) ?? 0, wholeMs });
  }
  report(results);
} finally {
  await rm(dir, { recursive: true });
}

function service(): Promise<FileMemoryService> {
  return FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger });
}

/** Rounds of four lines, a summary near the beginning, as the worst place for it. */
async function fill(lines: number): Promise<string> {
  const journal = await service();
  const id = newId();
  const at = new Date(0).toISOString();
  const answer = "Three concerts fit; the second one has step-free access and two seats together in row F. ".repeat(3);
  await journal.create(owner, id, [{ id: newId(), type: "session", turn: 0, at, body: { owner } }]);
  let records: NewRecord[] = [{ id: newId(), type: "summary", turn: 0, at, body: { text: answer, from_turn: 0, to_turn: 0, by: "bench" } }];
  for (let turn = 1, written = 2; written < lines; turn += 1, written += 4) {
    const message = (role: "user" | "assistant", content: string): NewRecord => ({
      id: newId(),
      type: "message",
      turn,
      at,
      body: { role, content },
    });
    const step = {
      id: newId(),
      type: "tool_call" as const,
      name: "search_events",
      call_id: newId(),
      iteration: 0,
      input: { city: "Porto" },
      output: { found: 3 },
      error: null,
      started_at: at,
      duration_ms: 2,
    };
    records.push(
      message("user", `What is on this weekend, number ${turn}?`),
      { id: newId(), type: "step", turn, at, body: step },
      message("assistant", answer),
      {
        id: newId(),
        type: "write_back_done",
        turn,
        at,
        body: { status: "skipped", memory_ids: [], attempts: 1 },
      },
    );
    if (records.length >= LINES_PER_APPEND || written + 4 >= lines) {
      await journal.append(owner, id, records);
      records = [];
    }
  }
  await journal.close();
  return id;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function into(times: Map<number, number[]>, lines: number, ms: number): void {
  const known = times.get(lines);
  if (known === undefined) times.set(lines, [ms]);
  else known.push(ms);
}

function report(results: readonly Result[]): void {
  console.log(`The last ${ROUNDS} rounds, p50 of ${WARM_RUNS} warm and ${COLD_RUNS} cold reads:\n`);
  console.log("     lines     file    warm      cold     bytes read    whole file   whole/warm");
  for (const { lines, megabytes, warmMs, coldMs, bytesRead, wholeMs } of results)
    console.log(
      `${String(lines).padStart(10)} ${megabytes.toFixed(1).padStart(6)} MB ${warmMs.toFixed(3).padStart(6)} ms ${coldMs.toFixed(3).padStart(6)} ms ${String(bytesRead).padStart(12)} B ${wholeMs.toFixed(1).padStart(9)} ms ${(wholeMs / warmMs).toFixed(0).padStart(9)} ×`,
    );
  const smallest = results[0];
  const greatest = results.at(-1);
  if (smallest === undefined || greatest === undefined) return;
  const warmRatio = greatest.warmMs / smallest.warmMs;
  const coldRatio = greatest.coldMs / smallest.coldMs;
  console.log(
    `\n${greatest.lines} lines cost ${warmRatio.toFixed(2)} × what ${smallest.lines} lines cost, warm; ${coldRatio.toFixed(2)} ×, cold (at most ${MAX_RATIO}).`,
  );
  const tooMuch = results.find(({ bytesRead }) => bytesRead > MAX_BYTES);
  if (tooMuch !== undefined) console.log(`${tooMuch.lines} lines: ${tooMuch.bytesRead} bytes were read, more than ${MAX_BYTES}.`);
  if (warmRatio > MAX_RATIO || coldRatio > MAX_RATIO || tooMuch !== undefined) process.exitCode = 1;
}
