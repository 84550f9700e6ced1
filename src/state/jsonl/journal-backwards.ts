import type { JournalRecord, RecordOf } from "../../domain/session.js";
import type { LogLine, ReadMeter } from "../../platform/jsonl-log.js";
import type { WindowRead } from "../../ports/session-store.js";
import { throwIfAborted } from "../abortable-read.js";
import { type DecodedLine, decodeLine, headOf } from "../journal/journal-codec.js";
import { windowIn } from "../journal/round-collector.js";
import type { JournalFile } from "./journal-file.js";

interface BackwardsOptions {
  /** Offset of a line's end to begin at. Default: the journal's end. */
  readonly from?: number;
  readonly meter?: ReadMeter;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Records newest first, read in blocks from the end as far as they are asked for; a block is to be taken to its end before the next. What
 * lies between a rewind and where it goes back to is jumped over; steps that a crash tore off their answer are left out. Lines are decoded
 * as they are taken.
 */
export async function* blocksBackwards(
  file: JournalFile,
  { from, meter, signal }: BackwardsOptions = {},
): AsyncGenerator<Iterable<JournalRecord>> {
  let appends = new TornAppends(from === undefined);
  let jumpsTo: number | null = null;
  function* taken(lines: readonly LogLine[]): Generator<JournalRecord> {
    for (const line of lines) {
      const decoded = decodeLine(line);
      const torn = appends.tore(decoded);
      if (decoded === null || (torn && decoded.record.type === "step")) continue;
      yield decoded.record;
      if (decoded.record.type !== "rewind") continue;
      jumpsTo = decoded.record.body.to_offset;
      return;
    }
  }
  for (let end: number | null = from ?? file.log.end; end !== null; end = jumpsTo) {
    jumpsTo = null;
    for await (const lines of file.log.backwards(end, meter)) {
      throwIfAborted(signal);
      yield taken(lines);
      if (jumpsTo !== null) break;
    }
    appends = new TornAppends(false);
  }
}

/**
 * Tells, newest line first, which lines belong to an append whose end a crash tore off. Their steps came without
 * their answer; they must not pass for steps of the attempt that follows.
 */
class TornAppends {
  #newer: { readonly part: number; readonly of: number; readonly torn: boolean } | null;

  constructor(atEnd: boolean) {
    // Behind the last line there is nothing, so it should announce nothing. Behind a jump we can't know.
    this.#newer = atEnd ? { part: 1, of: 0, torn: false } : null;
  }

  tore(line: DecodedLine | null): boolean {
    const newer = this.#newer;
    if (line === null) {
      // A damaged line may have been of the same append: it is given the benefit of the doubt.
      this.#newer = null;
      return false;
    }
    const [part, of] = line.tail?.part ?? [1, 1];
    const followed = part === of || newer === null || (newer.part === part + 1 && newer.of === of && !newer.torn);
    this.#newer = { part, of, torn: !followed };
    return !followed;
  }
}

/**
 * The window of a journal, read backwards from its end in blocks, until the rounds and the last user message are known. A summary that was
 * not met on the way is read from where the tail says that it is, so that it costs one read however far back it stands.
 */
export async function readWindow(file: JournalFile, rounds: number, signal?: AbortSignal): Promise<WindowRead> {
  const meter: ReadMeter = { bytes: 0 };
  const { lastSeq, lastTurn, summaryAt } = file.tail;
  const found = await windowIn(blocksBackwards(file, { meter, signal }), rounds);
  const summary = found.summary ?? (await readSummary(file, summaryAt, meter));
  return { ...found, summary, lastSeq, lastTurn, bytesRead: meter.bytes };
}

async function readSummary(file: JournalFile, at: number | null, meter: ReadMeter): Promise<RecordOf<"summary"> | null> {
  let offset = at;
  while (offset !== null) {
    const line: LogLine | null = await file.log.lineAt(offset, meter);
    const record = line === null ? null : decodeLine(line)?.record;
    if (record?.type === "summary") return record;
    offset = await summaryBefore(file, offset, meter);
  }
  return null;
}

/** Where the line before `offset` says that the summary is: for a summary whose own line is damaged. */
async function summaryBefore(file: JournalFile, offset: number, meter: ReadMeter): Promise<number | null> {
  for await (const lines of file.log.backwards(offset, meter)) {
    for (const line of lines) {
      const at = headOf(line)?.tail?.summary_at;
      if (at !== undefined) return at !== null && at < offset ? at : null;
    }
  }
  return null;
}
