import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import { encodeLine, numbered, ownerMark } from "./journal-codec.js";

/** @throws INVALID_SESSION_ID */
export function checkSessionId(sessionId: string): void {
  if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
}

/**
 * Records as a store keeps them, numbered on from a seq. Each is encoded as a line of a file too, so that one which is too large for a file
 * is refused by every store. @throws INVALID_REQUEST, RECORD_TOO_LARGE
 */
export function numberedAll(owner: Owner, records: readonly NewRecord[], lastSeq: number): JournalRecord[] {
  return records.map((record, index) => {
    const kept = numbered(structuredClone(record), lastSeq + index + 1);
    encodeLine(kept, { owner: ownerMark(owner), last_turn: kept.turn, summary_at: null });
    return kept;
  });
}

/** What a journal may start with. @throws INVALID_REQUEST */
export function checkFirst(owner: Owner, records: readonly NewRecord[]): void {
  const [first] = records;
  if (first?.type !== "session" || first.body.owner !== owner || records.some(({ type }) => type === "rewind"))
    throw new AppError("INVALID_REQUEST", {
      detail: "A journal starts with the session record of its owner, and with nothing to rewind.",
    });
}

/** @throws INVALID_REQUEST for a rewind to a record that was not there before it was asked for */
export function checkRewinds(records: readonly NewRecord[], lastSeq: number): void {
  if (records.some((record) => record.type === "rewind" && record.body.to_seq > lastSeq))
    throw new AppError("INVALID_REQUEST", { detail: "A rewind goes back to a record that was there before it was asked for." });
}
