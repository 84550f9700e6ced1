import type { Happening } from "maitred";
import type { Booking } from "./booking-rows.js";
import { longDay } from "./local-time.js";
import { PROGRAMME } from "./programme.js";

/** What the bookings tell of a guest: a line for each booking and each cancellation, in the order in which they were made. */

/** Of one read. */
export const HAPPENINGS_PAGE = 100;

/** Numbered for each guest from 1: a cursor stays good when they are moved. */
export interface HappeningRow {
  readonly seq: number;
  readonly booking_id: string;
  readonly kind: "booked" | "cancelled";
  readonly at: string;
  readonly session_id: string | null;
}

/** A row as memories take it. */
export function happeningOf(row: HappeningRow, booking: Booking): Happening {
  const act = PROGRAMME.find(({ slug }) => booking.eventId.startsWith(`${slug}-`));
  const seats = `${booking.quantity} ${booking.quantity === 1 ? "seat" : "seats"} in ${booking.section} for ${booking.title}`;
  const day = longDay(booking.eventId.slice(-10));
  return {
    id: `${row.kind}:${booking.id}`,
    cursor: String(row.seq),
    at: row.at,
    text: `${row.kind === "booked" ? "Booked" : "Cancelled"} ${seats}, ${day}`,
    category: "other",
    entities: [booking.title, booking.venue, ...booking.companions],
    session_id: row.session_id,
    takes_back: row.kind === "cancelled" ? `booked:${booking.id}` : null,
    habits: row.kind === "cancelled" ? [] : habitsOf(booking, act?.genre),
  };
}

function habitsOf({ quantity, section }: Booking, genre: string | undefined): Happening["habits"] {
  const tickets = `Usually books ${quantity} ${quantity === 1 ? "ticket" : "tickets"}`;
  return [
    { key: `party size:${quantity}`, text: tickets, category: "party_size", aspect: "party size" },
    { key: `area:${section}`, text: `Usually sits in ${section}`, category: "seating", aspect: "area" },
    ...(genre === undefined ? [] : [{ key: `genre:${genre}`, text: `Often books ${genre}`, category: "genre", aspect: genre }]),
  ];
}
