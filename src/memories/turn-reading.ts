import { LRUCache } from "lru-cache";
import { normalised } from "../domain/folded-text.js";
import type { Memory } from "../domain/memory.js";
import { beginsAfter, holdsAt, lastConfirmedAt, type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { CALLS_A_MESSAGE, type CallsLeft, type MessageToRead, type ReadingCalls } from "../ports/extraction.js";
import type { TurnToRemember } from "../ports/memories.js";
import type { MemoryStore } from "../ports/memory-store.js";
import type { CheckedReading } from "./checked-operation.js";
import { nameOf } from "./companions.js";
import type { LeftToRead } from "./left-to-read.js";
import { waits } from "./waiting.js";

/** Reads a message, with what is known, and checks what the model proposes. */
export type ReadMessage = (message: MessageToRead, signal: AbortSignal) => Promise<CheckedReading>;

export interface TurnReadingParts {
  readonly store: Pick<MemoryStore, "similar">;
  readonly readMessage: ReadMessage;
  /** Default: every message is read by itself. */
  readonly left?: LeftToRead;
  /** Before a model is called. @throws what says that it may not be, now. Default: it may. */
  readonly mayRead?: (owner: Owner) => Promise<void>;
  /** What readings have cost, over restarts. Default: it is known to this process alone. */
  readonly readingCalls?: ReadingCalls;
}

/** Memories near to the message that its reader is told. */
const NEAREST = 10;
/** Messages of which it is known what their reading has cost. */
const COUNTED = 10_000;

/** Reads the messages of turns, with what is known of their owner. */
export class TurnReading {
  readonly #parts: TurnReadingParts;
  /** Messages that are being read, by owner and message. */
  readonly #running = new Map<string, Promise<readonly (CheckedReading | null)[]>>();
  /** By owner and message, until they are read or given up. */
  readonly #calls = new LRUCache<string, CallsLeft>({ max: COUNTED });

  constructor(parts: TurnReadingParts) {
    this.#parts = parts;
  }

  /** Of those that are read along, then of the turn itself. A booking in a turn and its write-back wait for one reading. */
  read(
    owner: Owner,
    turn: TurnToRemember,
    along: readonly TurnToRemember[],
    { records, now, signal }: { readonly records: ReadonlyMap<string, MemoryRecord>; readonly now: Date; readonly signal: AbortSignal },
  ): Promise<readonly (CheckedReading | null)[]> {
    const key = keyOf(owner, turn);
    const running = this.#running.get(key);
    if (running !== undefined) return running.then((readings) => [...along.map(() => null), readings.at(-1) ?? null]);
    const { mayRead = async () => {}, readMessage, left } = this.#parts;
    const read = async () => {
      await mayRead(owner);
      const together = along.length > 0 ? left?.together(owner) : null;
      const known = await this.#knownFor(owner, [...along, turn], records, now, signal);
      if (!together) return [await readMessage(await this.#toRead(owner, turn, known), signal)];
      const all = await Promise.all([...along, turn].map((each) => this.#toRead(owner, each, known)));
      try {
        return await together(all, signal);
      } catch (error) {
        left?.failed(along, error);
        throw error;
      }
    };
    const reading = read().finally(() => this.#running.delete(key));
    this.#running.set(key, reading);
    return reading;
  }

  /** It is read, or nobody reads it any more by themselves: what it has cost is forgotten. */
  over(owner: Owner, turn: Pick<TurnToRemember, "message_id">): void {
    const spent = (this.#calls.get(keyOf(owner, turn))?.left ?? CALLS_A_MESSAGE) < CALLS_A_MESSAGE;
    this.#calls.delete(keyOf(owner, turn));
    // One that stays is old some day, and goes then.
    if (spent) this.#parts.readingCalls?.forget(turn.message_id).catch(() => {});
  }

  async #toRead(owner: Owner, turn: TurnToRemember, known: MessageToRead["known"]): Promise<MessageToRead> {
    const { session_id, message_id, text, stated_at, time_zone, context, also } = turn;
    const key = keyOf(owner, turn);
    const calls = this.#calls.get(key) ?? (await this.#callsLeft(message_id));
    this.#calls.set(key, calls);
    return { owner, session_id, turn: turn.turn, message_id, text, stated_at, time_zone, context, known, calls, ...(also && { also }) };
  }

  async #callsLeft(messageId: string): Promise<CallsLeft> {
    const { readingCalls } = this.#parts;
    if (readingCalls === undefined) return { left: CALLS_A_MESSAGE };
    const left = (await readingCalls.left(messageId)) ?? CALLS_A_MESSAGE;
    return { left, keep: (now) => readingCalls.keep(messageId, now) };
  }

  async #knownFor(
    owner: Owner,
    turns: readonly TurnToRemember[],
    records: ReadonlyMap<string, MemoryRecord>,
    now: Date,
    signal: AbortSignal,
  ): Promise<MessageToRead["known"]> {
    const text = turns.map((turn) => turn.text).join("\n");
    // A store or an embedder that fails costs the nearest, not the reading.
    const asked = records.size === 0 ? [] : turns;
    const near = asked.map((turn) =>
      this.#parts.store.similar(owner, { text: turn.text, limit: NEAREST, known: records, signal }).catch(() => []),
    );
    const nearest = (await Promise.all(near)).flat();
    signal.throwIfAborted();
    return knownFor(text, records.values(), nearest, now);
  }
}

function keyOf(owner: Owner, { message_id }: Pick<TurnToRemember, "message_id">): string {
  return `${owner} ${message_id}`;
}

const MAX_KNOWN = 40;
/** So many of the nearest tell what a message is about. */
const TELLING = 3;
/** Of what a message is about, and of what was said last where nothing is near. */
const MAX_ALIKE = 10;

/**
 * What is known and may be meant: all hard and all waiting memories, those of the message's companions, the nearest, and the newest of the
 * same categories; where nearness can't be told, the newest. At most 40: what a message touches, and not all that is known.
 */
export function knownFor(text: string, records: Iterable<MemoryRecord>, nearest: readonly Memory[], now: Date): readonly Memory[] {
  const words = ` ${normalised(text)} `;
  const held = [...records].filter((record) => holdsAt(record, now) || waits(record) || beginsAfter(record, now));
  const ranked = [
    ...held.filter(({ strength }) => strength === "hard"),
    ...held.filter(waits),
    ...held.filter(({ subject, entities }) =>
      [nameOf(subject), ...(subject === "self" ? [] : entities)].some((name) => name !== null && words.includes(` ${normalised(name)} `)),
    ),
  ];
  const newest = [...held].sort((a, b) => lastConfirmedAt(b) - lastConfirmedAt(a));
  const own = new Map(held.map((record) => [record.id, record]));
  const about = new Set(nearest.slice(0, TELLING).map(({ category }) => category));
  const alike = newest.filter(({ category }) => about.size === 0 || about.has(category)).slice(0, MAX_ALIKE);
  const ids = new Set([...ranked, ...nearest, ...alike].map(({ id }) => id));
  return [...ids].slice(0, MAX_KNOWN).flatMap((id) => {
    const record = own.get(id);
    return record === undefined ? [] : [memoryOf(record)];
  });
}
