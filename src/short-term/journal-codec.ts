import { createHash } from "node:crypto";
import { z } from "zod";
import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import type { LogLine } from "../platform/jsonl-log.js";
import { JOURNAL_VERSION, type JournalRecord, journalRecordSchema, MAX_RECORD_BYTES, type NewRecord } from "../session.js";

/**
 * One line of a journal: the record, and behind it what lets a reader start at the end.
 * All of `tail` can be worked out from the lines before; a line without it (written by hand) is read as well.
 */
const tailSchema = z.object({
  /** First 16 hex digits of SHA-256 of the owner: tells whose journal it is where the first line is damaged. */
  owner: z.string(),
  /** Highest turn so far: a rewind doesn't lower it. */
  last_turn: z.number().int().nonnegative(),
  /** The seq that the next record follows, where it is not this record's: after a rewrite that dropped the last ones. */
  last_seq: z.number().int().optional(),
  /** Byte offset of the newest summary that stands after this record. */
  summary_at: z.number().int().nullable(),
  /** Which record of how many of one append, from 1; left out where it was alone. One that isn't followed by the next was torn off it. */
  part: z.tuple([z.number().int().positive(), z.number().int().positive()]).optional(),
});
export type Tail = z.infer<typeof tailSchema>;

export interface DecodedLine {
  readonly record: JournalRecord;
  readonly tail: Tail | null;
}

const tailOnly = z.object({ tail: tailSchema });

export function ownerMark(owner: Owner): string {
  return createHash("sha256").update(owner).digest("hex").slice(0, 16);
}

/** Null for a line that is damaged, or of a version that is not known. */
export function decodeLine(line: LogLine): DecodedLine | null {
  let value: unknown;
  try {
    value = JSON.parse(line.bytes.toString("utf8"));
  } catch {
    return null;
  }
  const record = journalRecordSchema.safeParse(value);
  if (!record.success) return null;
  const tail = tailOnly.safeParse(value);
  return { record: record.data, tail: tail.success ? tail.data.tail : null };
}

const START = new RegExp(`^\\{"v":${JOURNAL_VERSION},"seq":(\\d+),"type":"([a-z_]+)"`);

/** Seq and type from a line's first bytes, without parsing the rest; null when it doesn't start as ours do. */
export function peekLine(line: LogLine): { readonly seq: number; readonly type: string } | null {
  const match = START.exec(line.bytes.toString("latin1", 0, 64));
  return match?.[1] === undefined || match[2] === undefined ? null : { seq: Number(match[1]), type: match[2] };
}

/** Fills in what has a default. @throws INVALID_REQUEST for a record that doesn't fit the schema. */
export function numbered(record: NewRecord, seq: number): JournalRecord {
  const parsed = journalRecordSchema.safeParse({ ...record, v: JOURNAL_VERSION, seq });
  if (parsed.success) return parsed.data;
  throw new AppError("INVALID_REQUEST", { detail: `A ${record.type} record does not fit the journal's schema.`, cause: parsed.error });
}

/** The line with its line feed. Key order is fixed: {@link peekLine} relies on it. @throws RECORD_TOO_LARGE */
export function encodeLine(record: JournalRecord, tail: Tail): Buffer {
  const { v, seq, type, id, turn, at, body } = record;
  const line = Buffer.from(`${JSON.stringify({ v, seq, type, id, turn, at, body, tail })}\n`, "utf8");
  if (line.length > MAX_RECORD_BYTES)
    throw new AppError("RECORD_TOO_LARGE", { detail: `A ${type} record takes ${line.length} bytes; at most ${MAX_RECORD_BYTES} fit.` });
  return line;
}
