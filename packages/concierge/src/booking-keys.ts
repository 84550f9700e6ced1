import { hash } from "node:crypto";
import type { KeyRange } from "maitred";
import { numberKey, prefixRange, systemPartition } from "maitred/domain";
import type { CallKey } from "./booking-store.js";

/**
 * Where the state engine keeps what is booked. In an owner's partition: `record/quote/{id}`, `record/booking/{id}`, `record/call/{hash}`
 * (the booking that a call came to), `record/happening/{n}`, `record/restore/{hash}` (a restore under way) and `record/bookings/state`.
 * Seats are shared by all owners: in partitions of the installation's own, `event/{id}` and `sale/{event}/{booking}`; and
 * `reference/{hash}`.
 */
const KINDS = ["quote", "booking", "call", "happening", "restore", "bookings"] as const;

/** A search asks for the seats of hundreds of events: so many partitions hold them all. */
const SEAT_SHARD_DIGITS = 1;
const REFERENCE_SHARD_DIGITS = 2;

/** Ids that may stand in a key as they are; those of a file may be any text. */
const PLAIN = /^[\w.-]{1,100}$/;

export const QUOTES = prefixRange("record/quote/");
export const BOOKINGS = prefixRange("record/booking/");
export const RESTORES = prefixRange("record/restore/");
/** All that is kept of an owner, in the order of {@link KINDS}. */
export const RECORDS: readonly Pick<KeyRange, "from" | "to">[] = KINDS.map((kind) => prefixRange(`record/${kind}/`));

/** The number of the last happening. */
export const STATE_KEY = "record/bookings/state";

/** An id as a part of a key. */
export function idKey(id: string): string {
  return PLAIN.test(id) ? id : `=${hash("sha256", id)}`;
}

export function quoteKey(id: string): string {
  return `record/quote/${idKey(id)}`;
}

export function bookingKey(id: string): string {
  return bookingKeyOf(idKey(id));
}

/** `key`: as {@link idKey} gives it. */
export function bookingKeyOf(key: string): string {
  return `record/booking/${key}`;
}

export function callKey({ sessionId, turn, callId }: CallKey): string {
  return `record/call/${hash("sha256", JSON.stringify([sessionId, turn, callId]))}`;
}

/** The same for the same restore. `value`: what it lays hold of. */
export function restoreKey(value: string): string {
  return `record/restore/${hash("sha256", value)}`;
}

export function happeningKey(seq: number): string {
  return `record/happening/${numberKey(seq)}`;
}

/** Those behind a cursor. */
export function happeningsBehind(after: number): Pick<KeyRange, "from" | "to"> {
  return { ...prefixRange("record/happening/"), from: happeningKey(after + 1) };
}

export function seatsPartition(eventId: string): string {
  return systemPartition("seats", hash("sha256", eventId).slice(0, SEAT_SHARD_DIGITS));
}

export function eventKey(eventId: string): string {
  return `event/${idKey(eventId)}`;
}

/** `key`: of the booking, as {@link idKey} gives it. */
export function saleKey(eventId: string, key: string): string {
  return `sale/${idKey(eventId)}/${key}`;
}

export function referencePlace(reference: string): { readonly partition: string; readonly key: string } {
  const hashed = hash("sha256", reference);
  return { partition: systemPartition("references", hashed.slice(0, REFERENCE_SHARD_DIGITS)), key: `reference/${hashed}` };
}
