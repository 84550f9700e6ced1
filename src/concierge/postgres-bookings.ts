import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { HandedOver } from "../ports/agent.js";
import { type Booking, type BookingRow, isSameSale, type Quote, type QuoteRow, toBooking, toQuote } from "./booking-rows.js";
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
import { type BookingOrigin, bookingWrite, type Dialect, quoteWrite } from "./booking-writes.js";
import { HAPPENINGS_PAGE, type HappeningRow } from "./happenings.js";

type Row = Readonly<Record<string, unknown>>;

/** The part of a database that bookings need. Tables stand in braces. */
interface Sql {
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  run(sql: string, values?: readonly unknown[]): Promise<number>;
}

export interface SqlDatabase extends Sql {
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

const DIALECT: Dialect = { table: (name) => `{concierge_${name}}`, parameter: (number) => `$${number}` };

/** Bookings that several processes sell. What sells a section's seats, and what writes an owner's happenings, waits for each other. */
export class PostgresBookings implements BookingStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async sold(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.query(
      `SELECT event_id, section, sum(quantity) AS sold FROM {concierge_bookings}
       WHERE event_id = ANY ($1) AND status = 'confirmed' AND holds_seats = 1 GROUP BY event_id, section`,
      [eventIds],
    );
    return new Map(rows.map((row) => [seatsKey(String(row.event_id), String(row.section)), Number(row.sold)]));
  }

  async addQuote(owner: Owner, draft: QuoteDraft, now: Date): Promise<Quote> {
    const quote = quoteOfDraft(newId(), draft, now);
    await this.#database.run("DELETE FROM {concierge_quotes} WHERE owner = $1 AND expires_at < $2 AND booking_id IS NULL", [
      owner,
      now.toISOString(),
    ]);
    await putQuote(this.#database, owner, quote);
    return quote;
  }

  async updateQuote(owner: Owner, quote: Quote): Promise<void> {
    await putQuote(this.#database, owner, quote);
  }

  async quotesSince(owner: Owner, sessionId: string, fromTurn: number): Promise<readonly Quote[]> {
    const rows = await this.#database.query(
      `SELECT * FROM {concierge_quotes} WHERE owner = $1 AND session_id = $2 AND turn >= $3 ORDER BY turn DESC, id DESC`,
      [owner, sessionId, fromTurn],
    );
    return rows.map((row) => toQuote(row as unknown as QuoteRow));
  }

  async book(
    owner: Owner,
    quote: Quote,
    key: CallKey,
    seats: { readonly capacity: number; readonly taken: number },
    now: Date,
  ): Promise<Booking> {
    return this.#database.transaction(async (sql) => {
      await alone(sql, `seats ${seatsKey(quote.eventId, quote.section)}`);
      const [known] = await sql.query(
        `SELECT * FROM {concierge_bookings}
         WHERE owner = $1 AND (quote_id = $2 OR (session_id = $3 AND turn = $4 AND call_id = $5))`,
        [owner, quote.id, key.sessionId, key.turn, key.callId],
      );
      if (known !== undefined) return asBooking(known);
      const [row] = await sql.query(
        `SELECT COALESCE(sum(quantity), 0) AS sold FROM {concierge_bookings}
         WHERE event_id = $1 AND section = $2 AND status = 'confirmed' AND holds_seats = 1`,
        [quote.eventId, quote.section],
      );
      const left = seats.capacity - seats.taken - Number(row?.sold ?? 0);
      if (left < quote.quantity) throw new AppError("NOT_FOUND", seatsMissing(left));
      const booking = bookingOfQuote(newId(), quote, now);
      await putBooking(sql, owner, booking, { ...key, quoteId: quote.id, holdsSeats: true });
      await noteHappening(sql, owner, booking.id, "booked", booking.createdAt);
      await putQuote(sql, owner, { ...quote, bookingId: booking.id });
      return booking;
    });
  }

  async list(owner: Owner): Promise<readonly Booking[]> {
    return (await this.#database.query("SELECT * FROM {concierge_bookings} WHERE owner = $1 ORDER BY starts_at, id", [owner])).map(
      asBooking,
    );
  }

  async get(owner: Owner, idOrReference: string): Promise<Booking> {
    const [row] = await this.#database.query("SELECT * FROM {concierge_bookings} WHERE owner = $1 AND (id = $2 OR reference = $3)", [
      owner,
      idOrReference,
      idOrReference.trim().toUpperCase(),
    ]);
    if (row === undefined) throw new AppError("NOT_FOUND", NO_SUCH_BOOKING);
    return asBooking(row);
  }

  async cancel(owner: Owner, id: string, now: Date): Promise<Booking> {
    await this.#database.transaction(async (sql) => {
      const cancelled = await sql.run(
        `UPDATE {concierge_bookings} SET status = 'cancelled', cancelled_at = $3
         WHERE owner = $1 AND id = $2 AND status = 'confirmed'`,
        [owner, id, now.toISOString()],
      );
      if (cancelled > 0) await noteHappening(sql, owner, id, "cancelled", now.toISOString());
    });
    return this.get(owner, id);
  }

  async happened(owner: Owner, after: number): Promise<readonly HappeningRow[]> {
    const rows = await this.#database.query(
      `SELECT h.seq, h.booking_id, h.kind, h.at, b.session_id FROM {concierge_happenings} h
       JOIN {concierge_bookings} b ON b.id = h.booking_id AND b.owner = h.owner
       WHERE h.owner = $1 AND h.seq > $2 ORDER BY h.seq LIMIT ${HAPPENINGS_PAGE}`,
      [owner, after],
    );
    return rows as unknown as readonly HappeningRow[];
  }

  async restore(owner: Owner, bookings: readonly Booking[]): Promise<number> {
    return this.#database.transaction(async (sql) => {
      let restored = 0;
      for (const booking of bookings) {
        const [row] = (await sql.query("SELECT * FROM {concierge_bookings} WHERE id = $1 FOR UPDATE", [
          booking.id,
        ])) as unknown as BookingRow[];
        if (row !== undefined && (row.owner !== null || !isSameSale(row, booking))) continue;
        // A reference is one guest's alone: a file can't take somebody else's.
        const taken = await sql.query("SELECT 1 FROM {concierge_bookings} WHERE reference = $1 AND id <> $2", [
          booking.reference,
          booking.id,
        ]);
        if (taken.length > 0) continue;
        const holdsSeats = row !== undefined && row.holds_seats === 1;
        await putBooking(sql, owner, booking, { sessionId: null, turn: null, callId: null, quoteId: null, holdsSeats });
        restored += 1;
      }
      return restored;
    });
  }

  async handOver(from: Owner, to: Owner, { ids, sessions }: HandedOver): Promise<void> {
    await this.#database.transaction(async ({ query, run }) => {
      const told = await query(
        "SELECT booking_id, kind, at FROM {concierge_happenings} WHERE owner = $1 AND booking_id = ANY ($2) ORDER BY seq FOR UPDATE",
        [from, ids],
      );
      await run("DELETE FROM {concierge_happenings} WHERE owner = $1 AND booking_id = ANY ($2)", [from, ids]);
      for (const { booking_id, kind, at } of told as unknown as readonly HappeningRow[])
        await noteHappening({ query, run }, to, booking_id, kind, at);
      for (const [before, after] of sessions) {
        await run("UPDATE {concierge_bookings} SET session_id = $3 WHERE owner = $1 AND session_id = $2", [from, before, after]);
        await run("UPDATE {concierge_quotes} SET session_id = $3, owner = $4 WHERE owner = $1 AND session_id = $2", [
          from,
          before,
          after,
          to,
        ]);
      }
      await run("UPDATE {concierge_bookings} SET owner = $2 WHERE owner = $1 AND id = ANY ($3)", [from, to, ids]);
    });
  }

  async erase(owner: Owner): Promise<number> {
    return this.#database.transaction(async (sql) => {
      const quotes = await sql.run("DELETE FROM {concierge_quotes} WHERE owner = $1", [owner]);
      await sql.run("DELETE FROM {concierge_happenings} WHERE owner = $1", [owner]);
      const bookings = await sql.run(
        `UPDATE {concierge_bookings} SET owner = NULL, session_id = NULL, turn = NULL, call_id = NULL, quote_id = NULL, reference = NULL,
           companions = '[]', waived = '[]' WHERE owner = $1`,
        [owner],
      );
      return quotes + bookings;
    });
  }

  async residue(owner: Owner): Promise<number> {
    const [row] = await this.#database.query(
      `SELECT (SELECT count(*) FROM {concierge_quotes} WHERE owner = $1) + (SELECT count(*) FROM {concierge_bookings} WHERE owner = $1)
         + (SELECT count(*) FROM {concierge_happenings} WHERE owner = $1) AS rows`,
      [owner],
    );
    return Number(row?.rows ?? 0);
  }

  /** Without effect: the database is the caller's. */
  close(): void {}
}

function asBooking(row: Row): Booking {
  return toBooking(row as unknown as BookingRow);
}

/** Until the transaction ends. */
async function alone(sql: Sql, what: string): Promise<void> {
  await sql.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [what]);
}

async function noteHappening(sql: Sql, owner: Owner, bookingId: string, kind: HappeningRow["kind"], at: string): Promise<void> {
  await alone(sql, `happenings ${owner}`);
  await sql.run(
    `INSERT INTO {concierge_happenings} (owner, seq, booking_id, kind, at)
     SELECT $1, COALESCE(max(seq), 0) + 1, $2, $3, $4 FROM {concierge_happenings} WHERE owner = $1
     ON CONFLICT (booking_id, kind) DO NOTHING`,
    [owner, bookingId, kind, at],
  );
}

async function putQuote(sql: Sql, owner: Owner, quote: Quote): Promise<void> {
  const write = quoteWrite(DIALECT, owner, quote);
  await sql.run(write.sql, write.values);
}

async function putBooking(sql: Sql, owner: Owner, booking: Booking, origin: BookingOrigin): Promise<void> {
  const write = bookingWrite(DIALECT, owner, booking, origin);
  await sql.run(write.sql, write.values);
}
