import type { Owner } from "maitred";
import { committed, ownerPartition } from "maitred/domain";
import { bookingIn, quotesIn, restoreIn } from "./booking-entries.js";
import { BOOKINGS, QUOTES, RECORDS, RESTORES } from "./booking-keys.js";
import { type BookingParts, bookingIdOf } from "./booking-order.js";
import type { Booking } from "./booking-rows.js";

/** In one commit. */
const DELETES = 100;

/**
 * Sales are nobody's before anything of the owner goes, so that an erasure that was cut off finds them again. Returns how many quotes and
 * bookings there were.
 */
export async function eraseBookings(parts: BookingParts, owner: Owner): Promise<number> {
  const { engine, seats } = parts;
  const holder = ownerPartition(owner);
  let touched = 0;
  for (;;) {
    const { ranges } = await engine.read(holder, { ranges: [BOOKINGS, QUOTES, RESTORES, ...RECORDS] });
    const [bookings = [], quotes = [], restores = [], ...records] = ranges;
    const keys = records.flat().map(({ key }) => key);
    if (keys.length === 0) return touched;
    for (const { booking } of bookings.map(bookingIn)) await makeAnonymous(parts, booking, booking.status, holder);
    for (const { id, eventId, bookingId } of quotesIn(quotes))
      if (bookingId === null) await seats.resolve({ eventId, id: bookingIdOf(id) }, holder);
    for (const each of restores.flatMap((entry) => restoreIn(entry).bookings)) await makeAnonymous(parts, each, "confirmed", holder);
    for (let at = 0; at < keys.length; at += DELETES) await committed(engine, holder, { deletes: keys.slice(at, at + DELETES) });
    touched += bookings.length + quotes.length;
  }
}

/** Where the sale is the holder's. */
export async function makeAnonymous(
  { seats, references }: BookingParts,
  booking: Pick<Booking, "id" | "eventId" | "reference">,
  status: Booking["status"],
  holder: string,
): Promise<void> {
  if (await seats.settle(booking, { status, holder: null }, holder)) await references.release(booking.reference, booking);
}
