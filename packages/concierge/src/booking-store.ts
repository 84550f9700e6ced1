import type { HandedOver, Owner } from "maitred";
import type { Booking, Quote } from "./booking-rows.js";
import type { HappeningRow } from "./happenings.js";

/** How long a quote can be confirmed. Seats are not held for it. */
export const QUOTE_MINUTES = 30;

export type QuoteDraft = Omit<Quote, "id" | "createdAt" | "expiresAt" | "bookingId">;

/** Where a write comes from: the same place writes once. */
export interface CallKey {
  readonly sessionId: string;
  readonly turn: number;
  readonly callId: string;
}

/** A turn of a session. */
export type TurnOfSession = Pick<CallKey, "sessionId" | "turn">;

type Awaitable<T> = T | Promise<T>;

/** Quotes and bookings: the truth of what was sold. Durable on return. Seats can't be oversold, whoever else sells. */
export interface BookingStore {
  /** Seats that are sold here, by {@link seatsKey}; those of which none is sold are left out. */
  sold(eventIds: readonly string[]): Awaitable<ReadonlyMap<string, number>>;
  /** Stores a quote; it expires after {@link QUOTE_MINUTES}. Old ones of the owner go. */
  addQuote(owner: Owner, draft: QuoteDraft, now: Date): Awaitable<Quote>;
  updateQuote(owner: Owner, quote: Quote): Awaitable<void>;
  /** Quotes of a session made in a turn from `fromTurn` on, newest first. */
  quotesSince(owner: Owner, sessionId: string, fromTurn: number): Awaitable<readonly Quote[]>;
  /**
   * Turns a quote into a booking. Again, for the same quote or the same call: the booking that is there.
   * @throws NOT_FOUND when fewer seats are left; nothing is booked then
   */
  book(
    owner: Owner,
    quote: Quote,
    key: CallKey,
    seats: { readonly capacity: number; readonly taken: number },
    now: Date,
  ): Awaitable<Booking>;
  /** By start, cancelled ones included. */
  list(owner: Owner): Awaitable<readonly Booking[]>;
  /** By id or reference. @throws NOT_FOUND, also for a booking of somebody else */
  get(owner: Owner, idOrReference: string): Awaitable<Booking>;
  /** In which turn the guest was last asked whether to cancel it; null where never. @throws NOT_FOUND */
  cancellationAsked(owner: Owner, id: string): Awaitable<TurnOfSession | null>;
  askCancellation(owner: Owner, id: string, asked: TurnOfSession): Awaitable<void>;
  /** Gives the seats back. Again: without effect. @throws NOT_FOUND */
  cancel(owner: Owner, id: string, now: Date): Awaitable<Booking>;
  /** What the owner booked and cancelled, oldest first, at most 100 behind the cursor. */
  happened(owner: Owner, after: number): Awaitable<readonly HappeningRow[]>;
  /**
   * Takes bookings of an export back. Where the sale itself is still there, made anonymous, it is the owner's again; else the
   * booking is listed but holds no seats: a file can't sell any. Returns how many are new to the owner.
   */
  restore(owner: Owner, bookings: readonly Booking[]): Awaitable<number>;
  /**
   * Bookings with what happened to them, and the quotes of the sessions, become another guest's: seats stay sold. Those that are no more of
   * `from` are passed over.
   */
  handOver(from: Owner, to: Owner, what: HandedOver): Awaitable<void>;
  /** Makes sales anonymous and deletes everything else; nothing of the owner stays. Returns how many rows it touched. */
  erase(owner: Owner): Awaitable<number>;
  residue(owner: Owner): Awaitable<number>;
  close(): Awaitable<void>;
}

export function seatsKey(eventId: string, section: string): string {
  return JSON.stringify([eventId, section]);
}

export const NO_SUCH_BOOKING = { detail: "There is no such booking.", hint: "See list_bookings for the guest's bookings." };

export function seatsMissing(left: number): { readonly detail: string; readonly hint: string } {
  return {
    detail: left <= 0 ? "There are no seats left in this section." : `Only ${left} seats are left in this section.`,
    hint: "Look at the other sections with check_availability, or search for another event.",
  };
}

/** As it is shown to the model, under an id that a guest can say. */
export function bookingOfQuote(id: string, quote: Quote, now: Date): Booking {
  return {
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
    waived: quote.waived,
    status: "confirmed",
    createdAt: now.toISOString(),
    cancelledAt: null,
  };
}

export function quoteOfDraft(id: string, draft: QuoteDraft, now: Date): Quote {
  const expiresAt = new Date(now.getTime() + QUOTE_MINUTES * 60_000).toISOString();
  return { ...draft, id, createdAt: now.toISOString(), expiresAt, bookingId: null };
}
