import type { JsonObject } from "maitred";
import { MaitredError } from "maitred/domain";
import { z } from "zod";
import { type Booking, bookingSchema } from "./booking-rows.js";
import { localStart } from "./presentation.js";

/** Bookings as an export, and what the API lists, have them: named as all else there is. */

/** With the start as the clocks there show it. */
export function recordOf(booking: Booking): JsonObject {
  const plain = { ...booking, companions: [...booking.companions], waived: booking.waived.map((each) => ({ ...each })) };
  return { ...renamed(plain, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)), ...localStart(booking) };
}

/** Also those of exports whose fields were named otherwise (`startsAt`). @throws INVALID_IMPORT */
export function bookingsOf(records: readonly unknown[]): readonly Booking[] {
  const named = z.array(z.record(z.string(), z.unknown())).safeParse(records);
  const inCode = named.data?.map((record) => renamed(record, (name) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase())));
  const parsed = z.array(bookingSchema).safeParse(inCode);
  if (!parsed.success) throw new MaitredError("INVALID_IMPORT", { detail: "The bookings of this export can't be read." });
  return parsed.data;
}

function renamed<Value>(record: Readonly<Record<string, Value>>, name: (field: string) => string): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([field, value]) => [name(field), value]));
}
