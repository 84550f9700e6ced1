import type { JournalRecord, MessageRecord, RecordOf } from "../../domain/session.js";
import type { LogLine, ReadMeter } from "../../platform/jsonl-log.js";
import type { WindowRead } from "../../ports/session-store.js";
import { decodeLine, headOf } from "../journal/journal-codec.js";
import { RoundCollector } from "../journal/round-collector.js";
import { blocksBackwards } from "./journal-backwards.js";
import type { JournalFile } from "./journal-file.js";

/**
 * The window of a journal, read backwards from its end in blocks, until the rounds and the last user message are
 * known. The summary is read from where the tail says that it is, so that it costs one read
 * however far back it stands.
 */
export async function readWindow(file: JournalFile, rounds: number, signal?: AbortSignal): Promise<WindowRead> {
  const { tail } = file;
  const meter: ReadMeter = { bytes: 0 };
  const collector = new RoundCollector(rounds);
  for await (const records of blocksBackwards(file, { meter, signal })) {
    for (const record of records) {
      collector.add(record);
      if (collector.complete) break;
    }
    if (collector.complete) break;
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

/** The window of records that all stand, oldest first: where there is no end of a file to start from. */
export function windowOfRecords(records: readonly JournalRecord[], rounds: number): Omit<WindowRead, "lastSeq" | "lastTurn" | "bytesRead"> {
  const collector = new RoundCollector(rounds);
  let summary: RecordOf<"summary"> | null = null;
  for (const record of records.toReversed()) {
    if (record.type === "summary") summary ??= record;
    if (!collector.complete) collector.add(record);
    else if (summary !== null) break;
  }
  const lastUserMessage: MessageRecord | null = collector.lastUserMessage;
  return { rounds: collector.rounds(), summary, lastUserMessage };
}
