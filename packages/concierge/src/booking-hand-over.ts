import type { HandedOver, Owner, PartitionRead, StoredEntry } from "maitred";
import { named, ownerPartition } from "maitred/domain";
import { kept, untilKept } from "./booking-commits.js";
import {
  asRead,
  bookingIn,
  type HappeningKind,
  happeningPut,
  lastHappening,
  type Put,
  quotesIn,
  type StoredBooking,
  type StoredQuote,
  statePut,
} from "./booking-entries.js";
import { bookingKey, callKey, happeningKey, QUOTES, quoteKey, STATE_KEY } from "./booking-keys.js";
import type { BookingParts } from "./booking-order.js";

/** In one commit: each has up to four keys. */
const BOOKINGS_AT_ONCE = 20;
const QUOTES_AT_ONCE = 50;

/**
 * Bookings and quotes become another guest's: first they are both guests', then the seats are the other's, then they are no more the one's.
 * Again, wherever it ended: it goes on, and nothing is there twice.
 */
export async function handOverBookings(parts: BookingParts, from: Owner, to: Owner, { ids, sessions }: HandedOver): Promise<void> {
  if (from === to) return;
  const { engine, seats } = parts;
  const holder = ownerPartition(to);
  const keys = ids.map(bookingKey);
  await untilKept(async () => {
    const read = await engine.read(ownerPartition(from), { keys, ranges: [QUOTES] });
    const entries = keys.flatMap((key) => read.entries.get(key) ?? []).toSorted((a, b) => firstHappening(a) - firstHappening(b));
    for (let at = 0; at < entries.length; at += BOOKINGS_AT_ONCE) {
      const some = entries.slice(at, at + BOOKINGS_AT_ONCE);
      const rows = some.map(bookingIn);
      await copyBookings(parts, to, rows, sessions);
      for (const { booking } of rows) await seats.settle(booking, { status: booking.status, holder });
      if (!(await leave(parts, from, read, some, rows.flatMap(keysBeside)))) return null;
    }
    const quotes = (read.ranges[0] ?? []).filter((entry) => quotesIn([entry]).some(({ sessionId }) => sessions.has(sessionId)));
    for (let at = 0; at < quotes.length; at += QUOTES_AT_ONCE) {
      const some = quotes.slice(at, at + QUOTES_AT_ONCE);
      await copyQuotes(parts, to, some, sessions);
      if (!(await leave(parts, from, read, some, []))) return null;
    }
    return true;
  });
}

async function copyBookings(
  { engine }: BookingParts,
  to: Owner,
  rows: readonly StoredBooking[],
  sessions: HandedOver["sessions"],
): Promise<void> {
  const holder = ownerPartition(to);
  const keys = [...rows.map(({ booking }) => bookingKey(booking.id)), STATE_KEY];
  await untilKept(async () => {
    const read = await engine.read(holder, { keys });
    let last = lastHappening(read);
    const stored = new Map(rows.map((row) => [row.booking.id, merged(row, read.entries.get(bookingKey(row.booking.id)), sessions)]));
    const puts: Put[] = [];
    for (const { id, kind } of rows.flatMap(happeningsOf).toSorted((a, b) => a.seq - b.seq)) {
      const row = stored.get(id);
      if (row === undefined || row.happenings[kind] !== undefined) continue;
      last += 1;
      stored.set(id, { ...row, happenings: { ...row.happenings, [kind]: last } });
      puts.push(happeningPut(last, row, kind));
    }
    for (const row of stored.values()) {
      puts.push({ key: bookingKey(row.booking.id), value: JSON.stringify(row) });
      if (row.call !== null) puts.push({ key: callKey(row.call), value: JSON.stringify({ v: 1, booking_id: row.booking.id }) });
    }
    const checks = keys.map((key) => asRead(read, key));
    return (await kept(engine, holder, { epoch: read.epoch, checks, puts: [named(to), statePut(last), ...puts] })) || null;
  });
}

async function copyQuotes(
  { engine }: BookingParts,
  to: Owner,
  entries: readonly StoredEntry[],
  sessions: HandedOver["sessions"],
): Promise<void> {
  const holder = ownerPartition(to);
  const quotes = quotesIn(entries).map((quote) => ({ ...quote, sessionId: sessions.get(quote.sessionId) ?? quote.sessionId }));
  await untilKept(async () => {
    const read = await engine.read(holder, { keys: quotes.map(({ id }) => quoteKey(id)) });
    const missing = quotes.filter(({ id }) => !read.entries.has(quoteKey(id)));
    const puts = missing.map((quote) => ({ key: quoteKey(quote.id), value: JSON.stringify({ v: 1, quote } satisfies StoredQuote) }));
    const checks = missing.map(({ id }) => asRead(read, quoteKey(id)));
    return (await kept(engine, holder, { epoch: read.epoch, checks, puts: [named(to), ...puts] })) || null;
  });
}

/** Takes them from the guest who had them, if they are still as they were copied. */
function leave(
  { engine }: BookingParts,
  from: Owner,
  { epoch }: PartitionRead,
  entries: readonly StoredEntry[],
  beside: readonly string[],
): Promise<boolean> {
  const checks = entries.map(({ key, version }) => ({ key, version }));
  return kept(engine, ownerPartition(from), { epoch, checks, deletes: [...entries.map(({ key }) => key), ...beside] });
}

/** As the other guest has it already, where an earlier try copied it, with what has happened since. */
function merged(row: StoredBooking, there: StoredEntry | undefined, sessions: HandedOver["sessions"]): StoredBooking {
  const call = row.call === null ? null : { ...row.call, sessionId: sessions.get(row.call.sessionId) ?? row.call.sessionId };
  if (there === undefined) return { ...row, call, happenings: {} };
  const had = bookingIn(there);
  return had.booking.status === "confirmed" ? { ...had, booking: row.booking } : had;
}

function happeningsOf({ booking, happenings }: StoredBooking) {
  return Object.entries(happenings).map(([kind, seq]) => ({ id: booking.id, kind: kind as HappeningKind, seq }));
}

function keysBeside({ call, happenings }: StoredBooking): readonly string[] {
  return [...(call === null ? [] : [callKey(call)]), ...Object.values(happenings).map(happeningKey)];
}

function firstHappening(entry: StoredEntry): number {
  return Math.min(Number.MAX_SAFE_INTEGER, ...Object.values(bookingIn(entry).happenings));
}
