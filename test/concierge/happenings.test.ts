import { beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "../../packages/concierge/src/booking-rows.js";
import { EngineBookings } from "../../packages/concierge/src/engine-bookings.js";
import { openConcierge } from "../../packages/concierge/src/open-concierge.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { ConstraintGate } from "../../src/gate/constraint-gate.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Happening } from "../../src/ports/agent.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const ANN = ownerOf("default", "ann");

let engine: MemoryEngine;
let bookings: EngineBookings;
beforeEach(() => {
  engine = new MemoryEngine();
  bookings = new EngineBookings(engine);
});

async function sold(callId: string, owner: Owner = ANN) {
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
  return bookings.book(owner, await bookings.addQuote(owner, draft, NOW), key, { capacity: 100, taken: 0 }, NOW);
}

async function happened(after: string | null = null, owner: Owner = ANN): Promise<readonly Happening[]> {
  const concierge = await openConcierge({
    engine,
    gate: new ConstraintGate({ needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger }),
  });
  const events: Happening[] = [];
  for await (const event of concierge.records?.happened?.(owner, after) ?? []) events.push(event);
  await concierge.close?.();
  return events;
}

describe("what the bookings tell of a guest", () => {
  test("is each booking and each cancellation, in order, with what it amounts to", async () => {
    const ids = [(await sold("a")).id, (await sold("b")).id];
    await sold("c", ownerOf("default", "bob"));
    for (const _ of ["once", "again"]) await bookings.cancel(ANN, ids[0] ?? "", NOW);
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

  test("nothing is left of it after an erasure, and a restored booking did not happen here", async () => {
    await sold("a");
    const exported = await bookings.list(ANN);
    await bookings.erase(ANN);
    expect(await bookings.residue(ANN)).toBe(0);
    expect(await happened()).toEqual([]);
    await bookings.restore(ANN, exported);
    expect(await happened()).toEqual([]);
  });
});
