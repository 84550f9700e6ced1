import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "../../packages/concierge/src/booking-rows.js";
import { type BookingStore, QUOTE_MINUTES, type QuoteDraft, seatsKey } from "../../packages/concierge/src/booking-store.js";
import type { Owner } from "../../src/domain/owner.js";
import { ALICE, BOB } from "../support/journal-records.js";

const NOW = new Date("2026-03-01T10:00:00.000Z");
const LATER = new Date("2026-03-01T11:00:00.000Z");
const SEATS = { capacity: 10, taken: 3 };
const STALLS = seatsKey("e", "Stalls");

/** `sellers`: stores on the same bookings, as several processes have them. */
export function describeBookingStoreContract(
  name: string,
  make: () => Promise<{ readonly sellers: readonly [BookingStore, BookingStore]; dispose(): Promise<void> }>,
): void {
  describe(`bookings: ${name}`, () => {
    let made: Awaited<ReturnType<typeof make>>;
    let bookings: BookingStore;
    beforeEach(async () => {
      made = await make();
      [bookings] = made.sellers;
    });
    afterEach(() => made.dispose());

    const draft = (more: Partial<QuoteDraft> = {}): QuoteDraft => ({
      sessionId: "s",
      turn: 1,
      eventId: "e",
      title: "Jazz",
      venue: "Nebelhorn",
      city: "Hamburg",
      startsAt: "2026-03-12T19:00:00.000Z",
      section: "Stalls",
      quantity: 1,
      totalCents: 2_500,
      companions: ["Emma"],
      absent: [],
      mentioned: ["m"],
      stop: { unchecked: false, memoryIds: ["m"], token: "t" },
      waived: [{ memory_id: "m", how: "override", at: NOW.toISOString() }],
      ...more,
    });
    const book = async (owner: Owner, callId: string, more: Partial<QuoteDraft> = {}, seller = bookings) =>
      seller.book(owner, await seller.addQuote(owner, draft(more), NOW), { sessionId: "s", turn: 2, callId }, SEATS, NOW);
    const sold = async () => (await bookings.sold(["e", "of which nothing is sold"])).get(STALLS) ?? 0;

    test("two processes that sell the last seats at once sell no more than there are", async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) => book(index % 3 === 0 ? ALICE : BOB, `c${index}`, {}, made.sellers[index % 2])),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(7);
      expect(await sold()).toBe(7);
      expect((await bookings.list(ALICE)).length + (await bookings.list(BOB)).length).toBe(7);
    });

    test("whether to cancel a booking was last asked in a turn, as every process knows; nobody else's is there", async () => {
      const { id } = await book(ALICE, "a");
      const [, other] = made.sellers;
      expect(await other.cancellationAsked(ALICE, id)).toBeNull();
      for (const turn of [3, 5]) await bookings.askCancellation(ALICE, id, { sessionId: "s", turn });
      expect(await other.cancellationAsked(ALICE, id)).toEqual({ sessionId: "s", turn: 5 });
      await bookings.askCancellation(BOB, id, { sessionId: "s", turn: 6 });
      await expect(bookings.cancellationAsked(BOB, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(await other.cancellationAsked(ALICE, id)).toEqual({ sessionId: "s", turn: 5 });
      expect(await bookings.residue(BOB)).toBe(0);
    });

    test("a booking that doesn't fit leaves nothing behind; another section has seats of its own", async () => {
      await book(ALICE, "a", { quantity: 5 });
      await expect(book(ALICE, "b", { quantity: 3 })).rejects.toMatchObject({
        code: "NOT_FOUND",
        message: expect.stringContaining("Only 2 seats are left"),
      });
      expect(await bookings.list(ALICE)).toHaveLength(1);
      await book(ALICE, "c", { quantity: 7, section: "Bar" });
      expect([...(await bookings.sold(["e"]))].toSorted()).toEqual([
        [seatsKey("e", "Bar"), 7],
        [STALLS, 5],
      ]);
    });

    test("the same call or quote twice, at once or again, is one booking", async () => {
      const quote = await bookings.addQuote(ALICE, draft({ quantity: 2 }), NOW);
      const key = { sessionId: "s", turn: 2, callId: "c" };
      const [one, other] = await Promise.all(made.sellers.map(async (seller) => seller.book(ALICE, quote, key, SEATS, NOW)));
      expect(other).toEqual(one);
      expect(await bookings.book(ALICE, quote, { ...key, callId: "d" }, SEATS, NOW)).toEqual(one);
      const second = await bookings.addQuote(ALICE, draft(), NOW);
      expect(await bookings.book(ALICE, second, key, SEATS, NOW)).toEqual(one);
      expect(await sold()).toBe(2);
      expect(await bookings.list(ALICE)).toEqual([one]);
    });

    test("a quote is found by its session, the newest first, as it has become; one that has run out goes with the next", async () => {
      const first = await bookings.addQuote(ALICE, draft(), NOW);
      const second = await bookings.addQuote(ALICE, draft({ turn: 2 }), NOW);
      await bookings.addQuote(ALICE, draft({ sessionId: "another" }), NOW);
      await bookings.addQuote(BOB, draft(), NOW);
      const changed: Quote = { ...first, turn: 3, companions: [], absent: ["Emma"], stop: null, mentioned: [], waived: [] };
      await bookings.updateQuote(ALICE, changed);
      expect(await bookings.quotesSince(ALICE, "s", 1)).toEqual([changed, second]);
      expect(await bookings.quotesSince(ALICE, "s", 3)).toEqual([changed]);
      const booked = await bookings.book(ALICE, second, { sessionId: "s", turn: 4, callId: "c" }, SEATS, NOW);
      const late = new Date(NOW.getTime() + (QUOTE_MINUTES + 1) * 60_000);
      const third = await bookings.addQuote(ALICE, draft({ turn: 5 }), late);
      expect(await bookings.quotesSince(ALICE, "s", 1)).toEqual([third, { ...second, bookingId: booked.id }]);
    });

    test("a booking is found by id and reference, by its guest alone; a cancelled one gives its seats back, once", async () => {
      const booking = await book(ALICE, "c", { quantity: 2 });
      expect(await bookings.get(ALICE, ` ${booking.reference?.toLowerCase()} `)).toEqual(booking);
      const nobodys = { code: "NOT_FOUND" };
      await expect(async () => bookings.get(BOB, booking.id)).rejects.toMatchObject(nobodys);
      await expect(async () => bookings.cancel(BOB, booking.id, NOW)).rejects.toMatchObject(nobodys);
      expect(await sold()).toBe(2);
      const cancelled = await bookings.cancel(ALICE, booking.id, NOW);
      expect(cancelled).toEqual({ ...booking, status: "cancelled", cancelledAt: NOW.toISOString() });
      expect(await bookings.cancel(ALICE, booking.id, LATER)).toEqual(cancelled);
      expect(await sold()).toBe(0);
    });

    test("what happened is told in order, each once, from a cursor on", async () => {
      const first = await book(ALICE, "a");
      await book(BOB, "b");
      const second = await book(ALICE, "c", { sessionId: "t" });
      for (const at of [NOW, LATER]) await bookings.cancel(ALICE, first.id, at);
      const told = await bookings.happened(ALICE, 0);
      expect(told.map(({ booking_id, kind, at, session_id }) => [booking_id, kind, at, session_id])).toEqual([
        [first.id, "booked", NOW.toISOString(), "s"],
        [second.id, "booked", NOW.toISOString(), "s"],
        [first.id, "cancelled", NOW.toISOString(), "s"],
      ]);
      expect(await bookings.happened(ALICE, told[1]?.seq ?? 0)).toEqual(told.slice(2));
      expect(await bookings.happened(ALICE, told[2]?.seq ?? 0)).toEqual([]);
    });

    test("an erasure leaves the sale and not the guest; an export brings it back to them, once", async () => {
      const booking = await book(ALICE, "c", { quantity: 2 });
      const cancelled = await bookings.cancel(ALICE, (await book(ALICE, "d")).id, NOW);
      const bobs = await book(BOB, "c");
      expect(await bookings.erase(ALICE)).toBe(4);
      expect(await bookings.residue(ALICE)).toBe(0);
      expect(await bookings.list(ALICE)).toEqual([]);
      expect(await bookings.happened(ALICE, 0)).toEqual([]);
      expect(await sold()).toBe(3);
      expect(await bookings.list(BOB)).toEqual([bobs]);
      expect(await bookings.restore(ALICE, [{ ...booking, quantity: 3 }])).toBe(0);
      expect(await bookings.restore(ALICE, [booking, cancelled])).toBe(2);
      expect(await bookings.restore(ALICE, [booking, cancelled])).toBe(0);
      expect(await bookings.restore(BOB, [booking])).toBe(0);
      expect((await bookings.list(ALICE)).toSorted((a, b) => a.status.localeCompare(b.status))).toEqual([cancelled, booking]);
      expect(await sold()).toBe(3);
      await bookings.cancel(ALICE, booking.id, LATER);
      expect(await sold()).toBe(1);
    });

    test("a file can't sell seats, nor take somebody else's booking or reference", async () => {
      const bobs = await book(BOB, "b", { quantity: 2 });
      const stolen = { ...bobs, id: "00000000-0000-7000-8000-000000000002" };
      const invented = { ...bobs, id: "00000000-0000-7000-8000-000000000001", reference: "MD-INVENTED", quantity: 4 };
      expect(await bookings.restore(ALICE, [bobs, stolen, invented])).toBe(1);
      expect(await bookings.list(ALICE)).toEqual([invented]);
      await bookings.cancel(ALICE, invented.id, NOW);
      expect(await sold()).toBe(2);
      expect(await bookings.list(BOB)).toEqual([bobs]);
    });

    test("what is handed over is the other guest's with all that happened to it, once, and comes back the same way", async () => {
      const own = await book(BOB, "b");
      const booking = await book(ALICE, "a", { quantity: 2 });
      const kept = await book(ALICE, "k", { sessionId: "t" });
      await bookings.cancel(ALICE, booking.id, NOW);
      const open = await bookings.addQuote(ALICE, draft(), NOW);
      const there = { ids: [booking.id], sessions: new Map([["s", "merged"]]) };
      for (const _ of ["once", "again"]) await bookings.handOver(ALICE, BOB, there);
      expect((await bookings.list(BOB)).map(({ id }) => id).toSorted()).toEqual([own.id, booking.id].toSorted());
      expect(await bookings.list(ALICE)).toEqual([kept]);
      expect(await bookings.get(BOB, booking.reference ?? "")).toMatchObject({ id: booking.id, status: "cancelled" });
      expect((await bookings.happened(BOB, 0)).map(({ booking_id, kind }) => [booking_id, kind])).toEqual([
        [own.id, "booked"],
        [booking.id, "booked"],
        [booking.id, "cancelled"],
      ]);
      expect((await bookings.happened(BOB, 1)).map(({ session_id }) => session_id)).toEqual(["merged", "merged"]);
      expect(await bookings.quotesSince(BOB, "merged", 1)).toContainEqual({ ...open, sessionId: "merged" });
      const again = { sessionId: "merged", turn: 2, callId: "a" };
      const quote = await bookings.addQuote(BOB, draft(), NOW);
      expect(await bookings.book(BOB, quote, again, SEATS, NOW)).toMatchObject({ id: booking.id });
      await bookings.handOver(BOB, ALICE, { ids: [booking.id], sessions: new Map([["merged", "s"]]) });
      expect((await bookings.list(ALICE)).map(({ id }) => id).toSorted()).toEqual([booking.id, kept.id].toSorted());
      expect(await bookings.list(BOB)).toEqual([own]);
      expect((await bookings.happened(ALICE, 0)).map(({ kind }) => kind)).toEqual(["booked", "booked", "cancelled"]);
      expect(await bookings.quotesSince(ALICE, "s", 1)).toContainEqual(open);
    });

    test("a residue is what is kept of a guest", async () => {
      expect(await bookings.residue(ALICE)).toBe(0);
      await bookings.addQuote(ALICE, draft(), NOW);
      expect(await bookings.residue(ALICE)).toBeGreaterThan(0);
      expect(await bookings.residue(BOB)).toBe(0);
    });
  });
}
