import type { JournalRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { LogLine } from "../../platform/jsonl-log.js";
import type { ReadOptions } from "../../ports/session-store.js";
import { type RewindMark, standing } from "./rewound-records.js";
import { readable, untorn } from "./rewrite.js";

/** What a read goes over. */
interface SelectedFrom {
  lines(): AsyncIterable<readonly LogLine[]>;
  /** Those behind the first of the lines, in seq order. */
  rewinds(): Promise<readonly RewindMark[]>;
  /** Is told where a line stands that can't be read and is passed over. */
  onDamaged?(offset: number): void;
}

/** The records that a read asks for, in order, a block at a time: what is not asked for is not read. */
export async function* selected(
  { lines, rewinds, onDamaged }: SelectedFrom,
  { fromSeq = 1, includeRewound = false, includeTorn = false, signal }: ReadOptions,
): AsyncGenerator<readonly JournalRecord[]> {
  const stands = includeRewound ? () => true : standing(await rewinds());
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
