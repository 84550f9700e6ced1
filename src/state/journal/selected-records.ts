import type { JournalRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { LogLine } from "../../platform/jsonl-log.js";
import type { ReadOptions } from "../../ports/session-store.js";
import { standing } from "./rewound-records.js";
import { readable, rewindsOf, untorn } from "./rewrite.js";

/**
 * The records that a read asks for, in order, a block at a time. Reads the lines twice where a rewind may have taken some back.
 * `onDamaged` is told where a line stands that can't be read and is passed over.
 */
export async function* selected(
  lines: () => AsyncIterable<readonly LogLine[]>,
  { fromSeq = 1, includeRewound = false, includeTorn = false, signal }: ReadOptions,
  onDamaged?: (offset: number) => void,
): AsyncGenerator<readonly JournalRecord[]> {
  const stands = includeRewound ? () => true : standing(await rewindsOf(lines()));
  const all = unlessAborted(lines(), signal);
  for await (const records of includeTorn ? readable(all, onDamaged) : untorn(all, onDamaged))
    yield records.filter((record) => record.seq >= fromSeq && stands(record));
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
