import type { JournalRecord } from "../../domain/session.js";
import type { LogLine } from "../../platform/jsonl-log.js";
import type { JournalCheck, ReadOptions } from "../../ports/session-store.js";
import { throwIfAborted } from "../abortable-read.js";
import { type DecodedLine, decodeLine, headOf, peekLine } from "./journal-codec.js";

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

/**
 * A rewind restores the conversation as it was right after record `to_seq`: an undo, also of earlier rewinds.
 * What it takes back are messages, steps and summaries; patches of the session and write-back records are not
 * part of the conversation and stay.
 */
export interface RewindMark {
  readonly seq: number;
  readonly toSeq: number;
}

export function rewindsIn(records: readonly JournalRecord[]): readonly RewindMark[] {
  return records.flatMap((record) => (record.type === "rewind" ? [{ seq: record.seq, toSeq: record.body.to_seq }] : []));
}

const CONVERSATION: ReadonlySet<string> = new Set(["message", "step", "summary"]);

/** Seqs, first and last, between which no part of the conversation stands, given all rewinds of the journal in seq order. */
function rewoundGaps(rewinds: readonly RewindMark[]): readonly { readonly from: number; readonly to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let upTo = Number.POSITIVE_INFINITY;
  for (const rewind of rewinds.toReversed()) {
    if (rewind.seq > upTo) continue;
    gaps.unshift({ from: rewind.toSeq + 1, to: rewind.seq });
    upTo = rewind.toSeq;
  }
  return gaps;
}

/** Whether a record still stands, given all rewinds of the journal in seq order. */
export function standing(rewinds: readonly RewindMark[]): (record: { readonly seq: number; readonly type: string }) => boolean {
  const gaps = rewoundGaps(rewinds);
  return ({ seq, type }) => !CONVERSATION.has(type) || !within(gaps, seq);
}

/** Of records that come newest first, those that lie in no gap between a rewind and where it goes back to. */
export async function* outsideRewinds(records: Iterable<JournalRecord> | AsyncIterable<JournalRecord>): AsyncGenerator<JournalRecord> {
  let upTo = Number.POSITIVE_INFINITY;
  for await (const record of records) {
    if (record.seq > upTo) continue;
    if (record.type === "rewind") upTo = record.body.to_seq;
    yield record;
  }
}

function within(gaps: readonly { from: number; to: number }[], seq: number): boolean {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const gap = gaps[middle];
    if (gap === undefined || gap.from > seq) high = middle;
    else low = middle + 1;
  }
  const candidate = gaps[low - 1];
  return candidate !== undefined && seq <= candidate.to;
}

/** So many are folded into a session at once, so that a rebuild holds up nobody for long. */
const BATCH = 500;

export async function* inBatches(
  records: Iterable<JournalRecord> | AsyncIterable<JournalRecord>,
): AsyncGenerator<readonly JournalRecord[]> {
  let batch: JournalRecord[] = [];
  for await (const record of records) {
    batch.push(record);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Line numbers count from 1. Where the lines break off, as those of a damaged packed journal, the next one is the damaged one. */
export async function checkLines(lines: AsyncIterable<readonly LogLine[]>): Promise<Pick<JournalCheck, "records" | "damagedLines">> {
  const damagedLines: number[] = [];
  let records = 0;
  let number = 0;
  try {
    for await (const block of lines) {
      for (const line of block) {
        number += 1;
        if (headOf(line) === null) damagedLines.push(number);
        else records += 1;
      }
    }
  } catch {
    damagedLines.push(number + 1);
  }
  return { records, damagedLines };
}

/** All rewinds among the lines, in seq order. */
export async function rewindsOf(lines: AsyncIterable<readonly LogLine[]>): Promise<RewindMark[]> {
  const found: RewindMark[] = [];
  for await (const block of lines) {
    for (const line of block) {
      if ((peekLine(line)?.type ?? "rewind") !== "rewind") continue;
      const head = headOf(line);
      if (head !== null && head.toSeq !== null) found.push({ seq: head.seq, toSeq: head.toSeq });
    }
  }
  return found;
}

/** Readable records in order, a block of lines at a time. `onDamaged` is told where a line stands that isn't. */
async function* readable(
  lines: AsyncIterable<readonly LogLine[]>,
  onDamaged?: (offset: number) => void,
): AsyncGenerator<readonly JournalRecord[]> {
  for await (const block of lines) {
    const records: JournalRecord[] = [];
    for (const line of block) {
      const record = decodeLine(line)?.record;
      if (record === undefined) onDamaged?.(line.offset);
      else records.push(record);
    }
    yield records;
  }
}

/**
 * The same without the steps of appends whose end was torn off: they came without their answer, and must not pass
 * for steps of the attempt that follows. What stands before a damaged line is given the benefit of the doubt.
 */
export async function* untorn(
  lines: AsyncIterable<readonly LogLine[]>,
  onDamaged?: (offset: number) => void,
): AsyncGenerator<readonly JournalRecord[]> {
  let open: JournalRecord[] = [];
  let newest: readonly [number, number] = [1, 1];
  for await (const block of lines) {
    const whole: JournalRecord[] = [];
    for (const line of block) {
      const decoded: DecodedLine | null = decodeLine(line);
      if (decoded === null) {
        onDamaged?.(line.offset);
        whole.push(...open);
        open = [];
        newest = [1, 1];
        continue;
      }
      const [part, of] = decoded.tail?.part ?? [1, 1];
      const follows = of === newest[1] && part === newest[0] + 1;
      if (!follows) whole.push(...open.filter(({ type }) => type !== "step"));
      if (!follows) open = [];
      open.push(decoded.record);
      newest = [part, of];
      if (part < of) continue;
      whole.push(...open);
      open = [];
    }
    yield whole;
  }
  yield open.filter(({ type }) => type !== "step");
}
