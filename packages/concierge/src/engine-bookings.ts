import type { HandedOver, Owner, StateEngine, StoredEntry } from "maitred";
import { MaitredError, named, newId, ownerPartition } from "maitred/domain";
import { kept, untilKept } from "./booking-commits.js";
import {
  asRead,
  bookingIn,
  happeningIn,
  happeningPut,
  lastHappening,
  quotesIn,
  type StoredBooking,
  type StoredQuote,
  statePut,
} from "./booking-entries.js";
import { eraseBookings } from "./booking-erasure.js";
import { handOverBookings } from "./booking-hand-over.js";
import { BOOKINGS, bookingKey, happeningsBehind, QUOTES, quoteKey, RECORDS, STATE_KEY } from "./booking-keys.js";
import { type BookingParts, bookingIdOf, bookQuote, told } from "./booking-order.js";
import { BookingReferences } from "./booking-references.js";
import { restoreBookings } from "./booking-restore.js";
import type { Booking, Quote } from "./booking-rows.js";
import { BookingSeats } from "./booking-seats.js";
import { type BookingStore, type CallKey, NO_SUCH_BOOKING, type QuoteDraft, quoteOfDraft, type TurnOfSession } from "./booking-store.js";
import { HAPPENINGS_PAGE, type HappeningRow } from "./happenings.js";

/** Old quotes that go with one new one, at most. */
const QUOTES_DROPPED = 50;

/** Quotes and bookings over the state engine: a guest's in their partition, seats in those that all guests share. */
export class EngineBookings implements BookingStore {
  readonly #engine: StateEngine;
  readonly #parts: BookingParts;

  constructor(engine: StateEngine) {
    this.#engine = engine;
    this.#parts = { engine, seats: new BookingSeats(engine), references: new BookingReferences(engine) };
  }

  sold(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#parts.seats.sold(eventIds);
  }

  async addQuote(owner: Owner, draft: QuoteDraft, now: Date): Promise<Quote> {
    const quote = quoteOfDraft(newId(), draft, now);
    const partition = ownerPartition(owner);
    const value = JSON.stringify({ v: 1, quote } satisfies StoredQuote);
    return untilKept(async () => {
      const { ranges, epoch } = await this.#engine.read(partition, { ranges: [QUOTES] });
      const old = (ranges[0] ?? []).filter((entry) => quotesIn([entry]).some((each) => isOver(each, now))).slice(0, QUOTES_DROPPED);
      for (const { id, eventId } of quotesIn(old)) await this.#parts.seats.resolve({ eventId, id: bookingIdOf(id) }, partition);
      const gone = old.length === 0 ? [] : await this.#stillOver(partition, old, now);
      const checks = gone.map(({ key, version }) => ({ key, version }));
      const puts = [named(owner), { key: quoteKey(quote.id), value }];
      return (await kept(this.#engine, partition, { epoch, checks, puts, deletes: gone.map(({ key }) => key) })) ? quote : null;
    });
  }

  /** As they are after their sales were resolved, which puts a quote anew. */
  async #stillOver(partition: string, old: readonly StoredEntry[], now: Date): Promise<readonly StoredEntry[]> {
    const { entries } = await this.#engine.read(partition, { keys: old.map(({ key }) => key) });
    return [...entries.values()].filter((entry) => quotesIn([entry]).some((each) => isOver(each, now)));
  }

  /** Without effect on a quote that is no more the owner's. One that was booked stays so. */
  async updateQuote(owner: Owner, quote: Quote): Promise<void> {
    const partition = ownerPartition(owner);
    const key = quoteKey(quote.id);
    await untilKept(async () => {
      const read = await this.#engine.read(partition, { keys: [key] });
      const [was] = quotesIn([...read.entries.values()]);
      if (was === undefined) return true;
      const value = JSON.stringify({ v: 1, quote: { ...quote, bookingId: was.bookingId ?? quote.bookingId } } satisfies StoredQuote);
      return (await kept(this.#engine, partition, { epoch: read.epoch, checks: [asRead(read, key)], puts: [{ key, value }] })) || null;
    });
  }

  async quotesSince(owner: Owner, sessionId: string, fromTurn: number): Promise<readonly Quote[]> {
    const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: [QUOTES] });
    return quotesIn(ranges[0])
      .filter((quote) => quote.sessionId === sessionId && quote.turn >= fromTurn)
      .toSorted((a, b) => b.turn - a.turn || (a.id < b.id ? 1 : -1));
  }

  book(
    owner: Owner,
    quote: Quote,
    call: CallKey,
    { capacity, taken }: { readonly capacity: number; readonly taken: number },
    now: Date,
  ): Promise<Booking> {
    return bookQuote(this.#parts, { owner, quote, call, places: capacity - taken, now });
  }

  async list(owner: Owner): Promise<readonly Booking[]> {
    const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: [BOOKINGS] });
    return (ranges[0] ?? [])
      .map(bookingIn)
      .toSorted(byStart)
      .map(({ booking }) => booking);
  }

  async get(owner: Owner, idOrReference: string): Promise<Booking> {
    const key = bookingKey(idOrReference);
    const entry = (await this.#engine.read(ownerPartition(owner), { keys: [key] })).entries.get(key);
    if (entry !== undefined) return bookingIn(entry).booking;
    const reference = idOrReference.trim().toUpperCase();
    const found = (await this.list(owner)).find((booking) => booking.reference === reference);
    if (found === undefined) throw new MaitredError("NOT_FOUND", NO_SUCH_BOOKING);
    return found;
  }

  async cancellationAsked(owner: Owner, id: string): Promise<TurnOfSession | null> {
    const entry = (await this.#engine.read(ownerPartition(owner), { keys: [bookingKey(id)] })).entries.get(bookingKey(id));
    if (entry === undefined) throw new MaitredError("NOT_FOUND", NO_SUCH_BOOKING);
    return bookingIn(entry).cancellationAsked ?? null;
  }

  /** Without effect on a booking that is no more the owner's. */
  async askCancellation(owner: Owner, id: string, { sessionId, turn }: TurnOfSession): Promise<void> {
    const partition = ownerPartition(owner);
    const key = bookingKey(id);
    await untilKept(async () => {
      const read = await this.#engine.read(partition, { keys: [key] });
      const entry = read.entries.get(key);
      if (entry === undefined) return true;
      const value = JSON.stringify({ ...bookingIn(entry), cancellationAsked: { sessionId, turn } } satisfies StoredBooking);
      return (await kept(this.#engine, partition, { epoch: read.epoch, checks: [asRead(read, key)], puts: [{ key, value }] })) || null;
    });
  }

  /** The owner's partition first, then the seats. */
  async cancel(owner: Owner, id: string, now: Date): Promise<Booking> {
    const partition = ownerPartition(owner);
    const { seats } = this.#parts;
    const key = bookingKey(id);
    const cancelled = await untilKept(async () => {
      const read = await this.#engine.read(partition, { keys: [key, STATE_KEY] });
      const entry = read.entries.get(key);
      if (entry === undefined) throw new MaitredError("NOT_FOUND", NO_SUCH_BOOKING);
      const was = bookingIn(entry);
      if (was.booking.status === "cancelled") return was.booking;
      await seats.unsettle(was.booking);
      const seq = lastHappening(read) + 1;
      const booking: Booking = { ...was.booking, status: "cancelled", cancelledAt: now.toISOString() };
      const stored = { ...was, booking, happenings: { ...was.happenings, cancelled: seq } };
      const puts = [{ key, value: JSON.stringify(stored) }, happeningPut(seq, stored, "cancelled"), statePut(seq)];
      const checks = [asRead(read, key), asRead(read, STATE_KEY)];
      return (await kept(this.#engine, partition, { epoch: read.epoch, checks, puts })) ? booking : null;
    });
    await told(seats.settle(cancelled, { status: "cancelled" }));
    return cancelled;
  }

  async happened(owner: Owner, after: number): Promise<readonly HappeningRow[]> {
    const range = { ...happeningsBehind(after), limit: HAPPENINGS_PAGE };
    const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: [range] });
    return (ranges[0] ?? []).map(happeningIn);
  }

  restore(owner: Owner, bookings: readonly Booking[]): Promise<number> {
    return restoreBookings(this.#parts, owner, bookings);
  }

  handOver(from: Owner, to: Owner, what: HandedOver): Promise<void> {
    return handOverBookings(this.#parts, from, to, what);
  }

  erase(owner: Owner): Promise<number> {
    return eraseBookings(this.#parts, owner);
  }

  async residue(owner: Owner): Promise<number> {
    const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: RECORDS });
    return ranges.reduce((sum, entries) => sum + entries.length, 0);
  }

  /** Without effect: the engine is the caller's. */
  async close(): Promise<void> {}
}

/** Those of one start in the order in which they were booked. */
function byStart(one: StoredBooking, other: StoredBooking): number {
  const [a, b] = [one.booking, other.booking];
  if (a.startsAt !== b.startsAt) return a.startsAt < b.startsAt ? -1 : 1;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return (one.happenings.booked ?? 0) - (other.happenings.booked ?? 0) || (a.id < b.id ? -1 : 1);
}

/** Run out, and not booked. */
function isOver({ expiresAt, bookingId }: Quote, now: Date): boolean {
  return bookingId === null && expiresAt < now.toISOString();
}
