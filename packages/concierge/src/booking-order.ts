import type { Owner, PartitionRead, StateEngine } from "maitred";
import { derivedId, isMaitredError, MaitredError, ownerPartition } from "maitred/domain";
import { kept, untilKept } from "./booking-commits.js";
import { asRead, bookingIn, happeningPut, lastHappening, type StoredBooking, type StoredQuote, statePut } from "./booking-entries.js";
import { bookingKey, callKey, quoteKey, STATE_KEY } from "./booking-keys.js";
import type { BookingReferences } from "./booking-references.js";
import type { Booking, Quote } from "./booking-rows.js";
import type { BookingSeats } from "./booking-seats.js";
import { bookingOfQuote, type CallKey } from "./booking-store.js";

export interface BookingParts {
  readonly engine: StateEngine;
  readonly seats: BookingSeats;
  readonly references: BookingReferences;
}

interface Order {
  readonly owner: Owner;
  readonly quote: Quote;
  readonly call: CallKey;
  /** Seats of the section that can be sold here at all. */
  readonly places: number;
  readonly now: Date;
}

/** The same for whoever books the quote: whatever was lost on the way, it is found again. */
export function bookingIdOf(quoteId: string): string {
  return derivedId("booking", quoteId);
}

/**
 * Seats first, then the booking in the owner's partition, then the seats hear of it. @throws NOT_FOUND when fewer are left, or the quote is
 * no more the owner's; OWNER_ERASED
 */
export async function bookQuote(parts: BookingParts, order: Order): Promise<Booking> {
  const { engine, seats } = parts;
  const { quote } = order;
  const holder = ownerPartition(order.owner);
  const place = { eventId: quote.eventId, id: bookingIdOf(quote.id) };
  let sold = false;
  try {
    const booking = await untilKept(async () => {
      const read = await lookUp(engine, holder, order, place.id);
      const known = await bookedBefore(engine, holder, read, order, place.id);
      if (known !== null) {
        if (sold && known.id !== place.id) await seats.resolve(place, holder);
        return known;
      }
      if (!read.entries.has(quoteKey(quote.id))) {
        if (sold) await seats.resolve(place, holder);
        throw new MaitredError("NOT_FOUND", { detail: "The quote has run out.", hint: "Make a new one with book_tickets." });
      }
      const { section, quantity } = quote;
      await seats.sell(place, { section, quantity, holder, quoteId: quote.id }, order.places);
      sold = true;
      const booking = await referenced(parts.references, bookingOfQuote(place.id, quote, order.now));
      return (await write(engine, holder, read, order, booking)) ? booking : null;
    });
    await told(seats.settle(booking, { status: booking.status }));
    return booking;
  } catch (error) {
    if (sold && isMaitredError(error, "OWNER_ERASED")) await seats.resolve(place, holder);
    throw error;
  }
}

/** What the owner's partition holds already is settled sooner or later: where that fails now, by who is short of seats. */
export async function told(settling: Promise<unknown>): Promise<void> {
  try {
    await settling;
  } catch (error) {
    if (!isMaitredError(error, "STORAGE_UNAVAILABLE")) throw error;
  }
}

function lookUp(engine: StateEngine, holder: string, { quote, call }: Order, id: string): Promise<PartitionRead> {
  return engine.read(holder, { keys: [quoteKey(quote.id), bookingKey(id), callKey(call), STATE_KEY] });
}

async function bookedBefore(
  engine: StateEngine,
  holder: string,
  { entries }: PartitionRead,
  { call }: Order,
  id: string,
): Promise<Booking | null> {
  const found = entries.get(bookingKey(id));
  if (found !== undefined) return bookingIn(found).booking;
  const other = entries.get(callKey(call));
  if (other === undefined) return null;
  const booked = bookingKey((JSON.parse(other.value) as { readonly booking_id: string }).booking_id);
  const entry = (await engine.read(holder, { keys: [booked] })).entries.get(booked);
  return entry === undefined ? null : bookingIn(entry).booking;
}

/** Under a reference that is nobody else's, the same each time. */
async function referenced(references: BookingReferences, booking: Booking): Promise<Booking> {
  for (let attempt = 0; ; attempt++) {
    const { reference } = attempt === 0 ? booking : { reference: referenceOf(derivedId("booking", booking.id, attempt)) };
    if (reference === null || (await references.claim(reference, booking)) !== "taken") return { ...booking, reference };
  }
}

function referenceOf(id: string): string {
  return `MD-${id.slice(-8).toUpperCase()}`;
}

function write(engine: StateEngine, holder: string, read: PartitionRead, { quote, call }: Order, booking: Booking): Promise<boolean> {
  const seq = lastHappening(read) + 1;
  const stored: StoredBooking = { v: 1, booking, call, happenings: { booked: seq } };
  const keys = [quoteKey(quote.id), bookingKey(booking.id), callKey(call), STATE_KEY];
  return kept(engine, holder, {
    epoch: read.epoch,
    checks: keys.map((key) => asRead(read, key)),
    puts: [
      { key: bookingKey(booking.id), value: JSON.stringify(stored) },
      { key: quoteKey(quote.id), value: JSON.stringify({ v: 1, quote: { ...quote, bookingId: booking.id } } satisfies StoredQuote) },
      { key: callKey(call), value: JSON.stringify({ v: 1, booking_id: booking.id }) },
      happeningPut(seq, stored, "booked"),
      statePut(seq),
    ],
  });
}
