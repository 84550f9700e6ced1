import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "../../packages/concierge/src/booking-rows.js";
import { seatsKey } from "../../packages/concierge/src/booking-store.js";
import { EngineBookings } from "../../packages/concierge/src/engine-bookings.js";
import { openConcierge } from "../../packages/concierge/src/open-concierge.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JsonValue } from "../../src/domain/session.js";
import { ConstraintGate } from "../../src/gate/constraint-gate.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { DomainRecords } from "../../src/ports/agent.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const ANN = ownerOf("default", "ann");
const SEATS = { capacity: 10, taken: 4 };

let dir: string;
let engine: SqliteEngine;
let bookings: EngineBookings;
const open = async () => {
  engine = await SqliteEngine.open({ path: join(dir, "state.db") });
  bookings = new EngineBookings(engine);
};
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bookings-"));
  await open();
});
afterEach(async () => {
  await engine.close();
  await rm(dir, { recursive: true });
});

function quoteIn(owner: Owner, quantity: number, more: Partial<Quote> = {}): Promise<Quote> {
  const draft = {
    sessionId: "session",
    turn: 1,
    eventId: "marta-vale-quartet-2026-03-14",
    title: "Marta Vale Quartet",
    venue: "Varanda Azul",
    city: "Lisbon",
    startsAt: "2026-03-14T21:30:00.000Z",
    section: "Bar",
    quantity,
    totalCents: 2200 * quantity,
    companions: [],
    absent: [],
    mentioned: [],
    stop: null,
    waived: [],
  };
  return bookings.addQuote(owner, { ...draft, ...more }, NOW);
}

async function book(owner: Owner, quantity: number, callId: string, { now = NOW, ...more }: Partial<Quote> & { readonly now?: Date } = {}) {
  return bookings.book(owner, await quoteIn(owner, quantity, more), { sessionId: "session", turn: 2, callId }, SEATS, now);
}

test("a booking outlives the process", async () => {
  const booking = await book(ANN, 2, "a");
  await engine.close();
  await open();
  expect(await bookings.list(ANN)).toEqual([booking]);
});

describe("privacy", () => {
  async function bytes(): Promise<string> {
    const files = await Promise.all((await readdir(dir)).map((file) => readFile(join(dir, file))));
    return files.map((file) => `${file.toString("latin1")}${file.toString("utf16le")}`).join("");
  }

  test("after an erasure no byte of the guest is in any file, the seats stay sold, and others keep theirs", async () => {
    const canary = ownerOf("default", "canary-7f3a91");
    const bob = ownerOf("default", "bob");
    for (let i = 0; i < 20; i += 1) await quoteIn(canary, 1, { companions: ["canary-companion"], sessionId: "canary-session" });
    const booking = await book(canary, 2, "canary-call", { companions: ["canary-companion"] });
    await book(bob, 1, "b");
    expect(await bytes()).toContain("canary");
    const ledger = new EngineOwnerLedger(engine);
    const { receiptId } = await ledger.beginErasure(canary, NOW.toISOString());
    expect(await bookings.erase(canary)).toBe(22);
    const receipt = { receipt_id: receiptId, completed_at: NOW.toISOString(), erased: {}, verified: true };
    await ledger.completeErasure(canary, receipt);
    await engine.scrub();
    const left = await bytes();
    expect(left).not.toContain("canary");
    expect(left).not.toContain(booking.reference);
    expect(await bookings.residue(canary)).toBe(0);
    expect((await bookings.sold([booking.eventId])).get(seatsKey(booking.eventId, "Bar")) ?? 0).toBe(3);
    expect(await bookings.list(bob)).toHaveLength(1);
    await engine.close();
    expect(await bytes()).not.toContain("canary");
  });

  async function collect(records: DomainRecords, owner: Owner): Promise<JsonValue[]> {
    const all: JsonValue[] = [];
    for await (const record of records.export(owner)) all.push(record);
    return all;
  }

  test("export, erase, restore, export gives the same, without selling a seat twice", async () => {
    await book(ANN, 2, "a", { companions: ["mother"] });
    const cancelled = await book(ANN, 1, "b", { now: new Date(NOW.getTime() + 1_000) });
    await bookings.cancel(ANN, cancelled.id, NOW);
    const domain = await openConcierge({
      engine,
      gate: new ConstraintGate({ needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger }),
    });
    const { records } = domain;
    if (records === undefined) return expect.fail("no records");
    const before = await collect(records, ANN);
    expect(before).toHaveLength(2);
    expect(before[0]).toMatchObject({ starts_at: "2026-03-14T21:30:00.000Z", total_cents: 4400, time: "21:30" });
    // What is told in a receipt: their quotes are none.
    expect(await records.erase(ANN)).toBe(2);
    expect(await collect(records, ANN)).toEqual([]);
    expect(await records.restore(ANN, before)).toBe(2);
    expect(await records.restore(ANN, before)).toBe(0);
    expect(await collect(records, ANN)).toEqual(before);
    expect(await records.leftOut?.(ANN, before), "what is there already is not left out").toEqual([]);
    const ben = ownerOf("test", "ben");
    expect(await records.restore(ben, before)).toBe(0);
    expect(await records.leftOut?.(ben, before)).toEqual(before.map((_, at) => ({ at, detail: expect.stringMatching(/^Booking MD-/) })));
    await domain.close?.();
    expect((await bookings.sold(["marta-vale-quartet-2026-03-14"])).get(seatsKey("marta-vale-quartet-2026-03-14", "Bar")) ?? 0).toBe(2);
  });

  test("records of another shape are refused whole", async () => {
    const domain = await openConcierge({
      engine,
      gate: new ConstraintGate({ needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger }),
    });
    await expect(domain.records?.restore(ANN, [{ id: "x" }])).rejects.toMatchObject({ code: "INVALID_IMPORT" });
    await domain.close?.();
  });
});
