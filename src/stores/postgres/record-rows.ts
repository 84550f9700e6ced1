import { type JournalRecord, journalRecordSchema } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { type Kept, keptRecord, openedRecord } from "../journal/kept-content.js";

export function encoded(record: JournalRecord, kept: Kept): string {
  return JSON.stringify(keptRecord(record, kept));
}

/** @throws STORAGE_DAMAGED */
export function decoded(json: unknown, kept: Kept): JournalRecord {
  try {
    return journalRecordSchema.parse(openedRecord(JSON.parse(String(json)), kept));
  } catch (cause) {
    throw new AppError("STORAGE_DAMAGED", { detail: "A record in PostgreSQL can't be read.", cause });
  }
}

/** A text as PostgreSQL can hold it: escaped as in JSON, so that a NUL and half a surrogate pair fit. The same for the same text. */
export function escapedText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
