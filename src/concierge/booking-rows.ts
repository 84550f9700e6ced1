import { z } from "zod";

/** The tables of bookings.db, and their rows as the code sees them. Money is in cents of a euro; times are ISO 8601 UTC. */

export const SCHEMA = `
CREATE TABLE IF NOT EXISTS quotes (
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, session_id TEXT NOT NULL, turn INTEGER NOT NULL,
  event_id TEXT NOT NULL, title TEXT NOT NULL, venue TEXT NOT NULL, city TEXT NOT NULL, starts_at TEXT NOT NULL,
  section TEXT NOT NULL, quantity INTEGER NOT NULL, total_cents INTEGER NOT NULL, companions TEXT NOT NULL,
  stop TEXT NOT NULL, waived TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL, booking_id TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS quotes_session ON quotes (owner, session_id, turn);
CREATE TABLE IF NOT EXISTS bookings (
  id TEXT PRIMARY KEY, reference TEXT UNIQUE, owner TEXT, session_id TEXT, turn INTEGER, call_id TEXT, quote_id TEXT UNIQUE,
  event_id TEXT NOT NULL, title TEXT NOT NULL, venue TEXT NOT NULL, city TEXT NOT NULL, starts_at TEXT NOT NULL,
  section TEXT NOT NULL, quantity INTEGER NOT NULL CHECK (quantity > 0), total_cents INTEGER NOT NULL, companions TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('confirmed', 'cancelled')), holds_seats INTEGER NOT NULL,
  created_at TEXT NOT NULL, cancelled_at TEXT, cancel_session TEXT, cancel_turn INTEGER,
  UNIQUE (owner, session_id, turn, call_id)
) STRICT;
CREATE INDEX IF NOT EXISTS bookings_seats ON bookings (event_id, section) WHERE status = 'confirmed';
`;

/** Brings a file of before to these columns. */
export const ADDED_COLUMNS: readonly (readonly [table: string, column: string, definition: string])[] = [
  ["quotes", "absent", "TEXT NOT NULL DEFAULT '[]'"],
  ["quotes", "mentioned", "TEXT NOT NULL DEFAULT '[]'"],
  ["bookings", "waived", "TEXT NOT NULL DEFAULT '[]'"],
];

/** Why a quote was stopped: what it would break, by memory id, or that it could not be read; and the token that stands for it. */
const stopSchema = z.object({ unchecked: z.boolean(), memoryIds: z.array(z.string()), token: z.string().default("") }).nullable();
type Stop = z.infer<typeof stopSchema>;

/** A memory that this booking passes over on the guest's word. `memory_id` is null where nothing could be read. */
export const waiverSchema = z.object({
  memory_id: z.string().max(64).nullable(),
  /** `override`: it would break it. `mentioned`: the catalogue can't answer it, and the guest was told. */
  how: z.enum(["override", "mentioned"]),
  at: z.iso.datetime({ offset: true }),
});
export type Waiver = z.infer<typeof waiverSchema>;
const waivers = z.array(waiverSchema);

export interface Quote {
  readonly id: string;
  readonly sessionId: string;
  /** In which it was shown last: only a later turn can confirm it. */
  readonly turn: number;
  readonly eventId: string;
  readonly title: string;
  readonly venue: string;
  readonly city: string;
  readonly startsAt: string;
  readonly section: string;
  readonly quantity: number;
  readonly totalCents: number;
  readonly companions: readonly string[];
  readonly stop: Stop;
  /** Those who the guest said don't come. */
  readonly absent: readonly string[];
  /** Memories that the guest was told of with it, and that stop nothing. */
  readonly mentioned: readonly string[];
  /** What the guest passed over when it was booked. */
  readonly waived: readonly Waiver[];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly bookingId: string | null;
}

const names = z.array(z.string());

export const bookingSchema = z.object({
  id: z.string().min(1).max(64),
  /** Null on sales that were made anonymous. */
  reference: z.string().max(32).nullable(),
  eventId: z.string().max(200),
  title: z.string().max(200),
  venue: z.string().max(200),
  city: z.string().max(100),
  startsAt: z.iso.datetime({ offset: true }),
  section: z.string().max(100),
  quantity: z.number().int().positive().max(1000),
  totalCents: z.number().int().nonnegative(),
  companions: names.readonly(),
  // Absent in bookings of before.
  waived: waivers.readonly().default([]),
  status: z.enum(["confirmed", "cancelled"]),
  createdAt: z.iso.datetime({ offset: true }),
  cancelledAt: z.iso.datetime({ offset: true }).nullable(),
});
export type Booking = Readonly<z.infer<typeof bookingSchema>>;

/** What is on offer, in a quote as in a booking. */
interface OfferRow {
  readonly id: string;
  readonly event_id: string;
  readonly title: string;
  readonly venue: string;
  readonly city: string;
  readonly starts_at: string;
  readonly section: string;
  readonly quantity: number;
  readonly total_cents: number;
  readonly companions: string;
  readonly waived: string;
  readonly created_at: string;
}

export interface QuoteRow extends OfferRow {
  readonly session_id: string;
  readonly turn: number;
  readonly stop: string;
  readonly absent: string;
  readonly mentioned: string;
  readonly expires_at: string;
  readonly booking_id: string | null;
}

export interface BookingRow extends OfferRow {
  readonly reference: string | null;
  readonly owner: string | null;
  readonly status: "confirmed" | "cancelled";
  readonly holds_seats: number;
  readonly cancelled_at: string | null;
}

function toOffer(row: OfferRow) {
  return {
    id: row.id,
    eventId: row.event_id,
    title: row.title,
    venue: row.venue,
    city: row.city,
    startsAt: row.starts_at,
    section: row.section,
    quantity: row.quantity,
    totalCents: row.total_cents,
    companions: names.parse(JSON.parse(row.companions)),
    // In quotes of before it held ids alone; they have expired.
    waived: waivers.catch([]).parse(JSON.parse(row.waived)),
    createdAt: row.created_at,
  };
}

export function toQuote(row: QuoteRow): Quote {
  return {
    ...toOffer(row),
    sessionId: row.session_id,
    turn: row.turn,
    stop: stopSchema.parse(JSON.parse(row.stop)),
    absent: names.parse(JSON.parse(row.absent)),
    mentioned: names.parse(JSON.parse(row.mentioned)),
    expiresAt: row.expires_at,
    bookingId: row.booking_id,
  };
}

export function toBooking(row: BookingRow): Booking {
  return {
    ...toOffer(row),
    reference: row.reference,
    status: row.status,
    cancelledAt: row.cancelled_at,
  };
}

/** Whether a booking of an export is this sale, which may have become anonymous since. */
export function isSameSale(
  row: Pick<BookingRow, "event_id" | "section" | "quantity" | "status">,
  { eventId, section, quantity, status }: Booking,
): boolean {
  return row.event_id === eventId && row.section === section && row.quantity === quantity && row.status === status;
}
