import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import { assertSound, openSqlite, type Sqlite, scrub } from "../platform/sqlite.js";
import type { HandedOver } from "../ports/agent.js";
import {
  ADDED_COLUMNS,
  type Booking,
  type BookingRow,
  isSameSale,
  type Quote,
  type QuoteRow,
  SCHEMA,
  toBooking,
  toQuote,
} from "./booking-rows.js";
import {
  type BookingStore,
  bookingOfQuote,
  type CallKey,
  NO_SUCH_BOOKING,
  type QuoteDraft,
  quoteOfDraft,
  seatsKey,
  seatsMissing,
} from "./booking-store.js";
import { type BookingOrigin, bookingWrite, type Dialect, quoteWrite, type Write } from "./booking-writes.js";
import { type HappeningRow, happeningsAfter, noteHappening, prepareHappenings } from "./happenings.js";

const DIALECT: Dialect = { table: (name) => name, parameter: () => "?" };

/**
 * Quotes and bookings in SQLite: the truth of what was sold. Commits are durable (WAL, synchronous FULL).
 * Seats can't be oversold: count and insert are one immediate transaction, also between processes.
 */
export class Bookings implements BookingStore {
  /** Null where the file is damaged. */
  readonly #file: Sqlite | null;

  private constructor(db: Sqlite | null) {
    this.#file = db;
  }

  /** `path` may be `:memory:`. @throws what isDamage tells, if only one page is damaged: it may hold what is sold */
  static open(path: string): Bookings {
    const db = openSqlite(path, { durability: "full" });
    try {
      db.transaction(() => {
        db.exec(SCHEMA);
        for (const [table, column, definition] of ADDED_COLUMNS) addColumn(db, table, column, definition);
        prepareHappenings(db);
      }).immediate();
      assertSound(db);
      return new Bookings(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Stands for a damaged file: every call but `close` fails, so that nobody takes "can't be read" for "nothing is booked". */
  static unreadable(): Bookings {
    return new Bookings(null);
  }

  get #db(): Sqlite {
    if (this.#file !== null) return this.#file;
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: "The bookings can't be read: their file is damaged.",
      hint: "Restore bookings.db from a backup. Until then seats can be neither seen nor sold.",
    });
  }

  sold(eventIds: readonly string[]): ReadonlyMap<string, number> {
    const rows = this.#db
      .prepare<[string], { event_id: string; section: string; sold: number }>(
        `SELECT event_id, section, sum(quantity) AS sold FROM bookings
         WHERE event_id IN (SELECT value FROM json_each(?)) AND status = 'confirmed' AND holds_seats = 1 GROUP BY event_id, section`,
      )
      .all(JSON.stringify(eventIds));
    return new Map(rows.map((row) => [seatsKey(row.event_id, row.section), row.sold]));
  }

  addQuote(owner: Owner, draft: QuoteDraft, now: Date): Quote {
    const quote = quoteOfDraft(newId(), draft, now);
    this.#db.prepare("DELETE FROM quotes WHERE owner = ? AND expires_at < ? AND booking_id IS NULL").run(owner, now.toISOString());
    putQuote(this.#db, owner, quote);
    return quote;
  }

  updateQuote(owner: Owner, quote: Quote): void {
    putQuote(this.#db, owner, quote);
  }

  quote(owner: Owner, sessionId: string, id: string): Quote | null {
    const row = this.#db
      .prepare<[string, string, string], QuoteRow>("SELECT * FROM quotes WHERE owner = ? AND session_id = ? AND id = ?")
      .get(owner, sessionId, id);
    return row === undefined ? null : toQuote(row);
  }

  quotesSince(owner: Owner, sessionId: string, fromTurn: number): readonly Quote[] {
    return this.#db
      .prepare<[string, string, number], QuoteRow>(
        "SELECT * FROM quotes WHERE owner = ? AND session_id = ? AND turn >= ? ORDER BY turn DESC, id DESC",
      )
      .all(owner, sessionId, fromTurn)
      .map(toQuote);
  }

  book(owner: Owner, quote: Quote, key: CallKey, seats: { readonly capacity: number; readonly taken: number }, now: Date): Booking {
    const work = this.#db.transaction((): Booking => {
      const known = this.#db
        .prepare<[string, string, string, number, string], BookingRow>(
          "SELECT * FROM bookings WHERE owner = ? AND (quote_id = ? OR (session_id = ? AND turn = ? AND call_id = ?))",
        )
        .get(owner, quote.id, key.sessionId, key.turn, key.callId);
      if (known !== undefined) return toBooking(known);
      const sold = this.sold([quote.eventId]).get(seatsKey(quote.eventId, quote.section)) ?? 0;
      const left = seats.capacity - seats.taken - sold;
      if (left < quote.quantity) throw new AppError("NOT_FOUND", seatsMissing(left));
      const booking = bookingOfQuote(newId(), quote, now);
      putBooking(this.#db, owner, booking, { ...key, quoteId: quote.id, holdsSeats: true });
      noteHappening(this.#db, owner, booking.id, "booked", booking.createdAt);
      putQuote(this.#db, owner, { ...quote, bookingId: booking.id });
      return booking;
    });
    return work.immediate();
  }

  list(owner: Owner): readonly Booking[] {
    return this.#db
      .prepare<[string], BookingRow>("SELECT * FROM bookings WHERE owner = ? ORDER BY starts_at, id")
      .all(owner)
      .map(toBooking);
  }

  get(owner: Owner, idOrReference: string): Booking {
    const row = this.#db
      .prepare<[string, string, string], BookingRow>("SELECT * FROM bookings WHERE owner = ? AND (id = ? OR reference = ?)")
      .get(owner, idOrReference, idOrReference.trim().toUpperCase());
    if (row === undefined) throw new AppError("NOT_FOUND", NO_SUCH_BOOKING);
    return toBooking(row);
  }

  cancel(owner: Owner, id: string, now: Date): Booking {
    const work = this.#db.transaction((): Booking => {
      const { changes } = this.#db
        .prepare(
          `UPDATE bookings SET status = 'cancelled', cancelled_at = ?, cancel_session = NULL, cancel_turn = NULL
           WHERE owner = ? AND id = ? AND status = 'confirmed'`,
        )
        .run(now.toISOString(), owner, id);
      if (changes > 0) noteHappening(this.#db, owner, id, "cancelled", now.toISOString());
      return this.get(owner, id);
    });
    return work.immediate();
  }

  happened(owner: Owner, after: number): readonly HappeningRow[] {
    return happeningsAfter(this.#db, owner, after);
  }

  restore(owner: Owner, bookings: readonly Booking[]): number {
    const work = this.#db.transaction(() => {
      let restored = 0;
      for (const booking of bookings) {
        const row = this.#db.prepare<[string], BookingRow>("SELECT * FROM bookings WHERE id = ?").get(booking.id);
        if (row !== undefined && (row.owner !== null || !isSameSale(row, booking))) continue;
        // A reference is one guest's alone: a file can't take somebody else's.
        if (this.#db.prepare("SELECT 1 FROM bookings WHERE reference = ? AND id <> ?").get(booking.reference, booking.id) !== undefined)
          continue;
        const key = { sessionId: null, turn: null, callId: null, quoteId: null, holdsSeats: row !== undefined && row.holds_seats === 1 };
        putBooking(this.#db, owner, booking, key);
        restored += 1;
      }
      return restored;
    });
    return work.immediate();
  }

  handOver(from: Owner, to: Owner, { ids, sessions }: HandedOver): void {
    const db = this.#db;
    const work = db.transaction(() => {
      const moved = JSON.stringify(ids);
      const told = db
        .prepare<[string, string], HappeningRow>(
          "SELECT * FROM happenings WHERE owner = ? AND booking_id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        )
        .all(from, moved);
      db.prepare("DELETE FROM happenings WHERE owner = ? AND booking_id IN (SELECT value FROM json_each(?))").run(from, moved);
      for (const { booking_id, kind, at } of told) noteHappening(db, to, booking_id, kind, at);
      for (const [before, after] of sessions) {
        db.prepare("UPDATE bookings SET session_id = ? WHERE owner = ? AND session_id = ?").run(after, from, before);
        db.prepare("UPDATE quotes SET session_id = ?, owner = ? WHERE owner = ? AND session_id = ?").run(after, to, from, before);
      }
      db.prepare("UPDATE bookings SET owner = ? WHERE owner = ? AND id IN (SELECT value FROM json_each(?))").run(to, from, moved);
    });
    work.immediate();
  }

  /** Makes sales anonymous and deletes everything else; no byte of the owner stays in the file. Returns how many rows it touched. */
  erase(owner: Owner): number {
    const work = this.#db.transaction(() => {
      const quotes = this.#db.prepare("DELETE FROM quotes WHERE owner = ?").run(owner).changes;
      const bookings = this.#db
        .prepare(
          `UPDATE bookings SET owner = NULL, session_id = NULL, turn = NULL, call_id = NULL, quote_id = NULL, reference = NULL,
             companions = '[]', waived = '[]', cancel_session = NULL, cancel_turn = NULL WHERE owner = ?`,
        )
        .run(owner).changes;
      this.#db.prepare("DELETE FROM happenings WHERE owner = ?").run(owner);
      return quotes + bookings;
    });
    const touched = work.immediate();
    scrub(this.#db);
    return touched;
  }

  residue(owner: Owner): number {
    const row = this.#db
      .prepare<[string, string, string], { rows: number }>(
        `SELECT (SELECT count(*) FROM quotes WHERE owner = ?) + (SELECT count(*) FROM bookings WHERE owner = ?)
           + (SELECT count(*) FROM happenings WHERE owner = ?) AS rows`,
      )
      .get(owner, owner, owner);
    return row?.rows ?? 0;
  }

  close(): void {
    this.#file?.close();
  }
}

function putQuote(db: Sqlite, owner: Owner, quote: Quote): void {
  write(db, quoteWrite(DIALECT, owner, quote));
}

function putBooking(db: Sqlite, owner: Owner, booking: Booking, origin: BookingOrigin): void {
  write(db, bookingWrite(DIALECT, owner, booking, origin));
}

function write(db: Sqlite, { sql, values }: Write): void {
  db.prepare(sql).run(...values);
}

function addColumn(db: Sqlite, table: string, column: string, definition: string): void {
  const known = db.prepare<[string], { name: string }>("SELECT name FROM pragma_table_info(?)").all(table);
  if (!known.some(({ name }) => name === column)) db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
}
