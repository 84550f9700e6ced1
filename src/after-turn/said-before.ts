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
  journal: Pick<ShortTermMemory, "read">,
  owner: Owner,
  { session_id, turn, message_id }: MemoryLogTurn,
  { contextRounds, signal }: { readonly contextRounds: number; readonly signal: AbortSignal },
): Promise<TurnToRemember | null> {
  const records: JournalRecord[] = [];
  try {
    for await (const record of journal.read(owner, session_id, { signal })) {
      if (record.type === "off_record" && record.body.of_turn === turn) return null;
      if (record.type === "message" && record.turn >= turn - contextRounds && record.turn <= turn) records.push(record);
    }
  } catch (error) {
    if (isAppError(error, "SESSION_NOT_FOUND")) return null;
    throw error;
  }
  const recorded = recordedTurn(records, turn);
  if (!recorded || recorded.user.id !== message_id || !isSaid(recorded)) return null;
  return turnToRemember(session_id, recorded.user, records, contextRounds);
}
