import type { PartitionRead, StoredEntry } from "maitred";
import { happeningKey, STATE_KEY } from "./booking-keys.js";
import type { Booking, Quote } from "./booking-rows.js";
import type { CallKey, TurnOfSession } from "./booking-store.js";
import type { HappeningRow } from "./happenings.js";

/** Values of the keys in an owner's partition. */

export type HappeningKind = HappeningRow["kind"];

export interface StoredQuote {
  readonly v: 1;
  readonly quote: Quote;
}

export interface StoredBooking {
  readonly v: 1;
  readonly booking: Booking;
  /** Null where it was taken back from an export. */
  readonly call: CallKey | null;
  /** What happened to it, by the numbers under which that is kept: each once. */
  readonly happenings: Readonly<Partial<Record<HappeningKind, number>>>;
  /** In which turn the guest was last asked whether to cancel it. */
  readonly cancellationAsked?: TurnOfSession;
}

/** What a restore lays hold of; kept while it runs, so that an erasure finds it. */
export interface StoredRestore {
  readonly v: 1;
  readonly bookings: readonly Pick<Booking, "id" | "eventId" | "reference">[];
}

type StoredHappening = Omit<HappeningRow, "seq"> & { readonly v: 1 };

export interface Put {
  readonly key: string;
  readonly value: string;
}

export function quotesIn(entries: readonly StoredEntry[] | undefined): readonly Quote[] {
  return (entries ?? []).map((entry) => parsed<StoredQuote>(entry).quote);
}

export function bookingIn(entry: StoredEntry): StoredBooking {
  return parsed<StoredBooking>(entry);
}

export function restoreIn(entry: StoredEntry): StoredRestore {
  return parsed<StoredRestore>(entry);
}

/** The number is the last part of the key. */
export function happeningIn(entry: StoredEntry): HappeningRow {
  const { v: _, ...row } = parsed<StoredHappening>(entry);
  return { seq: Number(entry.key.slice(entry.key.lastIndexOf("/") + 1)), ...row };
}

export function lastHappening(read: PartitionRead): number {
  const entry = read.entries.get(STATE_KEY);
  return entry === undefined ? 0 : parsed<{ readonly last_happening: number }>(entry).last_happening;
}

export function statePut(last: number): Put {
  return { key: STATE_KEY, value: JSON.stringify({ v: 1, last_happening: last }) };
}

export function happeningPut(seq: number, { booking, call }: StoredBooking, kind: HappeningKind): Put {
  const at = kind === "booked" ? booking.createdAt : (booking.cancelledAt ?? booking.createdAt);
  const row: StoredHappening = { v: 1, booking_id: booking.id, kind, at, session_id: call?.sessionId ?? null };
  return { key: happeningKey(seq), value: JSON.stringify(row) };
}

/** Unchanged since it was read, or still missing. */
export function asRead(read: PartitionRead, key: string): { readonly key: string; readonly version: number | null } {
  return { key, version: read.entries.get(key)?.version ?? null };
}

function parsed<Value>({ value }: StoredEntry): Value {
  return JSON.parse(value) as Value;
}
