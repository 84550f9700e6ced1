import { askedWhich } from "../domain/asked-which.js";
import { turnsOffRecord } from "../domain/off-record.js";
import type { JournalRecord, MessageRecord, Step } from "../domain/session.js";
import type { TurnToRemember } from "../ports/memories.js";

/** A user message as it is to be remembered, with the rounds before it that its reader sees. */
export function turnToRemember(
  sessionId: string,
  user: MessageRecord,
  records: readonly JournalRecord[],
  contextRounds: number,
): TurnToRemember {
  return {
    session_id: sessionId,
    turn: user.turn,
    message_id: user.id,
    text: user.body.content,
    stated_at: new Date(user.at),
    time_zone: user.body.time_zone ?? "UTC",
    channel: user.body.channel,
    context: contextBefore(records, user.turn, contextRounds),
    ...(askedWhich(stepsOf(records, user.turn)) !== null && { left_to_guest: true }),
  };
}

function contextBefore(records: readonly JournalRecord[], turn: number, rounds: number): TurnToRemember["context"] {
  // What the user asked not to keep explains nothing to who keeps the notes.
  const offRecord = turnsOffRecord(records);
  return records.flatMap((record) => {
    if (record.type !== "message" || record.turn >= turn || record.turn < turn - rounds || offRecord.has(record.turn)) return [];
    const { role, content, outcome = "completed" } = record.body;
    return role === "system" || content === "" || outcome !== "completed" ? [] : [{ role, content }];
  });
}

function stepsOf(records: readonly JournalRecord[], turn: number): readonly Step[] {
  return records.flatMap((record) => (record.type === "step" && record.turn === turn ? [record.body] : []));
}
