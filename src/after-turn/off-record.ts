import type { Owner } from "../domain/owner.js";
import type { MessageRecord, NewRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { ConversationHistory } from "../ports/history.js";
import type { TurnMemories } from "../ports/memories.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";

export interface OffRecordParts {
  readonly store: Pick<SessionStore, "journal">;
  readonly writer: SessionWriter;
  /** Null when there is no history. */
  readonly history: Pick<ConversationHistory, "removeMessages"> | null;
  readonly turns: Pick<TurnMemories, "takeOffRecord">;
  /** Writes the session's summary, title, topic and tags anew where they may tell the turn. Must not throw. */
  readonly describeAnew: (owner: Owner, sessionId: string, turn: number) => Promise<unknown>;
  readonly clock: Clock;
}

export interface OffRecordAsked {
  readonly owner: Owner;
  readonly sessionId: string;
  /** The turn that asked for it. */
  readonly turn: number;
  readonly which: "this" | "previous";
  readonly signal: AbortSignal;
}

/**
 * "Please don't keep that": takes a turn out of history, summary, title and memories. Journalled first, so that a crash, a reindex or an
 * export finds it; what follows can be repeated. The turn stays in the conversation itself. A hard need that goes with it waits for the
 * guest's word instead of being lost in silence. Returns the turn that was taken out; null where there is none before the first.
 */
export async function takeOffRecord(parts: OffRecordParts, asked: OffRecordAsked): Promise<number | null> {
  const { store, writer, history, turns, describeAnew, clock } = parts;
  const { owner, sessionId, turn, which, signal } = asked;
  const messages: MessageRecord[] = [];
  const marked = new Set<number>();
  for await (const record of store.journal.read(owner, sessionId, { signal })) {
    if (record.type === "off_record") marked.add(record.body.of_turn);
    else if (record.type === "message" && record.turn <= turn) messages.push(record);
  }
  const said = messages.filter(({ body }) => body.outcome === "completed" || (body.ingested === true && body.role === "user"));
  const target = which === "this" ? turn : Math.max(0, ...said.map((message) => message.turn).filter((other) => other < turn));
  const ids = messages.filter((message) => message.turn === target).map(({ id }) => id);
  if (ids.length === 0) return null;

  if (!marked.has(target)) {
    const at = clock.now().toISOString();
    const mark: NewRecord = { type: "off_record", id: newId(), turn, at, body: { of_turn: target, message_ids: ids } };
    await writer.append(owner, sessionId, [mark]);
  }
  await turns.takeOffRecord(owner, ids, { now: clock.now() });
  try {
    await history?.removeMessages(owner, ids);
  } catch (error) {
    if (!isAppError(error, "HISTORY_DISABLED")) throw error;
  }
  await describeAnew(owner, sessionId, target);
  return target;
}
