import { eventOf, type OwnerEvent } from "./event.js";
import type { Owner } from "./owner.js";
import type { JournalRecord, MessageRecord, RecordOf } from "./session.js";

/** What a session's journal tells of to the outside. What was imported or copied (fork, merge) happened elsewhere and is not told. Pure. */
export function sessionEvents(owner: Owner, sessionId: string, records: readonly JournalRecord[]): OwnerEvent[] {
  return records.flatMap((record) => eventOfRecord(owner, sessionId, record) ?? []);
}

function eventOfRecord(owner: Owner, sessionId: string, record: JournalRecord): OwnerEvent | null {
  switch (record.type) {
    case "session":
      return eventOf(owner, "session.created", [sessionId], record.at, { session_id: sessionId });
    case "session_patch":
      return statusEvent(owner, sessionId, record);
    case "message":
      return turnEvent(owner, sessionId, record);
    case "write_back_done": {
      const { status, error_code } = record.body;
      const data = { session_id: sessionId, turn: record.turn, ...(error_code !== undefined && { error_code }) };
      return status === "failed" ? eventOf(owner, "write_back.failed", [record.id], record.at, data) : null;
    }
    default:
      return null;
  }
}

function statusEvent(owner: Owner, sessionId: string, { id, at, body }: RecordOf<"session_patch">): OwnerEvent | null {
  if (body.status !== "archived" && body.status !== "deleted") return null;
  return eventOf(owner, `session.${body.status}`, [id], at, { session_id: sessionId });
}

/** An answer tells how its turn ended; one that waits for its caller's tools has not. */
function turnEvent(owner: Owner, sessionId: string, { id, at, turn, body }: MessageRecord): OwnerEvent | null {
  const { role, outcome, interim, imported, merged, origin_id, suspended, error_code } = body;
  if (role !== "assistant" || interim || imported || merged || origin_id !== undefined || suspended !== undefined) return null;
  const data = { session_id: sessionId, turn, message_id: id };
  if (outcome === undefined || outcome === "completed") return eventOf(owner, "turn.completed", [id], at, data);
  return eventOf(owner, "turn.failed", [id], at, { ...data, error_code: error_code ?? "CLIENT_CLOSED_REQUEST" });
}
