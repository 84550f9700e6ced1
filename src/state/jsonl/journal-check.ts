import type { LogLine } from "../../platform/jsonl-log.js";
import type { JournalCheck } from "../../ports/session-store.js";
import { headOf } from "../journal/journal-codec.js";

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
