import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { BookingStore } from "../../src/concierge/booking-store.js";
import { seatsKey } from "../../src/concierge/booking-store.js";
import { bookingsInFile, bookingsInPostgres } from "../../src/concierge/booking-transfer.js";
import { Bookings } from "../../src/concierge/bookings.js";
import { PostgresBookings } from "../../src/concierge/postgres-bookings.js";
import { bookingsInRedis } from "../../src/concierge/redis-booking-transfer.js";
import { RedisBookings } from "../../src/concierge/redis-bookings.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { TransferableTable } from "../../src/ports/transfer.js";
import { PostgresDatabase } from "../../src/stores/postgres/database.js";
import { RedisDatabase } from "../../src/stores/redis/database.js";
import { ALICE, BOB, collected } from "../../src/testing/journal-records.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openRedisServer } from "../support/redis-server.js";

const NOW = new Date("2026-03-01T10:00:00.000Z");
const SEATS = { capacity: 10, taken: 0 };
const STALLS = seatsKey("e", "Stalls");
const NAME = "seats that were sold stay sold, a call isn't booked twice, and what happens is told behind what did";

async function sell(store: BookingStore, owner: typeof ALICE, callId: string, quantity: number) {
  const offer = { eventId: "e", title: "Jazz", venue: "V", city: "C", startsAt: "2026-03-12T19:00:00.000Z", section: "Stalls" };
  const quoted = { ...offer, quantity, totalCents: 100, companions: [], absent: [], mentioned: [], stop: null, waived: [] };
  const quote = await store.addQuote(owner, { sessionId: "s", turn: 1, ...quoted }, NOW);
  const key = { sessionId: "s", turn: 2, callId };
  return { quote, key, booking: await store.book(owner, quote, key, SEATS, NOW) };
}

/** Alice's booking of 2, one that she cancelled and one of Bob's, who was erased; then the first numbers of her list are let out. */
async function moved(target: BookingStore, into: readonly TransferableTable[]): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-bookings-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const path = join(dir, "bookings.db");
  const file = Bookings.open(path);
  const { quote, key, booking } = await sell(file, ALICE, "a", 2);
  const cancelled = await sell(file, ALICE, "b", 1);
  await file.cancel(ALICE, cancelled.booking.id, NOW);
  await sell(file, BOB, "c", 3);
  await file.erase(BOB);
  file.close();
  const source = bookingsInFile(path);
  onTestFinished(() => source.close());
  const later = (row: Readonly<Record<string, string | number | null>>) => ({ ...row, seq: Number(row.seq) + 5 });
  for (const table of source.tables) {
    const rows = await collected(table.rows());
    const given = table.name === "happenings" ? rows.map(later) : rows;
    const there = into.find(({ name }) => name === table.name);
    for (const _ of ["once", "and again"]) await there?.restore(given);
    const found = there === undefined ? [] : await collected(there.rows());
    expect(found).toHaveLength(rows.length);
    expect(found).toEqual(expect.arrayContaining(given));
  }
  expect((await target.sold(["e"])).get(STALLS)).toBe(5);
  expect(await target.book(ALICE, quote, key, SEATS, NOW)).toEqual(booking);
  expect((await target.happened(ALICE, 0)).map(({ seq, kind }) => [seq, kind])).toEqual([
    [6, "booked"],
    [7, "booked"],
    [8, "cancelled"],
  ]);
  await target.cancel(ALICE, booking.id, NOW);
  expect(await target.happened(ALICE, 8)).toMatchObject([{ seq: 9, kind: "cancelled", booking_id: booking.id, session_id: "s" }]);
  expect((await target.sold(["e"])).get(STALLS)).toBe(3);
  await target.erase(ALICE);
  expect(await target.residue(ALICE)).toBe(0);
}

needing("redis")("bookings that were moved to Redis", () => {
  test(NAME, async () => {
    const server = await openRedisServer();
    onTestFinished(() => server.close());
    const database = await RedisDatabase.open({ url: server.url, prefix: "moved", durability: "strict", logger: silentLogger });
    onTestFinished(() => database.close());
    await moved(new RedisBookings(database), bookingsInRedis(database));
  }, 60_000);
});

needing("postgres")("bookings that were moved to PostgreSQL", () => {
  test(NAME, async () => {
    const server = await openPostgresServer();
    onTestFinished(() => server.close());
    const database = await PostgresDatabase.open({ url: server.url, schema: "moved", logger: silentLogger });
    onTestFinished(() => database.close());
    await moved(new PostgresBookings(database), bookingsInPostgres(database).tables);
  }, 60_000);
});
