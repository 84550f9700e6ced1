import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "../../src/concierge/booking-rows.js";
import { Bookings } from "../../src/concierge/bookings.js";
import { openConcierge } from "../../src/concierge/open-concierge.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openSqlite } from "../../src/platform/sqlite.js";
import type { Happening } from "../../src/ports/agent.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const ANN = ownerOf("default", "ann");

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "happenings-"));
});
afterEach(() => rm(dir, { recursive: true }));

function sold(bookings: Bookings, callId: string, owner: Owner = ANN) {
  const draft: Omit<Quote, "id" | "createdAt" | "expiresAt" | "bookingId"> = {
    sessionId: "session",
    turn: 1,
    eventId: "marta-vale-quartet-2026-03-14",
    title: "Marta Vale Quartet",
    venue: "Varanda Azul",
    city: "Lisbon",
    startsAt: "2026-03-14T21:30:00.000Z",
    section: "Tables",
    quantity: 2,
    totalCents: 6400,
    companions: ["Jon"],
    absent: [],
    mentioned: [],
    stop: null,
    waived: [],
  };
  const key = { sessionId: "session", turn: 2, callId };
  return bookings.book(owner, bookings.addQuote(owner, draft, NOW), key, { capacity: 100, taken: 0 }, NOW);
}

async function happened(after: string | null = null, owner: Owner = ANN): Promise<readonly Happening[]> {
  const concierge = await openConcierge({ dir, needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger });
  const events: Happening[] = [];
  for await (const event of concierge.records?.happened?.(owner, after) ?? []) events.push(event);
  await concierge.close?.();
  return events;
}

function withBookings<T>(work: (bookings: Bookings) => T): T {
  const bookings = Bookings.open(join(dir, "bookings.db"));
  try {
    return work(bookings);
  } finally {
    bookings.close();
  }
}

describe("what the bookings tell of a guest", () => {
  test("is each booking and each cancellation, in order, with what it amounts to", async () => {
    const ids = withBookings((bookings) => {
      const [first, second] = [sold(bookings, "a"), sold(bookings, "b")];
      sold(bookings, "c", ownerOf("default", "bob"));
      bookings.cancel(ANN, first.id, NOW);
      bookings.cancel(ANN, first.id, NOW);
      return [first.id, second.id];
    });
    const events = await happened();
    expect(events).toMatchObject([
      {
        id: `booked:${ids[0]}`,
        text: "Booked 2 seats in Tables for Marta Vale Quartet, Saturday 14 March",
        entities: ["Marta Vale Quartet", "Varanda Azul", "Jon"],
        session_id: "session",
        takes_back: null,
        habits: [
          { text: "Usually books 2 tickets", category: "party_size" },
          { text: "Usually sits in Tables" },
          { text: "Often books jazz" },
        ],
      },
      { id: `booked:${ids[1]}` },
      { id: `cancelled:${ids[0]}`, takes_back: `booked:${ids[0]}`, habits: [] },
    ]);
    expect(await happened(events[1]?.cursor)).toEqual(events.slice(2));
    expect(await happened(events[2]?.cursor)).toEqual([]);
  });

  test("what was booked before there was such a list is on it", async () => {
    withBookings((bookings) => bookings.cancel(ANN, sold(bookings, "a").id, NOW));
    const db = openSqlite(join(dir, "bookings.db"), { durability: "full" });
    db.exec("DROP TABLE happenings; ALTER TABLE quotes DROP COLUMN absent; ALTER TABLE quotes DROP COLUMN mentioned");
    db.exec("ALTER TABLE bookings DROP COLUMN waived");
    db.close();
    expect(await happened()).toMatchObject([{ takes_back: null }, { takes_back: expect.stringMatching(/^booked:/) }]);
  });

  test("a list of before, numbered for all guests together, keeps its numbers; new ones follow each guest's own", async () => {
    const bob = ownerOf("default", "bob");
    const ids = withBookings((bookings) => [sold(bookings, "a", bob).id, sold(bookings, "b").id]);
    const db = openSqlite(join(dir, "bookings.db"), { durability: "full" });
    db.exec(`DROP TABLE happenings;
      CREATE TABLE happenings (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, booking_id TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('booked', 'cancelled')), at TEXT NOT NULL, UNIQUE (booking_id, kind)
      ) STRICT`);
    const insert = db.prepare("INSERT INTO happenings (owner, booking_id, kind, at) VALUES (?, ?, 'booked', ?)");
    for (const [owner, id] of [
      [bob, ids[0]],
      [ANN, ids[1]],
    ])
      insert.run(owner, id, NOW.toISOString());
    db.close();
    withBookings((bookings) => [sold(bookings, "c"), sold(bookings, "d", bob)]);
    expect((await happened()).map(({ cursor }) => cursor)).toEqual(["2", "3"]);
    expect((await happened(null, bob)).map(({ cursor }) => cursor)).toEqual(["1", "2"]);
    expect((await happened("2")).length).toBe(1);
  });

  test("nothing is left of it after an erasure, and a restored booking did not happen here", async () => {
    const exported = withBookings((bookings) => {
      sold(bookings, "a");
      const all = bookings.list(ANN);
      bookings.erase(ANN);
      expect(bookings.residue(ANN)).toBe(0);
      return all;
    });
    expect(await happened()).toEqual([]);
    withBookings((bookings) => bookings.restore(ANN, exported));
    expect(await happened()).toEqual([]);
  });
});
