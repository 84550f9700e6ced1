import type { Category } from "../domain/categories.js";
import type { Logger } from "../platform/logger.js";
import type { Need } from "../ports/agent.js";
import type { Embedder } from "../ports/embedding.js";
import type { MessageReader, MessageToRead, Reading } from "../ports/extraction.js";
import { asksNotToKeep, offTheRecord } from "./asks-not-to-keep.js";
import type { CheckedReading } from "./checked-operation.js";
import { checkWithWitness } from "./likeness.js";
import { MAX_READ_CHARS } from "./message-document.js";

export interface ReadMessageParts {
  readonly categories: readonly Category[];
  readonly needs: readonly Need[];
  /** Bears witness to what must hold where words don't. Default: words alone do. */
  readonly embedder?: Embedder;
  /** Plain forms in which guests ask that a message is not kept. Default: none. */
  readonly offRecord?: readonly string[];
  readonly logger: Logger;
}

export type ReadMessage = (message: MessageToRead, signal: AbortSignal) => Promise<CheckedReading>;

/**
 * Reading and its checks, as one: what a message gives, and what of it waits for the guest's word. Of a longer message the first
 * 8,000 characters are read. @throws what the reader throws
 */
export function readMessage(reader: MessageReader, parts: ReadMessageParts): ReadMessage {
  return async (message, signal) => {
    if (message.text.trim() === "") return { reader: reader.name, operations: [], off_record: null, dropped: {} };
    const read = beginningOf(message);
    return checked(reader, read, await reader.read(read, { signal }), parts);
  };
}

/** Several messages by one call, oldest first; null for one that has yet to be read. */
export type ReadTogether = (messages: readonly MessageToRead[], signal: AbortSignal) => Promise<readonly (CheckedReading | null)[]>;

/** The same for several messages. Null where the reader takes each by itself. */
export function readTogether(reader: MessageReader, parts: ReadMessageParts): ReadTogether | null {
  if (reader.readTogether === undefined) return null;
  return async (messages, signal) => {
    const read = messages.map(beginningOf);
    const readings = (await reader.readTogether?.(read, { signal })) ?? [];
    return Promise.all(
      read.map((message, place) => {
        const reading = readings[place] ?? null;
        return reading === null ? null : checked(reader, message, reading, parts);
      }),
    );
  };
}

function beginningOf(message: MessageToRead): MessageToRead {
  return { ...message, text: message.text.slice(0, MAX_READ_CHARS) };
}

async function checked(reader: MessageReader, message: MessageToRead, reading: Reading, parts: ReadMessageParts): Promise<CheckedReading> {
  const { offRecord = [], ...witnesses } = parts;
  const checked = await checkWithWitness(message, reading, { reader: reader.name, ...witnesses });
  const result = asksNotToKeep(message.text, offRecord) ? offTheRecord(message.text, checked, parts.needs) : checked;
  const waiting = result.operations.filter(({ waits }) => waits !== null).length;
  if (waiting > 0 || Object.keys(result.dropped).length > 0)
    parts.logger.info(
      {
        message_id: message.message_id,
        reader: reader.name,
        taken: result.operations.length - waiting,
        waiting,
        dropped: result.dropped,
      },
      "part of a reading waits or was dropped",
    );
  return result;
}
