import type { Category } from "../domain/categories.js";
import type { Span } from "../domain/compared-words.js";
import { type AppError, type ErrorCode, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Need } from "../ports/agent.js";
import type { Embedder } from "../ports/embedding.js";
import type { MessageReader, MessageToRead, NeedsReading, ProposedOperation, Reading } from "../ports/extraction.js";
import type { CheckedOperation, CheckedReading } from "./checked-operation.js";
import { type Coverage, calledBy } from "./coverage.js";
import { checkWithWitness } from "./likeness.js";
import { MAX_READ_CHARS } from "./message-document.js";
import { asksNotToKeep, offTheRecord } from "./off-record.js";

export interface ReadMessageParts {
  readonly categories: readonly Category[];
  readonly needs: readonly Need[];
  /** Bears witness to what must hold where words don't. Default: words alone do. */
  readonly embedder?: Embedder;
  /** Plain forms in which guests ask that a message is not kept. Default: none. */
  readonly offRecord?: readonly string[];
  /** Needs that no reading may leave out in silence. Default: what a reader makes nothing of is left. */
  readonly coverage?: Coverage;
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
    try {
      return await checked(reader, read, await reader.read(read, { signal }), parts, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // What it says is not to be kept, whoever could read it.
      if (asksNotToKeep(read.text, parts.offRecord ?? []))
        return offTheRecord(read.text, { reader: reader.name, operations: [], off_record: null, dropped: {} }, parts.needs);
      return { reader: reader.name, operations: [], off_record: null, dropped: {}, unread: { error, asks: asksOf(read, parts) } };
    }
  };
}

/** What comes about again with the same messages, whenever they are read. */
const REFUSALS: readonly ErrorCode[] = ["MODEL_CONTENT_FILTER", "MODEL_REFUSED_REQUEST", "CONTEXT_TOO_LARGE", "EXTRACTION_FAILED"];

export function isRefusal(error: unknown): error is AppError {
  return isAppError(error) && REFUSALS.includes(error.code);
}

/** Of a message that nobody can read: the needs that its words tell plainly, each by its name. */
function asksOf(message: MessageToRead, { coverage }: ReadMessageParts): readonly ProposedOperation[] {
  if (coverage === undefined) return [];
  return coverage.uncovered(message, []).map((told) => coverage.askedByName(told, message));
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
        return reading === null ? null : checked(reader, message, reading, parts, signal);
      }),
    );
  };
}

function beginningOf(message: MessageToRead): MessageToRead {
  return { ...message, text: message.text.slice(0, MAX_READ_CHARS) };
}

async function checked(
  reader: MessageReader,
  message: MessageToRead,
  reading: Reading,
  parts: ReadMessageParts,
  signal: AbortSignal,
): Promise<CheckedReading> {
  const { offRecord = [], coverage, ...witnesses } = parts;
  const admitted = (operations: readonly ProposedOperation[]) =>
    checkWithWitness(message, { operations, off_record: null, unreadable: 0 }, { reader: reader.name, ...witnesses });
  const first = await checkWithWitness(message, reading, { reader: reader.name, ...witnesses });
  const isOff = asksNotToKeep(message.text, offRecord);
  const taken = lookedAt(reading.operations, first);
  const left =
    coverage === undefined || isOff
      ? []
      : await leftOut(reader, message, { taken, over: reading.over ?? [] }, { ...parts, coverage, admitted }, signal);
  const all = { ...first, operations: [...first.operations, ...left] };
  const result = isOff ? offTheRecord(message.text, all, parts.needs) : all;
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

/** Behind the operations of the first reading, each under a place of its own. */
const AGAIN_FROM = 600;
const BY_NAME_FROM = 700;

/** What is told and no proposal covers: of a second reading, else by the need's name. */
async function leftOut(
  reader: MessageReader,
  message: MessageToRead,
  { taken, over }: { readonly taken: readonly ProposedOperation[]; readonly over: readonly Span[] },
  parts: ReadMessageParts & {
    readonly coverage: Coverage;
    readonly admitted: (operations: readonly ProposedOperation[]) => Promise<CheckedReading>;
  },
  signal: AbortSignal,
): Promise<readonly CheckedOperation[]> {
  const { coverage, admitted, logger } = parts;
  const how = { hardOnly: reader.readNeeds === undefined, over };
  const told = coverage.uncovered(message, taken, how);
  if (told.length === 0) return [];
  const names = [...new Set(told.map(calledBy))];
  const again = await reader.readNeeds?.(message, names, { signal }).catch((error: unknown): NeedsReading => {
    signal.throwIfAborted();
    logger.warn({ err: error, message_id: message.message_id }, "needs that a reading left out could not be read again");
    return { operations: [], off_record: null, unreadable: 0, nobodys: [] };
  });
  const proposed = (again?.operations ?? []).filter((proposal) => coverage.isOf(told, proposal, message));
  const found = await admitted(proposed);
  const still = coverage
    .uncovered(message, [...taken, ...lookedAt(proposed, found)], how)
    .filter((each) => again?.nobodys.includes(calledBy(each)) !== true);
  const asked = await admitted(still.map((each) => coverage.askedByName(each, message)));
  return [...movedTo(AGAIN_FROM, found), ...movedTo(BY_NAME_FROM, asked)];
}

/** What was dropped took no need up; but where its reader says that it is not so, as in a joke, that need was looked at. */
function lookedAt(proposals: readonly ProposedOperation[], { operations, refused = [] }: CheckedReading): readonly ProposedOperation[] {
  const left = new Set(operations.map(({ index }) => index));
  const reasons = refused.map(({ reason }) => reason).values();
  return proposals.filter((_, place) => left.has(place) || reasons.next().value === "not_stated");
}

function movedTo(from: number, { operations }: CheckedReading): readonly CheckedOperation[] {
  return operations.map((operation) => ({ ...operation, index: from + operation.index }));
}
