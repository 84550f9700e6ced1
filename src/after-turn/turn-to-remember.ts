import { askedWhich } from "../domain/asked-which.js";
import { turnsOffRecord } from "../domain/off-record.js";
import type { Owner } from "../domain/owner.js";
import { isSaid, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, Step } from "../domain/session.js";
import { isAppError } from "../platform/errors.js";
import type { TurnToRemember } from "../ports/memories.js";
import type { MemoryLogTurn } from "../ports/memory-log.js";
import type { PendingTurn, SessionStore, ShortTermMemory } from "../ports/session-store.js";

/** Rounds before a message that its reader sees. */
export const CONTEXT_ROUNDS = 3;

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

/** What was said in the rounds before a turn, in order. */
export function contextBefore(records: readonly JournalRecord[], turn: number, rounds: number): TurnToRemember["context"] {
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

/**
 * A turn of before as its message was said, from the journal; null where it is not part of a conversation any more: purged, emptied, said
 * again differently, or off the record.
 */
export async function saidBefore(
  journal: Pick<ShortTermMemory, "newestFirst">,
  owner: Owner,
  { session_id, turn, message_id }: MemoryLogTurn,
  { contextRounds, signal }: { readonly contextRounds: number; readonly signal: AbortSignal },
): Promise<TurnToRemember | null> {
  const records: JournalRecord[] = [];
  try {
    for await (const record of journal.newestFirst(owner, session_id, { signal })) {
      if (record.type === "off_record" && record.body.of_turn === turn) return null;
      if (record.type === "off_record") records.push(record);
      if (record.type !== "message") continue;
      // User messages come in the order of their turns; an answer may come later.
      if (record.turn < turn - contextRounds && record.body.role === "user") break;
      if (record.turn >= turn - contextRounds && record.turn <= turn) records.push(record);
    }
    records.reverse();
  } catch (error) {
    if (isAppError(error, "SESSION_NOT_FOUND")) return null;
    throw error;
  }
  const recorded = recordedTurn(records, turn);
  if (!recorded || recorded.user.id !== message_id || !isSaid(recorded)) return null;
  return turnToRemember(session_id, recorded.user, records, contextRounds);
}

/**
 * What a message that was said again differently replaces: the user messages, also those that were edited before, and what of it can be
 * searched. A summary that was taken back with it goes too: nobody else knows it any more. One that was written since stays.
 */
export async function replacedMessages(
  journal: Pick<SessionStore["journal"], "read">,
  { owner, sessionId }: Pick<PendingTurn, "owner" | "sessionId">,
  editOf: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly messages: readonly string[]; readonly searchable: readonly string[] }> {
  if (editOf === undefined) return { messages: [], searchable: [] };
  const editedBefore = new Map<string, string>();
  const searchable: string[] = [];
  let replaced: number | null = null;
  let rewound = false;
  for await (const record of journal.read(owner, sessionId, { includeRewound: true, signal })) {
    if (record.id === editOf) replaced = record.turn;
    rewound ||= replaced !== null && record.type === "rewind";
    if (record.type === "message" && record.body.edit_of !== undefined) editedBefore.set(record.id, record.body.edit_of);
    if (record.type === "summary" && replaced !== null && !rewound) searchable.push(record.id);
    if (record.turn === replaced && record.type === "message") searchable.push(record.id);
  }
  const messages = new Set<string>();
  for (let id: string | undefined = editOf; id !== undefined && !messages.has(id); id = editedBefore.get(id)) messages.add(id);
  return { messages: [...messages], searchable };
}
