import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import { newId } from "../platform/ids.js";
import { assertSound, openSqlite, type Sqlite, scrub } from "../platform/sqlite.js";
import { type Booking, type BookingRow, type Quote, type QuoteRow, SCHEMA, toBooking, toQuote } from "./booking-rows.js";

/** How long a quote can be confirmed. Seats are not held for it. */
export const QUOTE_MINUTES = 30;

export type QuoteDraft = Omit<Quote, "id" | "createdAt" | "expiresAt" | "bookingId">;

/** Where a write comes from: the same place writes once. */
export interface CallKey {
  readonly sessionId: string;
  readonly turn: number;
  readonly callId: string;
}

/**
 * Quotes and bookings in SQLite: the truth of what was sold. Commits are durable (WAL, synchronous FULL).
 * Seats can't be oversold: count and insert are one immediate transaction, also between processes.
 */
export class Bookings {
  /** Null where the file is damaged. */
  readonly #file: Sqlite | null;

  private constructor(db: Sqlite | null) {
    this.#file = db;
  }

  /** `path` may be `:memory:`. @throws what isDamage (platform/sqlite.ts) tells, if only one page is damaged: it may hold what is sold */
  static open(path: string): Bookings {
    const db = openSqlite(path, { durability: "full" });
    try {
      db.exec(SCHEMA);
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

  /** Seats of a section that are sold here. */
  sold(eventId: string, section: string): number {
    const row = this.#db
      .prepare<[string, string], { sold: number }>(
        "SELECT coalesce(sum(quantity), 0) AS sold FROM bookings WHERE event_id = ? AND section = ? AND status = 'confirmed' AND holds_seats = 1",
      )
      .get(eventId, section);
    return row?.sold ?? 0;
  }

  /** Stores a quote; it expires after {@link QUOTE_MINUTES}. Old ones of the owner go. */
  addQuote(owner: Owner, draft: QuoteDraft, now: Date): Quote {
    const quote: Quote = {
      ...draft,
      id: newId(),
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + QUOTE_MINUTES * 60_000).toISOString(),
      bookingId: null,
    };
    this.#db.prepare("DELETE FROM quotes WHERE owner = ? AND expires_at < ? AND booking_id IS NULL").run(owner, now.toISOString());
    this.#putQuote(owner, quote);
    return quote;
  }

  updateQuote(owner: Owner, quote: Quote): void {
    this.#putQuote(owner, quote);
  }

  quote(owner: Owner, sessionId: string, id: string): Quote | null {
    const row = this.#db
      .prepare<[string, string, string], QuoteRow>("SELECT * FROM quotes WHERE owner = ? AND session_id = ? AND id = ?")
      .get(owner, sessionId, id);
    return row === undefined ? null : toQuote(row);
  }

  /** Quotes of a session made in a turn from `fromTurn` on, newest first. */
  quotesSince(owner: Owner, sessionId: string, fromTurn: number): readonly Quote[] {
    return this.#db
      .prepare<[string, string, number], QuoteRow>(
        "SELECT * FROM quotes WHERE owner = ? AND session_id = ? AND turn >= ? ORDER BY turn DESC, id DESC",
      )
      .all(owner, sessionId, fromTurn)
      .map(toQuote);
  }

  /**
   * Turns a quote into a booking. Again, for the same quote or the same call: the booking that is there.
   * @throws NOT_FOUND when fewer seats are left; nothing is booked then
   */
  book(owner: Owner, quote: Quote, key: CallKey, seats: { readonly capacity: number; readonly taken: number }, now: Date): Booking {
    const work = this.#db.transaction((): Booking => {
      const known = this.#db
        .prepare<[string, string, string, number, string], BookingRow>(
          "SELECT * FROM bookings WHERE owner = ? AND (quote_id = ? OR (session_id = ? AND turn = ? AND call_id = ?))",
        )
        .get(owner, quote.id, key.sessionId, key.turn, key.callId);
      if (known !== undefined) return toBooking(known);
      const left = seats.capacity - seats.taken - this.sold(quote.eventId, quote.section);
      if (left < quote.quantity)
        throw new AppError("NOT_FOUND", {
          detail: left <= 0 ? "There are no seats left in this section." : `Only ${left} seats are left in this section.`,
          hint: "Look at the other sections with check_availability, or search for another event.",
        });
      const id = newId();
      const booking: Booking = {
        id,
        reference: `MD-${id.replaceAll("-", "").slice(-8).toUpperCase()}`,
        eventId: quote.eventId,
        title: quote.title,
        venue: quote.venue,
        city: quote.city,
        startsAt: quote.startsAt,
        section: quote.section,
        quantity: quote.quantity,
        totalCents: quote.totalCents,
        companions: quote.companions,
        status: "confirmed",
        createdAt: now.toISOString(),
        cancelledAt: null,
      };
      this.#putBooking(owner, booking, { ...key, quoteId: quote.id, holdsSeats: true });
      this.#putQuote(owner, { ...quote, bookingId: id });
      return booking;
    });
    return work.immediate();
  }

  /** By start, cancelled ones included. */
  list(owner: Owner): readonly Booking[] {
    return this.#db
      .prepare<[string], BookingRow>("SELECT * FROM bookings WHERE owner = ? ORDER BY starts_at, id")
      .all(owner)
      .map(toBooking);
  }

  /** By id or reference. @throws NOT_FOUND, also for a booking of somebody else */
  get(owner: Owner, idOrReference: string): Booking {
    const row = this.#db
      .prepare<[string, string, string], BookingRow>("SELECT * FROM bookings WHERE owner = ? AND (id = ? OR reference = ?)")
      .get(owner, idOrReference, idOrReference.trim().toUpperCase());
    if (row === undefined)
      throw new AppError("NOT_FOUND", { detail: "There is no such booking.", hint: "See list_bookings for the guest's bookings." });
    return toBooking(row);
  }

  /** The turn in which a cancellation was offered and not yet agreed to, or null. */
  cancellationOffered(owner: Owner, id: string, sessionId: string): number | null {
    const row = this.#db
      .prepare<[string, string, string], { turn: number }>(
        "SELECT cancel_turn AS turn FROM bookings WHERE owner = ? AND id = ? AND cancel_session = ? AND cancel_turn IS NOT NULL",
      )
      .get(owner, id, sessionId);
    return row?.turn ?? null;
  }

  offerCancellation(owner: Owner, id: string, sessionId: string, turn: number): void {
    this.#db.prepare("UPDATE bookings SET cancel_session = ?, cancel_turn = ? WHERE owner = ? AND id = ?").run(sessionId, turn, owner, id);
  }

  /** Gives the seats back. Again: without effect. @throws NOT_FOUND */
  cancel(owner: Owner, id: string, now: Date): Booking {
    this.#db
      .prepare(
        "UPDATE bookings SET status = 'cancelled', cancelled_at = ?, cancel_session = NULL, cancel_turn = NULL WHERE owner = ? AND id = ? AND status = 'confirmed'",
      )
      .run(now.toISOString(), owner, id);
    return this.get(owner, id);
  }

  /**
   * Takes bookings of an export back. Where the sale itself is still there, made anonymous, it is the owner's again; else the
   * booking is listed but holds no seats: a file can't sell any. Returns how many are new to the owner.
   */
  restore(owner: Owner, bookings: readonly Booking[]): number {
    const work = this.#db.transaction(() => {
      let restored = 0;
      for (const booking of bookings) {
        const row = this.#db.prepare<[string], BookingRow>("SELECT * FROM bookings WHERE id = ?").get(booking.id);
        if (row !== undefined && row.owner !== null) continue;
        const same =
          row !== undefined &&
          row.event_id === booking.eventId &&
          row.section === booking.section &&
          row.quantity === booking.quantity &&
          row.status === booking.status;
        if (row !== undefined && !same) continue;
        // A reference is one guest's alone: a file can't take somebody else's.
        if (this.#db.prepare("SELECT 1 FROM bookings WHERE reference = ? AND id <> ?").get(booking.reference, booking.id) !== undefined)
          continue;
        const key = { sessionId: null, turn: null, callId: null, quoteId: null, holdsSeats: row !== undefined && row.holds_seats === 1 };
        this.#putBooking(owner, booking, key);
        restored += 1;
      }
      return restored;
    });
    return work.immediate();
  }

  /** Makes sales anonymous and deletes everything else; no byte of the owner stays in the file. Returns how many rows it touched. */
  erase(owner: Owner): number {
    const work = this.#db.transaction(() => {
      const quotes = this.#db.prepare("DELETE FROM quotes WHERE owner = ?").run(owner).changes;
      const bookings = this.#db
        .prepare(
          `UPDATE bookings SET owner = NULL, session_id = NULL, turn = NULL, call_id = NULL, quote_id = NULL, reference = NULL,
             companions = '[]', cancel_session = NULL, cancel_turn = NULL WHERE owner = ?`,
        )
        .run(owner).changes;
      return quotes + bookings;
    });
    const touched = work.immediate();
    scrub(this.#db);
    return touched;
  }

  residue(owner: Owner): number {
    const row = this.#db
      .prepare<[string, string], { rows: number }>(
        "SELECT (SELECT count(*) FROM quotes WHERE owner = ?) + (SELECT count(*) FROM bookings WHERE owner = ?) AS rows",
      )
      .get(owner, owner);
    return row?.rows ?? 0;
  }

  close(): void {
    this.#file?.close();
  }

  #putQuote(owner: Owner, quote: Quote): void {
    this.#db
      .prepare(
        `INSERT INTO quotes (id, owner, session_id, turn, event_id, title, venue, city, starts_at, section, quantity, total_cents, companions, stop, waived, created_at, expires_at, booking_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET turn = excluded.turn, companions = excluded.companions, stop = excluded.stop, waived = excluded.waived, booking_id = excluded.booking_id
         WHERE quotes.owner = excluded.owner`,
      )
      .run(
        quote.id,
        owner,
        quote.sessionId,
        quote.turn,
        quote.eventId,
        quote.title,
        quote.venue,
        quote.city,
        quote.startsAt,
        quote.section,
        quote.quantity,
        quote.totalCents,
        JSON.stringify(quote.companions),
        JSON.stringify(quote.stop),
        JSON.stringify(quote.waived),
        quote.createdAt,
        quote.expiresAt,
        quote.bookingId,
      );
  }

  #putBooking(
    owner: Owner,
    booking: Booking,
    key: {
      readonly sessionId: string | null;
      readonly turn: number | null;
      readonly callId: string | null;
      readonly quoteId: string | null;
      readonly holdsSeats: boolean;
    },
  ): void {
    this.#db
      .prepare(
        `INSERT INTO bookings (id, reference, owner, session_id, turn, call_id, quote_id, event_id, title, venue, city, starts_at, section, quantity, total_cents, companions, status, holds_seats, created_at, cancelled_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, reference = excluded.reference, companions = excluded.companions
         WHERE bookings.owner IS NULL`,
      )
      .run(
        booking.id,
        booking.reference,
        owner,
        key.sessionId,
        key.turn,
        key.callId,
        key.quoteId,
        booking.eventId,
        booking.title,
        booking.venue,
        booking.city,
        booking.startsAt,
        booking.section,
        booking.quantity,
        booking.totalCents,
        JSON.stringify(booking.companions),
        booking.status,
        key.holdsSeats ? 1 : 0,
        booking.createdAt,
        booking.cancelledAt,
      );
  }
}
