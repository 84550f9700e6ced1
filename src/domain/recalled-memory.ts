import { beginsAfter, type MemoryRecord } from "./memory-record.js";
import type { RecalledMemory, RecallReason } from "./session.js";

const DAY_MS = 86_400_000;

/** A memory as a turn is given it, and as the answer tells it. */
export function recalledOf(
  record: MemoryRecord,
  now: Date,
  { score, why }: { readonly score: number | null; readonly why?: RecallReason },
): RecalledMemory {
  const { id, text, category, strength, subject, need, condition, source, created_at, valid_from, valid_until } = record;
  const from = source === null ? null : { session_id: source.session_id, turn: source.turn, message_id: source.message_id };
  return {
    id,
    text,
    category,
    strength,
    subject,
    ...(need !== null && { need }),
    score,
    source: from,
    created_at,
    ...((beginsAfter(record, now) || Date.parse(created_at) - Date.parse(valid_from) > DAY_MS) && { valid_from }),
    ...(valid_until !== null && { valid_until }),
    ...(condition !== "" && { condition }),
    ...(why !== undefined && { why }),
  };
}
