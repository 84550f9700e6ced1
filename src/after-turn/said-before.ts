import type { Owner } from "../domain/owner.js";
import { isSaid, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord } from "../domain/session.js";
import { isAppError } from "../platform/errors.js";
import type { TurnToRemember } from "../ports/memories.js";
import type { MemoryLogTurn } from "../ports/memory-log.js";
import type { ShortTermMemory } from "../ports/session-store.js";
import { turnToRemember } from "./turn-to-remember.js";

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
