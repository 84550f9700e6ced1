import { AppError } from "../errors.js";
import type { LogLine } from "../platform/jsonl-log.js";
import type { JournalRecord } from "../session.js";
import type { ReadOptions } from "../session-store.js";
import { readable, rewindsOf, untorn } from "./rewrite.js";
import { standing } from "./standing.js";

/** The records that a read asks for, in order. Reads the lines twice where a rewind may have taken some back. */
export async function* selected(
  lines: () => AsyncIterable<readonly LogLine[]>,
  { fromSeq = 1, includeRewound = false, includeTorn = false, signal }: ReadOptions,
): AsyncGenerator<JournalRecord> {
  const stands = includeRewound ? () => true : standing(await rewindsOf(lines()));
  const all = unlessAborted(lines(), signal);
  for await (const record of includeTorn ? readable(all) : untorn(all)) {
    if (record.seq >= fromSeq && stands(record)) yield record;
  }
}

async function* unlessAborted(
  lines: AsyncIterable<readonly LogLine[]>,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly LogLine[]> {
  for await (const block of lines) {
    throwIfAborted(signal);
    yield block;
  }
}

/** @throws ABORTED */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AppError("ABORTED", { cause: signal.reason });
}
