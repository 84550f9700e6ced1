import type { Owner } from "../domain/owner.js";
import type { Booking, Quote } from "./booking-rows.js";
import type { CallKey } from "./booking-store.js";

/** Quotes and bookings as rows, by column, and the statement that puts a row: SQLite and PostgreSQL read the same one. */

type Columns = Readonly<Record<string, string | number | null>>;

/** A call that came from nowhere: a booking that was taken back from an export. */
export type BookingOrigin = { readonly [K in keyof CallKey]: CallKey[K] | null } & {
  readonly quoteId: string | null;
  readonly holdsSeats: boolean;
};

export function quoteColumns(owner: Owner, quote: Quote) {
  return {
    id: quote.id,
    owner,
    session_id: quote.sessionId,
    turn: quote.turn,
    ...offerColumns(quote),
    stop: JSON.stringify(quote.stop),
    absent: JSON.stringify(quote.absent),
    mentioned: JSON.stringify(quote.mentioned),
    expires_at: quote.expiresAt,
    booking_id: quote.bookingId,
  } satisfies Columns;
}

export function bookingColumns(owner: Owner, booking: Booking, origin: BookingOrigin) {
  return {
    id: booking.id,
    reference: booking.reference,
    owner,
    session_id: origin.sessionId,
    turn: origin.turn,
    call_id: origin.callId,
    quote_id: origin.quoteId,
    ...offerColumns(booking),
    status: booking.status,
    holds_seats: origin.holdsSeats ? 1 : 0,
    cancelled_at: booking.cancelledAt,
  } satisfies Columns;
}

function offerColumns(offer: Quote | Booking) {
  return {
    event_id: offer.eventId,
    title: offer.title,
    venue: offer.venue,
    city: offer.city,
    starts_at: offer.startsAt,
    section: offer.section,
    quantity: offer.quantity,
    total_cents: offer.totalCents,
    companions: JSON.stringify(offer.companions),
    waived: JSON.stringify(offer.waived),
    created_at: offer.createdAt,
  } satisfies Columns;
}

export interface Write {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** How a database names its tables, and the parameters of a statement, counted from 1. */
export interface Dialect {
  readonly table: (name: "quotes" | "bookings") => string;
  readonly parameter: (number: number) => string;
}

/** A quote, new or as it has become. */
export function quoteWrite(dialect: Dialect, owner: Owner, quote: Quote): Write {
  const changing = ["turn", "companions", "stop", "absent", "mentioned", "waived", "booking_id"];
  return put(dialect, "quotes", quoteColumns(owner, quote), changing, "was.owner = excluded.owner");
}

/** A booking that is new, or that was anonymous and is the owner's again. */
export function bookingWrite(dialect: Dialect, owner: Owner, booking: Booking, origin: BookingOrigin): Write {
  const changing = ["owner", "reference", "companions", "waived"];
  return put(dialect, "bookings", bookingColumns(owner, booking, origin), changing, "was.owner IS NULL");
}

/** A row that is new, or of one that is there the columns that change, where `may` holds. */
function put({ table, parameter }: Dialect, name: "quotes" | "bookings", row: Columns, changing: readonly string[], may: string): Write {
  const columns = Object.keys(row);
  const sql = `INSERT INTO ${table(name)} AS was (${columns.join(", ")})
    VALUES (${columns.map((_, index) => parameter(index + 1)).join(", ")})
    ON CONFLICT (id) DO UPDATE SET ${changing.map((column) => `${column} = excluded.${column}`).join(", ")} WHERE ${may}`;
  return { sql, values: Object.values(row) };
}
