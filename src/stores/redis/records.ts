import { type JournalRecord, journalRecordSchema } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { type Kept, keptRecord, openedRecord } from "../journal/kept-content.js";
import { markOf } from "../journal/record-mark.js";
import type { SessionKey } from "./keys.js";
import type { Command } from "./write-script.js";

/** @throws STORAGE_DAMAGED */
export function decoded(json: string, kept: Kept): JournalRecord {
  try {
    return journalRecordSchema.parse(openedRecord(JSON.parse(json), kept));
  } catch (cause) {
    throw new AppError("STORAGE_DAMAGED", { detail: "A record in Redis can't be read.", cause });
  }
}

export function encoded(record: JournalRecord, kept: Kept): string {
  return JSON.stringify(keptRecord(record, kept));
}

/** A record with what finds it again. */
export function addRecord(record: JournalRecord, kept: Kept): readonly Command[] {
  const { seq, turn } = record;
  const put: Command = ["HSET", "records", String(seq), encoded(record, kept)];
  const first: Command = ["HSETNX", "turns", String(turn), String(seq)];
  const list = listOf(record);
  return list === null ? [put, first] : [put, first, ["ZADD", list, seq, `${seq}:${turn}`]];
}

/** A record that was there, with what it is instead; null: nothing. */
export function changeRecord(before: JournalRecord, after: JournalRecord | null, kept: Kept): readonly Command[] {
  const { seq, turn } = before;
  const [was, is] = [listOf(before), after === null ? null : listOf(after)];
  const put: Command =
    after === null ? ["HDEL", "records", String(seq)] : ["HSET", "records", String(seq), encoded({ ...after, seq }, kept)];
  return [
    put,
    ...(was === null || was === is ? [] : [["ZREM", was, `${seq}:${turn}`] as const]),
    ...(is === null || was === is ? [] : [["ZADD", is, seq, `${seq}:${turn}`] as const]),
  ];
}

/** Messages as clients read them: without the marks of turns that never came to a word. */
export function isCounted(record: JournalRecord): boolean {
  return record.type === "message" && markOf(record) !== "b";
}

/** Where a window looks for it. */
function listOf(record: JournalRecord): Extract<SessionKey, "answers" | "asked" | "summaries"> | null {
  if (record.type === "summary") return "summaries";
  const mark = markOf(record);
  if (mark === "a") return "answers";
  return mark === "u" ? "asked" : null;
}
