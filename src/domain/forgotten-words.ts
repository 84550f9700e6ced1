import { wordsOf } from "../platform/language/tokens.js";
import type { JournalRecord, MessageRecord } from "./session.js";

/** Stands for words that were forgotten, where what was said around them stays. */
export const FORGOTTEN = "[forgotten at the user's request]";

/** Whether a text has a telling word (no stop word) of one of the others. `except`: texts whose words tell nothing. Pure. */
export function sharesWord(text: string, others: readonly string[], except: readonly string[] = []): boolean {
  const known = termsOf(except);
  const telling = termsOf(others);
  return wordsOf(text).some((word) => !word.stop && word.terms.some((term) => telling.has(term) && !known.has(term)));
}

function termsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => wordsOf(text).flatMap((word) => (word.stop ? [] : word.terms))));
}

/** A memory that was forgotten, and the messages that are hidden with it. */
interface Forgotten {
  readonly memoryId: string;
  readonly messageIds: readonly string[];
}

/**
 * The answers of a session that recite what was forgotten, by memory: those that repeat a telling word of a message which is hidden with
 * it, in that message's turn, and those that were given the memory and speak of it, where that is more than what the user said in the same
 * turn. By the ids under which they were first said. Pure.
 */
export function recitals(records: readonly JournalRecord[], forgotten: readonly Forgotten[]): ReadonlyMap<string, readonly string[]> {
  const messages = records.filter((record): record is MessageRecord => record.type === "message");
  const hiddenBy = new Map<string, readonly string[]>();
  for (const { memoryId, messageIds } of forgotten) for (const id of messageIds) hiddenBy.set(id, [...(hiddenBy.get(id) ?? []), memoryId]);
  const memoryIds = new Set(forgotten.map(({ memoryId }) => memoryId));
  const askedIn = new Map<number, MessageRecord[]>();
  for (const message of messages)
    if (message.body.role === "user") askedIn.set(message.turn, [...(askedIn.get(message.turn) ?? []), message]);
  const found = new Map<string, string[]>();
  for (const { id, turn, body } of messages) {
    if (body.role !== "assistant") continue;
    const asked = askedIn.get(turn) ?? [];
    const given = body.memory?.recalled.filter((memory) => memoryIds.has(memory.id)) ?? [];
    const recited = [
      ...given.flatMap((memory) => (sharesWord(body.content, [memory.text], contentsOf(asked)) ? [memory.id] : [])),
      ...asked.flatMap((message) => {
        const memories = hiddenBy.get(message.body.origin_id ?? message.id) ?? [];
        return memories.length > 0 && sharesWord(body.content, [message.body.content]) ? memories : [];
      }),
    ];
    for (const memoryId of new Set(recited)) found.set(memoryId, [...(found.get(memoryId) ?? []), body.origin_id ?? id]);
  }
  return found;
}

function contentsOf(messages: readonly MessageRecord[]): readonly string[] {
  return messages.map(({ body }) => body.content);
}
