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

/**
 * The answers of a session that recite memories which they were given, by memory: one is given what it need not speak of, and what the user
 * said in the same turn is no recital. By the ids under which they were first said. Pure.
 */
export function recitals(records: readonly JournalRecord[], memoryIds: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const messages = records.filter((record): record is MessageRecord => record.type === "message");
  const found = new Map<string, string[]>();
  for (const { id, turn, body } of messages) {
    const given = body.memory?.recalled.filter((memory) => memoryIds.has(memory.id)) ?? [];
    if (given.length === 0) continue;
    const asked = messages.flatMap((other) => (other.turn === turn && other.body.role === "user" ? [other.body.content] : []));
    for (const memory of given)
      if (sharesWord(body.content, [memory.text], asked)) found.set(memory.id, [...(found.get(memory.id) ?? []), body.origin_id ?? id]);
  }
  return found;
}
