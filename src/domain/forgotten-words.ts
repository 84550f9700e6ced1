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

/** A memory that was forgotten, and the messages that are hidden with it, by the ids under which they were first said. */
interface Forgotten {
  readonly memoryId: string;
  readonly messageIds: readonly string[];
}

/** What was forgotten, as a session is looked through for it. */
export class ForgottenWords {
  readonly #memoryIds: ReadonlySet<string>;
  readonly #hiddenBy = new Map<string, string[]>();

  constructor(forgotten: readonly Forgotten[]) {
    this.#memoryIds = new Set(forgotten.map(({ memoryId }) => memoryId));
    for (const { memoryId, messageIds } of forgotten)
      for (const id of messageIds) this.#hiddenBy.set(id, [...(this.#hiddenBy.get(id) ?? []), memoryId]);
  }

  /** The memories with which a message is hidden. */
  hiding({ id, body }: MessageRecord): readonly string[] {
    return [id, body.origin_id ?? id].flatMap((each) => this.#hiddenBy.get(each) ?? []);
  }

  /** The memories that an answer was given. */
  givenTo({ body }: MessageRecord): readonly { readonly id: string; readonly text: string }[] {
    return body.memory?.recalled.filter(({ id }) => this.#memoryIds.has(id)) ?? [];
  }

  /**
   * The memories that an answer recites: those whose hidden message it answers and repeats a telling word of, and those that it was given
   * and speaks of, where that is more than what the user said. `asked`: the user's messages of its turn.
   */
  recitedBy(answer: MessageRecord, asked: readonly MessageRecord[]): readonly string[] {
    const { content } = answer.body;
    const said = asked.map(({ body }) => body.content);
    const given = this.givenTo(answer).filter(({ text }) => sharesWord(content, [text], said));
    const repeated = asked.filter((message) => this.hiding(message).length > 0 && sharesWord(content, [message.body.content]));
    return [...new Set([...given.map(({ id }) => id), ...repeated.flatMap((message) => this.hiding(message))])];
  }
}

/** The answers of a session that recite what was forgotten, by memory; by the ids under which they were first said. Pure. */
export function recitals(records: readonly JournalRecord[], forgotten: readonly Forgotten[]): ReadonlyMap<string, readonly string[]> {
  const words = new ForgottenWords(forgotten);
  const messages = records.filter((record): record is MessageRecord => record.type === "message");
  const askedIn = new Map<number, MessageRecord[]>();
  for (const message of messages)
    if (message.body.role === "user") askedIn.set(message.turn, [...(askedIn.get(message.turn) ?? []), message]);
  const found = new Map<string, string[]>();
  for (const message of messages) {
    if (message.body.role !== "assistant") continue;
    for (const memoryId of words.recitedBy(message, askedIn.get(message.turn) ?? []))
      found.set(memoryId, [...(found.get(memoryId) ?? []), message.body.origin_id ?? message.id]);
  }
  return found;
}
