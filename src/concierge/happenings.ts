import type { Owner } from "../domain/owner.js";
import type { Sqlite } from "../platform/sqlite.js";
import type { Happening } from "../ports/agent.js";
import type { Booking } from "./booking-rows.js";
import { longDay } from "./local-time.js";
import { PROGRAMME } from "./programme.js";

/** What the bookings tell of a guest: a line for each booking and each cancellation, in the order in which they were made. */

/** Numbered for each guest from 1, as everywhere that bookings are kept: a cursor stays good when they are moved. */
const TABLE = `
CREATE TABLE IF NOT EXISTS happenings (
  owner TEXT NOT NULL, seq INTEGER NOT NULL, booking_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('booked', 'cancelled')), at TEXT NOT NULL, PRIMARY KEY (owner, seq), UNIQUE (booking_id, kind)
) STRICT`;

/** Makes the table, brings one of before to this form, and notes what was booked before there was one. */
export function prepareHappenings(db: Sqlite): void {
  const columns = db.prepare<[], { name: string; pk: number }>("SELECT name, pk FROM pragma_table_info('happenings')").all();
  // Those of before were numbered for all guests together.
  const isOld = columns.some(({ name, pk }) => name === "owner" && pk === 0);
  if (isOld) db.exec("ALTER TABLE happenings RENAME TO happenings_of_before");
  db.exec(TABLE);
  if (isOld)
    db.exec(`INSERT INTO happenings (owner, seq, booking_id, kind, at) SELECT owner, seq, booking_id, kind, at FROM happenings_of_before;
      DROP TABLE happenings_of_before`);
  for (const [kind, at] of [
    ["booked", "created_at"],
    ["cancelled", "cancelled_at"],
  ])
    db.exec(`INSERT INTO happenings (owner, seq, booking_id, kind, at)
      SELECT b.owner, COALESCE((SELECT max(h.seq) FROM happenings h WHERE h.owner = b.owner), 0)
          + row_number() OVER (PARTITION BY b.owner ORDER BY b.${at}, b.id), b.id, '${kind}', b.${at}
        FROM bookings b WHERE b.owner IS NOT NULL AND b.session_id IS NOT NULL AND b.${at} IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM happenings h WHERE h.booking_id = b.id AND h.kind = '${kind}')`);
}

/** Of one read. */
export const HAPPENINGS_PAGE = 100;

export interface HappeningRow {
  readonly seq: number;
  readonly booking_id: string;
  readonly kind: "booked" | "cancelled";
  readonly at: string;
  readonly session_id: string | null;
}

/** Within the transaction that makes the booking or cancels it. Again: without effect. */
export function noteHappening(db: Sqlite, owner: Owner, bookingId: string, kind: HappeningRow["kind"], at: string): void {
  db.prepare(
    `INSERT OR IGNORE INTO happenings (owner, seq, booking_id, kind, at)
     SELECT ?, COALESCE(max(seq), 0) + 1, ?, ?, ? FROM happenings WHERE owner = ?`,
  ).run(owner, bookingId, kind, at, owner);
}

/** Oldest first, at most 100 behind the cursor. */
export function happeningsAfter(db: Sqlite, owner: Owner, after: number): readonly HappeningRow[] {
  return db
    .prepare<[string, number, number], HappeningRow>(
      `SELECT h.seq, h.booking_id, h.kind, h.at, b.session_id FROM happenings h JOIN bookings b ON b.id = h.booking_id AND b.owner = h.owner
       WHERE h.owner = ? AND h.seq > ? ORDER BY h.seq LIMIT ?`,
    )
    .all(owner, after, HAPPENINGS_PAGE);
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
