import { readTurnsOffRecord } from "../domain/off-record.js";
import type { Owner } from "../domain/owner.js";
import type { MessageRecord, RecordOf } from "../domain/session.js";
import { historyMessageOf } from "../ports/history.js";
import type { HistoryMessage } from "../ports/resources.js";
import type { SessionStore } from "../ports/session-store.js";

/** What of a session may be found: not what was said off the record, in turns that ended badly, or in another session first. */
export async function* searchable(store: SessionStore, owner: Owner, sessionId: string): AsyncGenerator<HistoryMessage> {
  const kept = new Set<number>();
  const hidden = new Set<number>(await readTurnsOffRecord(store.journal.read(owner, sessionId)));
  for await (const record of store.journal.read(owner, sessionId))
    if (record.type === "message" && !isSearchable(record)) hidden.add(record.turn);
    else if (
      record.type === "message" &&
      (record.body.imported === true || record.body.ingested === true || record.body.outcome === "completed")
    )
      kept.add(record.turn);
  for await (const record of store.journal.read(owner, sessionId)) {
    if (record.type !== "message" || !kept.has(record.turn) || record.body.origin_id !== undefined) continue;
    const { outcome, content } = record.body;
    if (content === "" || (outcome !== undefined && outcome !== "completed")) continue;
    if (!hidden.has(record.turn)) yield historyMessageOf(sessionId, record);
  }
}

/** Whether a user's message, and the answer to it, may be found again. */
export function isSearchable({ body }: MessageRecord): boolean {
  return body.remember && body.in_history !== false;
}

/** As history knows a summary: behind all messages of its session, without rounds that the user asked not to remember. */
export function summaryMessage(sessionId: string, record: RecordOf<"summary">): HistoryMessage {
  const { text, searchable = text, from_turn, to_turn } = record.body;
  return {
    message_id: record.id,
    session_id: sessionId,
    turn: record.body.to_turn,
    position: 1_000_000_000 + record.body.to_turn,
    role: "system",
    name: "summary",
    content: typeof searchable === "string" && searchable !== "" ? searchable : `Turns ${from_turn} to ${to_turn}.`,
    channel: "summary",
    created_at: record.at,
    custom_metadata: { from_turn: record.body.from_turn, to_turn: record.body.to_turn, by: record.body.by },
  };
}
