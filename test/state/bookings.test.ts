import { beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "../../packages/concierge/src/booking-rows.js";
import { type QuoteDraft, seatsKey } from "../../packages/concierge/src/booking-store.js";
import { EngineBookings } from "../../packages/concierge/src/engine-bookings.js";
import { type Owner, ownerHash } from "../../src/domain/owner.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { describeBookingStoreContract } from "../contract/booking-store.contract.js";
import { ALICE, BOB } from "../support/journal-records.js";
import { TestClock } from "../support/session-world.js";
import { FaultyEngine } from "./faulty-engine.js";

describeBookingStoreContract("state engine", async () => {
  const engine = new MemoryEngine({ clock: new TestClock() });
  return { sellers: [new EngineBookings(engine), new EngineBookings(engine)], dispose: () => engine.close() };
});

const NOW = new Date("2026-03-01T10:00:00.000Z");
const SEATS = { capacity: 10, taken: 3 };
const DRAFT: QuoteDraft = {
  sessionId: "s",
  turn: 1,
  eventId: "jazz-2026-03-12",
  title: "Jazz",
  venue: "Nebelhorn",
  city: "Hamburg",
  startsAt: "2026-03-12T19:00:00.000Z",
  section: "Stalls",
  quantity: 2,
  totalCents: 5_000,
  companions: ["Emma"],
  absent: [],
  mentioned: [],
  stop: null,
  waived: [],
};
const CALL = { sessionId: "s", turn: 2, callId: "c" };

let clock: TestClock;
let engine: FaultyEngine;
let bookings: EngineBookings;
beforeEach(() => {
  clock = new TestClock();
  engine = new FaultyEngine(new MemoryEngine({ clock }));
  bookings = new EngineBookings(engine);
});

const quoteOf = (owner: Owner, more: Partial<QuoteDraft> = {}) => bookings.addQuote(owner, { ...DRAFT, ...more }, NOW);
const book = (owner: Owner, quote: Quote, callId = "c", seller = bookings) => seller.book(owner, quote, { ...CALL, callId }, SEATS, NOW);
const sold = async () => (await bookings.sold([DRAFT.eventId])).get(seatsKey(DRAFT.eventId, "Stalls")) ?? 0;
const kinds = async (owner: Owner) => (await bookings.happened(owner, 0)).map(({ kind }) => kind);

/** Every key and value of every partition. */
async function everything(of: StateEngine): Promise<string> {
  const partitions = await of.partitions({ limit: 1_000 });
  const reads = partitions.map(({ partition }) => of.read(partition, { ranges: [{ from: "", to: "\u{10FFFF}" }] }));
  return (await Promise.all(reads)).flatMap(({ ranges }) => ranges.flat().map(({ key, value }) => `${key} ${value}`)).join("\n");
}

describe("the last seats", () => {
  test("eight racers over two processes never oversell them", async () => {
    const sellers = [bookings, new EngineBookings(engine)];
    const owners = [ALICE, BOB];
    const quotes = await Promise.all(Array.from({ length: 8 }, (_, at) => quoteOf(owners[at % 2] ?? ALICE)));
    const outcomes = await Promise.allSettled(
      quotes.map((quote, at) => book(owners[at % 2] ?? ALICE, quote, `c${at}`, sellers[at % 3 === 0 ? 0 : 1])),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("Only 1 ") });
    expect(await sold()).toBe(6);
  });

  test("eight racers of one quote, by different calls, make one booking", async () => {
    const quote = await quoteOf(ALICE);
    const sellers = [bookings, new EngineBookings(engine)];
    const all = await Promise.all(Array.from({ length: 8 }, (_, at) => book(ALICE, quote, `c${at}`, sellers[at % 2])));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect([await sold(), (await bookings.list(ALICE)).length, await kinds(ALICE)]).toEqual([2, 1, ["booked"]]);
  });

  test("eight racers of one call, for different quotes, make one booking and leave no seats taken", async () => {
    const quotes = await Promise.all(Array.from({ length: 3 }, () => quoteOf(ALICE)));
    const all = await Promise.all(quotes.map((quote) => book(ALICE, quote)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await sold()).toBe(2);
  });
});

describe("a process that ends while it books", () => {
  /** Seats are sold, the booking is not made. */
  const abandon = async (owner: Owner, more: Partial<QuoteDraft> = {}) => {
    const quote = await quoteOf(owner, more);
    engine.crashAfter(1);
    await expect(book(owner, quote)).rejects.toThrow("crashed");
    return quote;
  };

  test("holds its seats for ten minutes; then the next who is short of them has them", async () => {
    await abandon(ALICE, { quantity: 7 });
    expect(await sold()).toBe(7);
    const quote = await quoteOf(BOB);
    await expect(book(BOB, quote)).rejects.toMatchObject({ code: "NOT_FOUND" });
    clock.seconds(601);
    expect(await book(BOB, quote)).toMatchObject({ quantity: 2 });
    expect(await sold()).toBe(2);
    expect(await everything(engine)).not.toContain(`"holder":"${ownerPartition(ALICE)}"`);
  });

  test("its seats are seen to be free after ten minutes", async () => {
    await abandon(ALICE);
    clock.seconds(601);
    expect(await sold()).toBe(0);
  });

  test("keeps its booking where only the seats had not heard of it", async () => {
    const quote = await quoteOf(ALICE, { quantity: 7 });
    engine.crashBefore(4);
    await expect(book(ALICE, quote)).rejects.toThrow("crashed");
    clock.seconds(601);
    await expect(book(BOB, await quoteOf(BOB))).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect([await sold(), (await bookings.list(ALICE)).length]).toEqual([7, 1]);
  });

  test("gives cancelled seats back after ten minutes where they had not heard of it", async () => {
    const { id } = await book(ALICE, await quoteOf(ALICE, { quantity: 7 }));
    engine.crashAfter(2);
    await expect(bookings.cancel(ALICE, id, NOW)).rejects.toThrow("crashed");
    expect(await sold()).toBe(7);
    clock.seconds(601);
    expect(await book(BOB, await quoteOf(BOB))).toMatchObject({ quantity: 2 });
    expect(await sold()).toBe(2);
  });

  test("and comes back after its seats went to another has no booking without seats", async () => {
    const quote = await quoteOf(ALICE, { quantity: 7 });
    const held = engine.holdBefore(3);
    const late = book(ALICE, quote);
    await held.reached;
    clock.seconds(601);
    expect(await book(BOB, await quoteOf(BOB))).toMatchObject({ quantity: 2 });
    held.release();
    await expect(late).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("Only 5 seats") });
    expect([await sold(), await bookings.list(ALICE)]).toEqual([2, []]);
  });

  test("leaves nothing of the guest behind an erasure, nor behind the quote", async () => {
    await abandon(ALICE);
    await bookings.erase(ALICE);
    expect(await sold()).toBe(0);
    const quote = await abandon(BOB);
    await bookings.addQuote(BOB, DRAFT, new Date(Date.parse(quote.expiresAt) + 1));
    expect(await sold()).toBe(0);
    for (const owner of [ALICE, BOB]) expect(await everything(engine)).not.toContain(`"holder":"${ownerPartition(owner)}"`);
  });
});

describe("an erasure", () => {
  test("leaves no name, reference or hash of the guest; the seats stay sold", async () => {
    const one = await book(ALICE, await quoteOf(ALICE));
    await book(BOB, await quoteOf(BOB));
    for (let at = 0; at < 150; at++) await quoteOf(ALICE, { sessionId: `session-${at}` });
    expect(await everything(engine)).toContain(ownerHash(ALICE));
    expect(await bookings.erase(ALICE)).toBe(152);
    expect([await bookings.residue(ALICE), await sold()]).toEqual([0, 4]);
    const left = await everything(engine);
    for (const personal of [ownerHash(ALICE), one.reference ?? "", "session-"]) expect(left).not.toContain(personal);
    expect(left.split("Emma")).toHaveLength(3);
  });

  test("that raises the epoch while a booking is made leaves neither the booking nor its sale", async () => {
    const quote = await quoteOf(ALICE);
    const held = engine.holdBefore(3);
    const late = book(ALICE, quote);
    await held.reached;
    await engine.erase(ownerPartition(ALICE));
    held.release();
    await expect(late).rejects.toMatchObject({ code: "OWNER_ERASED" });
    expect([await sold(), await bookings.residue(ALICE)]).toEqual([0, 0]);
    expect(await everything(engine)).not.toContain(ownerHash(ALICE));
  });
});

test("an id or reference of a file is no part of a key", async () => {
  const booking = await book(ALICE, await quoteOf(ALICE));
  const odd = { ...booking, id: "../\u0000/~0001", eventId: "a / b", reference: "MD-\u0000" };
  expect(await bookings.restore(BOB, [odd])).toBe(1);
  expect(await bookings.get(BOB, odd.id)).toEqual(odd);
  expect((await everything(engine)).split("\n").map((line) => line.split(" ")[0])).not.toContainEqual(expect.stringContaining("~"));
  await bookings.erase(BOB);
  expect(await bookings.restore(ALICE, [odd])).toBe(1);
});

test("a booking that is taken back from a file and handed over stays without happenings, and can be cancelled", async () => {
  const booking = await book(ALICE, await quoteOf(ALICE));
  await bookings.erase(ALICE);
  await bookings.restore(ALICE, [booking]);
  await bookings.handOver(ALICE, BOB, { ids: [booking.id], sessions: new Map() });
  expect(await kinds(BOB)).toEqual([]);
  await bookings.cancel(BOB, booking.id, NOW);
  expect([await sold(), await kinds(BOB)]).toEqual([0, ["cancelled"]]);
});

test("more bookings than fit into one commit are handed over in their order", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 45; at++) ids.push((await book(ALICE, await quoteOf(ALICE, { eventId: `e${at}`, quantity: 1 }), `c${at}`)).id);
  await bookings.handOver(ALICE, BOB, { ids, sessions: new Map([["s", "t"]]) });
  expect((await bookings.happened(BOB, 0)).map(({ booking_id }) => booking_id)).toEqual(ids);
  expect([await bookings.residue(ALICE), (await bookings.quotesSince(BOB, "t", 0)).length]).toEqual([1, 45]);
});

/** What is done, and how all is once it was done, however often it was begun. */
interface Case {
  readonly prepare: () => Promise<string>;
  readonly run: (seller: EngineBookings, id: string) => Promise<unknown>;
  readonly outcome: (id: string) => Promise<unknown>;
  readonly expected: unknown;
}

const booked = async () => (await book(ALICE, await quoteOf(ALICE), "before")).id;
let quote: Quote;
const CASES: Readonly<Record<string, Case>> = {
  book: {
    prepare: async () => {
      quote = await quoteOf(ALICE);
      return "";
    },
    run: (seller) => book(ALICE, quote, "c", seller),
    outcome: async () => [
      await sold(),
      (await bookings.list(ALICE)).map(({ status, quantity }) => [status, quantity]),
      await kinds(ALICE),
      (await bookings.quotesSince(ALICE, "s", 0)).map(({ bookingId }) => bookingId !== null),
    ],
    expected: [2, [["confirmed", 2]], ["booked"], [true]],
  },
  cancel: {
    prepare: booked,
    run: (seller, id) => seller.cancel(ALICE, id, NOW),
    outcome: async () => [await sold(), (await bookings.list(ALICE)).map(({ status }) => status), await kinds(ALICE)],
    expected: [0, ["cancelled"], ["booked", "cancelled"]],
  },
  handOver: {
    prepare: async () => {
      await book(BOB, await quoteOf(BOB), "bobs");
      const id = await booked();
      await quoteOf(ALICE);
      return id;
    },
    run: (seller, id) => seller.handOver(ALICE, BOB, { ids: [id], sessions: new Map([["s", "merged"]]) }),
    outcome: async (id) => {
      const before = [await bookings.list(ALICE), await kinds(ALICE), await kinds(BOB), await sold()];
      const call = { ...CALL, sessionId: "merged", callId: "before" };
      const again = await bookings.book(BOB, await bookings.addQuote(BOB, DRAFT, NOW), call, SEATS, NOW);
      await bookings.cancel(BOB, id, NOW);
      return [...before, (await bookings.quotesSince(BOB, "merged", 0)).length, again.id === id, await sold()];
    },
    expected: [[], [], ["booked", "booked"], 4, 2, true, 2],
  },
  erase: {
    prepare: async () => {
      await quoteOf(ALICE);
      return booked();
    },
    run: (seller) => seller.erase(ALICE),
    outcome: async () => [await sold(), await bookings.residue(ALICE), (await everything(engine)).includes(ownerHash(ALICE))],
    expected: [2, 0, false],
  },
  restore: {
    prepare: async () => {
      const id = await booked();
      restored = await bookings.list(ALICE);
      await bookings.erase(ALICE);
      return id;
    },
    run: (seller) => seller.restore(ALICE, restored),
    outcome: async () => [
      (await bookings.list(ALICE)).length,
      await bookings.residue(ALICE),
      await sold(),
      await bookings.restore(BOB, restored),
      await bookings.erase(ALICE),
    ],
    expected: [1, 1, 2, 0, 1],
  },
};
let restored: Awaited<ReturnType<EngineBookings["list"]>> = [];

describe.each(Object.entries(CASES))("%s, at each of its commits", (name, { prepare, run, outcome, expected }) => {
  /** The case with the fault at every commit in turn, until there are no more. Answers how many there were. */
  async function atEach(fault: (at: number) => void, settle: (id: string) => Promise<void>): Promise<number> {
    for (let at = 1; ; at++) {
      clock = new TestClock();
      engine = new FaultyEngine(new MemoryEngine({ clock }));
      bookings = new EngineBookings(engine);
      const id = await prepare();
      fault(at);
      await settle(id);
      const met = !engine.waits;
      engine.heal();
      if (!met) return at - 1;
      expect(await outcome(id), `fault at commit ${at}`).toEqual(expected);
    }
  }
  const least = { book: 4, cancel: 3, handOver: 5, erase: 3, restore: 5 }[name] ?? 1;

  test("a reply that is lost changes nothing", async () => {
    const commits = await atEach(
      (at) => engine.loseReply(at),
      async (id) => {
        await run(bookings, id);
      },
    );
    expect(commits).toBeGreaterThanOrEqual(least);
  });

  test.each(["before", "after"] as const)("a process that dies %s it, and the same call again, come to the same", async (when) => {
    const commits = await atEach(
      (at) => (when === "before" ? engine.crashBefore(at) : engine.crashAfter(at)),
      async (id) => {
        await run(bookings, id).catch((error: unknown) => expect(error).toMatchObject({ message: "crashed" }));
        if (!engine.waits) await run(new EngineBookings(engine), id);
      },
    );
    expect(commits).toBeGreaterThanOrEqual(least);
  });
});
