import type { LogLine, ReadMeter } from "../platform/jsonl-log.js";
import type { RecordOf } from "../session.js";
import type { WindowRead } from "../session-store.js";
import { type DecodedLine, decodeLine } from "./journal-codec.js";
import type { JournalFile } from "./journal-file.js";
import { RoundCollector } from "./round-collector.js";
import { throwIfAborted } from "./selected-records.js";

/**
 * The window of a journal, read backwards from its end in blocks, until the rounds and the last user message are
 * known. A rewind is jumped over. The summary is read from where the tail says that it is, so that it costs one read
 * however far back it stands.
 */
export async function readWindow(file: JournalFile, rounds: number, signal?: AbortSignal): Promise<WindowRead> {
  const { tail, log } = file;
  const meter: ReadMeter = { bytes: 0 };
  const collector = new RoundCollector(rounds);
  let from: number | null = log.end;
  let atEnd = true;
  while (from !== null && !collector.complete) {
    from = await collect(file, from, atEnd, collector, meter, signal);
    atEnd = false;
  }
  const summary = await readSummary(file, tail.summaryAt, meter);
  return {
    rounds: collector.rounds(),
    summary,
    lastUserMessage: collector.lastUserMessage,
    lastSeq: tail.lastSeq,
    lastTurn: tail.lastTurn,
    bytesRead: meter.bytes,
  };
}

/** Returns the offset that a rewind jumps to, or null when there is nothing more to read. */
async function collect(
  file: JournalFile,
  from: number,
  atEnd: boolean,
  collector: RoundCollector,
  meter: ReadMeter,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const appends = new TornAppends(atEnd);
  for await (const lines of file.log.backwards(from, meter)) {
    throwIfAborted(signal);
    for (const line of lines) {
      const decoded = decodeLine(line);
      const torn = appends.tore(decoded);
      if (decoded === null) continue;
      const { record } = decoded;
      if (record.type === "rewind") return record.body.to_offset;
      if (!(torn && record.type === "step")) collector.add(record);
      if (collector.complete) return null;
    }
  }
  return null;
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
      const at = decodeLine(line)?.tail?.summary_at;
      if (at !== undefined) return at !== null && at < offset ? at : null;
    }
  }
  return null;
}
