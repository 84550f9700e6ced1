import type { Owner } from "maitred";
import { isMaitredError, named, ownerPartition } from "maitred/domain";
import { kept, untilKept } from "./booking-commits.js";
import { asRead, type StoredBooking, type StoredRestore } from "./booking-entries.js";
import { makeAnonymous } from "./booking-erasure.js";
import { bookingKey, restoreKey } from "./booking-keys.js";
import type { BookingParts } from "./booking-order.js";
import type { Booking } from "./booking-rows.js";

/** Bookings of one restore's record. */
const AT_ONCE = 200;

/** Takes bookings of an export back; those that are somebody's are passed over. Returns how many are new to the owner. */
export async function restoreBookings(parts: BookingParts, owner: Owner, bookings: readonly Booking[]): Promise<number> {
  const { engine } = parts;
  const holder = ownerPartition(owner);
  const { epoch } = await engine.read(holder, {});
  let restored = 0;
  for (let from = 0; from < bookings.length; from += AT_ONCE) {
    const some = bookings.slice(from, from + AT_ONCE);
    const claims: StoredRestore = { v: 1, bookings: some.map(({ id, eventId, reference }) => ({ id, eventId, reference })) };
    const value = JSON.stringify(claims);
    const key = restoreKey(value);
    await kept(engine, holder, { epoch, puts: [named(owner), { key, value }] });
    for (const booking of some) if (await restoreOne(parts, owner, epoch, booking)) restored += 1;
    await kept(engine, holder, { epoch, deletes: [key] });
  }
  return restored;
}

async function restoreOne(parts: BookingParts, owner: Owner, epoch: number, booking: Booking): Promise<boolean> {
  const { engine, seats, references } = parts;
  const holder = ownerPartition(owner);
  const key = bookingKey(booking.id);
  return untilKept(async () => {
    const read = await engine.read(holder, { keys: [key] });
    if (read.entries.has(key)) return { isNew: false };
    // A reference is one guest's alone: a file can't take somebody else's.
    const claim = booking.reference === null ? "own" : await references.claim(booking.reference, booking);
    if (claim === "taken") return { isNew: false };
    if (!(await seats.claim(booking, holder))) {
      if (claim === "new") await references.release(booking.reference, booking);
      return { isNew: false };
    }
    const value: StoredBooking = { v: 1, booking, call: null, happenings: {} };
    const put = { epoch, checks: [asRead(read, key)], puts: [named(owner), { key, value: JSON.stringify(value) }] };
    return (await kept(engine, holder, put)) ? { isNew: true } : null;
  }).then(
    ({ isNew }) => isNew,
    async (error: unknown) => {
      if (isMaitredError(error, "OWNER_ERASED")) await makeAnonymous(parts, booking, "confirmed", holder);
      throw error;
    },
  );
}
