import type { Owner } from "../domain/owner.js";
import { isAnswer } from "../domain/recorded-turn.js";
import type { MessageRecord } from "../domain/session.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { ShortTermMemory, WindowRead } from "../ports/session-store.js";

/** More of them in a row tell nothing new. */
const MOST = 3;

/** Whether the newest message that a window was read with has its answer in it. */
export function lastIsAnswered({ rounds, lastUserMessage }: WindowRead): boolean {
  return lastUserMessage === null || lastUserMessage.id === rounds.at(-1)?.user.id;
}

/**
 * What the user said since the last answer, before a turn, oldest first, at most 3: messages whose turns failed or were broken off. The
 * window has none of them, and "again, please" is about the newest. Without what was said off the record, and what waits for its caller's
 * tools: that goes on by itself, or was given up by the caller.
 */
export async function unansweredBefore(
  journal: ShortTermMemory,
  { owner, sessionId, turn }: { readonly owner: Owner; readonly sessionId: string; readonly turn: number },
  signal: AbortSignal,
): Promise<readonly MessageRecord[]> {
  const leftOut = new Set<number>();
  const found: MessageRecord[] = [];
  for await (const record of journal.newestFirst(owner, sessionId, { signal })) {
    if (record.type === "off_record") leftOut.add(record.body.of_turn);
    if (record.type !== "message") continue;
    if (found.length === MOST || isAnswer(record)) break;
    if (record.body.suspended !== undefined) leftOut.add(record.turn);
    if (record.body.role === "user" && record.turn < turn && !leftOut.has(record.turn)) found.push(record);
  }
  return found.reverse();
}

/** Without what was forgotten since. */
export function notForgotten(messages: readonly MessageRecord[], tombstones: readonly Tombstone[]): readonly MessageRecord[] {
  const hidden = new Set(tombstones.flatMap(({ messageIds }) => messageIds));
  return messages.filter(({ id, body }) => !hidden.has(id) && !hidden.has(body.origin_id ?? ""));
}
