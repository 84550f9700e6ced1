import type { Owner } from "../domain/owner.js";
import type { MessageRecord, NewRecord } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { ConversationHistory } from "../ports/history.js";
import type { TurnMemories } from "../ports/memories.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import { sessionsSince } from "../ports/sessions-since.js";

export interface OffRecordParts {
  readonly store: Pick<SessionStore, "journal" | "index">;
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
 * "Please don't keep that": takes a turn out of history, summary, title and memories, wherever it stands: in the conversation in which it
 * was first said, and in forks. Journalled first, so that a crash, a reindex or an
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
  const taken = messages.filter((message) => message.turn === target);
  if (taken.length === 0) return null;
  const places = [{ sessionId, turn: target, messages: taken, isMarked: marked.has(target) }, ...(await elsewhere(parts, asked, taken))];

  for (const place of places.filter(({ isMarked }) => !isMarked)) {
    const at = clock.now().toISOString();
    const body = { of_turn: place.turn, message_ids: place.messages.map(({ id }) => id) };
    const mark: NewRecord = { type: "off_record", id: newId(), turn: place === places[0] ? turn : place.turn, at, body };
    await writer.append(owner, place.sessionId, [mark]);
  }
  const ids = [...new Set(places.flatMap((place) => place.messages.flatMap((message) => [message.id, firstIdOf(message)])))];
  await turns.takeOffRecord(owner, ids, { now: clock.now() });
  try {
    await history?.removeMessages(owner, ids);
  } catch (error) {
    if (!isAppError(error, "HISTORY_DISABLED")) throw error;
  }
  for (const place of places) await describeAnew(owner, place.sessionId, place.turn);
  return target;
}

interface Place {
  readonly sessionId: string;
  readonly turn: number;
  readonly messages: readonly MessageRecord[];
  readonly isMarked: boolean;
}

/** Where else a turn's messages stand: in the conversation that this one was forked from, and in forks. */
async function elsewhere({ store }: OffRecordParts, { owner, sessionId, signal }: OffRecordAsked, taken: readonly MessageRecord[]) {
  const said = new Set(taken.map(firstIdOf));
  const sinceMs = Math.min(...taken.map(({ at }) => Date.parse(at)));
  const places: Place[] = [];
  for (const { id } of await sessionsSince(store.index, owner, sinceMs)) {
    if (id === sessionId) continue;
    const marked = new Set<number>();
    const messages: MessageRecord[] = [];
    for await (const record of store.journal.read(owner, id, { signal })) {
      if (record.type === "off_record") marked.add(record.body.of_turn);
      else if (record.type === "message" && said.has(firstIdOf(record))) messages.push(record);
    }
    for (const turn of new Set(messages.map((message) => message.turn))) {
      const ofTurn = messages.filter((message) => message.turn === turn);
      places.push({ sessionId: id, turn, messages: ofTurn, isMarked: marked.has(turn) });
    }
  }
  return places;
}

function firstIdOf({ id, body }: MessageRecord): string {
  return body.origin_id ?? id;
}
