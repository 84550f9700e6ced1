import type { RecordOf } from "../../domain/session.js";
import type { LogLine, ReadMeter } from "../../platform/jsonl-log.js";
import type { WindowRead } from "../../ports/session-store.js";
import { decodeLine, headOf } from "../journal/journal-codec.js";
import { windowIn } from "../journal/round-collector.js";
import { blocksBackwards } from "./journal-backwards.js";
import type { JournalFile } from "./journal-file.js";

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
