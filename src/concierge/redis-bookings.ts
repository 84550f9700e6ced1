import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Script } from "../platform/lua-script.js";
import type { HandedOver } from "../ports/agent.js";
import { type Booking, type BookingRow, type Quote, type QuoteRow, toBooking, toQuote } from "./booking-rows.js";
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
import { bookingColumns, quoteColumns } from "./booking-writes.js";
import { HAPPENINGS_PAGE, type HappeningRow } from "./happenings.js";
import {
  ADD_QUOTE,
  BOOK,
  type BookingKey,
  bookingKeys,
  CANCEL,
  ERASE,
  GUESTS,
  HAND_OVER,
  handOverKeys,
  RESTORE,
  salesKeys,
} from "./redis-booking-scripts.js";

/** The part of a Redis that bookings need. */
export interface ScriptDatabase {
  /** Every key of the installation begins with it. */
  readonly prefix: string;
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
  run<Name extends string>(script: Script<Name>, keys: Readonly<Record<Name, string>>, ...args: readonly string[]): Promise<unknown>;
}

type KeptHappening = Pick<HappeningRow, "booking_id" | "kind" | "at"> & { readonly owner: string };

/** Bookings that several processes sell: each change is one script. Those of all guests are in one slot of a Cluster. */
export class RedisBookings implements BookingStore {
  readonly #database: ScriptDatabase;

  constructor(database: ScriptDatabase) {
    this.#database = database;
  }

  async sold(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (eventIds.length === 0) return new Map();
    const kept = (await this.#database.command("HMGET", salesKeys(this.#database.prefix).sold, ...eventIds)) as readonly (string | null)[];
    return new Map(
      kept.flatMap((json, at) =>
        Object.entries(JSON.parse(json ?? "{}") as Record<string, number>)
          .filter(([, quantity]) => quantity > 0)
          .map(([section, quantity]) => [seatsKey(eventIds[at] ?? "", section), quantity] as const),
      ),
    );
  }

  async addQuote(owner: Owner, draft: QuoteDraft, now: Date): Promise<Quote> {
    const quote = quoteOfDraft(newId(), draft, now);
    await this.#database.run(ADD_QUOTE, this.#keys(owner), now.toISOString(), quote.id, JSON.stringify(quoteColumns(owner, quote)));
    return quote;
  }

  async updateQuote(owner: Owner, quote: Quote): Promise<void> {
    await this.#database.command("HSET", this.#keys(owner).quotes, quote.id, JSON.stringify(quoteColumns(owner, quote)));
  }

  async quotesSince(owner: Owner, sessionId: string, fromTurn: number): Promise<readonly Quote[]> {
    const rows = (await this.#rows(this.#keys(owner).quotes)) as readonly QuoteRow[];
    return rows
      .filter((row) => row.session_id === sessionId && row.turn >= fromTurn)
      .toSorted((a, b) => b.turn - a.turn || (a.id < b.id ? 1 : -1))
      .map(toQuote);
  }

  async book(
    owner: Owner,
    quote: Quote,
    key: CallKey,
    seats: { readonly capacity: number; readonly taken: number },
    now: Date,
  ): Promise<Booking> {
    const booking = bookingOfQuote(newId(), quote, now);
    const given = {
      quote: quoteField(quote.id),
      call: callField(key),
      places: seats.capacity - seats.taken,
      event: quote.eventId,
      section: quote.section,
      quantity: quote.quantity,
      id: booking.id,
      reference: booking.reference,
      quoteId: quote.id,
    };
    const row = bookingColumns(owner, booking, { ...key, quoteId: quote.id, holdsSeats: true });
    const booked = quoteColumns(owner, { ...quote, bookingId: booking.id });
    const reply = await this.#database.run(
      BOOK,
      this.#keys(owner),
      JSON.stringify(given),
      JSON.stringify(row),
      JSON.stringify(booked),
      happening(owner, booking.id, "booked", booking.createdAt),
    );
    const [outcome, found = ""] = reply as readonly string[];
    if (outcome === "full") throw new AppError("NOT_FOUND", seatsMissing(Number(found)));
    return outcome === "known" ? toBooking(JSON.parse(found) as BookingRow) : booking;
  }

  async list(owner: Owner): Promise<readonly Booking[]> {
    const rows = (await this.#rows(this.#keys(owner).bookings)) as readonly BookingRow[];
    return rows
      .toSorted((a, b) => (a.starts_at === b.starts_at ? (a.id < b.id ? -1 : 1) : a.starts_at < b.starts_at ? -1 : 1))
      .map(toBooking);
  }

  async get(owner: Owner, idOrReference: string): Promise<Booking> {
    const reference = idOrReference.trim().toUpperCase();
    const found = (await this.list(owner)).find((booking) => booking.id === idOrReference || booking.reference === reference);
    if (found === undefined) throw new AppError("NOT_FOUND", NO_SUCH_BOOKING);
    return found;
  }

  async cancel(owner: Owner, id: string, now: Date): Promise<Booking> {
    const at = now.toISOString();
    await this.#database.run(CANCEL, this.#keys(owner), id, at, happening(owner, id, "cancelled", at));
    return this.get(owner, id);
  }

  async happened(owner: Owner, after: number): Promise<readonly HappeningRow[]> {
    const { happenings, bookings } = this.#keys(owner);
    const page = [`(${after}`, "+inf", "WITHSCORES", "LIMIT", 0, HAPPENINGS_PAGE] as const;
    const told = toldIn((await this.#database.command("ZRANGEBYSCORE", happenings, ...page)) as readonly string[]);
    if (told.length === 0) return [];
    const of = (await this.#database.command("HMGET", bookings, ...told.map(({ booking_id }) => booking_id))) as readonly (string | null)[];
    return told.map(({ owner: _, ...each }, at) => {
      const { session_id } = JSON.parse(of[at] ?? "{}") as { readonly session_id?: string | null };
      return { ...each, session_id: session_id ?? null };
    });
  }

  async restore(owner: Owner, bookings: readonly Booking[]): Promise<number> {
    const origin = { sessionId: null, turn: null, callId: null, quoteId: null, holdsSeats: false };
    const rows = bookings.map((booking) => JSON.stringify(bookingColumns(owner, booking, origin)));
    return Number(await this.#database.run(RESTORE, this.#keys(owner), ...rows));
  }

  async handOver(from: Owner, to: Owner, { ids, sessions }: HandedOver): Promise<void> {
    const keys = handOverKeys(this.#database.prefix, from, to);
    await this.#database.run(HAND_OVER, keys, to, JSON.stringify(ids), JSON.stringify(Object.fromEntries(sessions)));
  }

  async erase(owner: Owner): Promise<number> {
    return Number(await this.#database.run(ERASE, this.#keys(owner)));
  }

  async residue(owner: Owner): Promise<number> {
    const keys = this.#keys(owner);
    const left = await Promise.all(GUESTS.map((name) => this.#database.command(name === "happenings" ? "ZCARD" : "HLEN", keys[name])));
    return left.reduce<number>((sum, each) => sum + Number(each), 0);
  }

  /** Without effect: the database is the caller's. */
  close(): void {}

  async #rows(key: string): Promise<readonly unknown[]> {
    return ((await this.#database.command("HVALS", key)) as readonly string[]).map((json) => JSON.parse(json));
  }

  #keys(owner: Owner): Readonly<Record<BookingKey, string>> {
    return bookingKeys(this.#database.prefix, owner);
  }
}

/** What a call and a quote are known by among those that came to a booking. */
export function callField({ sessionId, turn, callId }: CallKey): string {
  return `call:${JSON.stringify([sessionId, turn, callId])}`;
}

export function quoteField(quoteId: string): string {
  return `quote:${quoteId}`;
}

/** Happenings of a reply that has them and their seqs in turn. */
export function toldIn(reply: readonly string[]): readonly (KeptHappening & Pick<HappeningRow, "seq">)[] {
  return reply.flatMap((json, at) => (at % 2 === 0 ? [{ ...(JSON.parse(json) as KeptHappening), seq: Number(reply[at + 1]) }] : []));
}

export function happening(owner: Owner, booking_id: string, kind: HappeningRow["kind"], at: string): string {
  return JSON.stringify({ owner, booking_id, kind, at } satisfies KeptHappening);
}
