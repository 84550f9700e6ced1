import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { holdTime, type OtherVectors, Rig } from "./rig.js";
import type { StoreOutcome } from "./store-faults.js";
import { type Outcome, type Part, pageWith, type Row } from "./table.js";
import type { TurnOutcome } from "./turn-faults.js";

const PAGE = join(import.meta.dirname, "../../docs/faults.md");

/** One file's rows on the page about faults, compared at its end. */
export function openPage() {
  const rows: Row[] = [];
  return {
    /** Into the table first: a row that is not as it should be is shown there as such. */
    compare<O extends Outcome>(part: Part, fault: string, expected: O, seen: O): void {
      rows.push({ part, fault, expected, seen });
      // The rows behind it are seen all the same.
      expect.soft(seen).toEqual(expected);
    },
    /** Whether the page says what was seen. */
    async comparePage(): Promise<void> {
      await expect(pageWith(rows, await readFile(PAGE, "utf8"))).toMatchFileSnapshot(PAGE);
    },
  };
}

/** One file's part of the fault matrix: a product for each of its tests, and its rows on the page. */
export function openMatrix() {
  let rig: Rig | undefined;
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });
  beforeEach(holdTime);
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    vi.useRealTimers();
  });
  return {
    /** `recallDeadlineMs`: patient where nothing that a recall reads hangs. */
    async opened({ vectors, recallDeadlineMs }: { readonly vectors?: "local" | OtherVectors; readonly recallDeadlineMs?: number } = {}) {
      rig = await Rig.open(undefined, vectors, recallDeadlineMs);
      return rig;
    },
    ...openPage(),
  };
}

export const holds = (body: unknown, text: string) => JSON.stringify(body ?? null).includes(text);

export const STORE_DOWN = {
  answered: "200 ×8",
  memory: "degraded ×8",
  known: "standing preferences",
  asked: "2 of 7",
  others: "nothing",
  afterwards: "all caught up",
} satisfies StoreOutcome;

/**
 * Where reads go well and writes don't: what was said since is in the log and not in the store, and a recall without it says so, from when it
 * was read, which is behind the first answer, and may be behind the next one too.
 */
export const READS = { memory: "ok, then degraded", known: "standing preferences" };
export const readSince = ({ asked: _, ...seen }: StoreOutcome): Omit<StoreOutcome, "asked"> => ({
  ...seen,
  memory: /^ok(?: ×\d)?, degraded(?: ×\d)?$/.test(seen.memory) ? READS.memory : seen.memory,
});

export const AS_EVER = {
  answered: "200, ok",
  kept: "1 message, 1 answer",
  again: "200 ×2",
  others: "nothing",
  afterwards: "all caught up",
} satisfies TurnOutcome;
export const NO_ANSWER = { ...AS_EVER, answered: "502 MODEL_UNAVAILABLE", kept: "1 message, 0 answer" } satisfies TurnOutcome;
export const LATE_ANSWER = { ...NO_ANSWER, answered: "504 MODEL_TIMEOUT" } satisfies TurnOutcome;
export const NO_QUOTA = { ...NO_ANSWER, answered: "503 MODEL_QUOTA" } satisfies TurnOutcome;
export const NOT_KEPT = { ...AS_EVER, answered: "503 STORAGE_UNAVAILABLE", kept: "0 message, 0 answer" } satisfies TurnOutcome;
export const ANSWER_NOT_KEPT = { ...NOT_KEPT, kept: "1 message, 0 answer" } satisfies TurnOutcome;
