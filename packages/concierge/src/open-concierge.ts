import type { AnyTool, Domain, DomainParts, DomainRecords } from "maitred";
import { needTalkOf, OFF_RECORD } from "maitred/domain";
import { bookingsOf, recordOf } from "./booking-records.js";
import type { BookingStore } from "./booking-store.js";
import { BUDGET } from "./budget.js";
import { cardsAsNamed } from "./card-order.js";
import { Catalogue } from "./catalogue.js";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import { EngineBookings } from "./engine-bookings.js";
import { happeningOf } from "./happenings.js";
import { STATED_NEEDS } from "./need-check.js";
import { conciergeScript } from "./offline-script.js";
import { CONCIERGE_PROMPT } from "./prompt.js";
import { CONCIERGE_RECALL } from "./recall-table.js";
import { bookTickets } from "./tools/book-tickets.js";
import { cancelBooking, listBookings } from "./tools/booking-tools.js";
import { checkAvailability, getEvent, searchEvents } from "./tools/catalogue-tools.js";
import { CONCIERGE_WORDS } from "./words.js";

/** The example product: a catalogue and bookings, with the gate in front of them. */
export async function openConcierge({ engine, gate }: DomainParts): Promise<Domain> {
  const bookings = new EngineBookings(engine);
  const catalogue = new Catalogue();
  const tools: readonly AnyTool[] = [
    searchEvents({ catalogue, bookings, gate }),
    getEvent({ catalogue, bookings, gate }),
    checkAvailability({ catalogue, bookings }),
    bookTickets({ catalogue, bookings, gate }),
    listBookings({ bookings, catalogue, gate }),
    cancelBooking(bookings),
  ];
  return {
    name: "concierge",
    prompt: CONCIERGE_PROMPT,
    tools,
    categories: CONCIERGE_CATEGORIES,
    recall: CONCIERGE_RECALL,
    needs: STATED_NEEDS,
    limits: [BUDGET],
    offRecord: OFF_RECORD,
    needTalk: needTalkOf(CONCIERGE_WORDS.needs),
    offline: conciergeScript,
    arrange: cardsAsNamed,
    records: bookingRecords(bookings),
    close: async () => bookings.close(),
  };
}

/** Sales are made anonymous by an erasure: the house must know that a seat is sold, not to whom. */
function bookingRecords(bookings: BookingStore): DomainRecords {
  return {
    name: "bookings",
    async *export(owner) {
      for (const booking of await bookings.list(owner)) yield recordOf(booking);
    },
    async *happened(owner, after) {
      let cursor = after === null ? 0 : Number(after);
      for (;;) {
        const rows = await bookings.happened(owner, cursor);
        for (const row of rows) yield happeningOf(row, await bookings.get(owner, row.booking_id));
        const last = rows.at(-1);
        if (last === undefined) return;
        cursor = last.seq;
      }
    },
    restore: async (owner, records) => bookings.restore(owner, bookingsOf(records)),
    leftOut: async (owner, records) => {
      const own = new Set((await bookings.list(owner)).map(({ id }) => id));
      return bookingsOf(records).flatMap(({ id, reference }, at) =>
        own.has(id) ? [] : [{ at, detail: `Booking ${reference}: a sale is one user's, and its id or its reference is taken here` }],
      );
    },
    handOver: {
      ids: async (owner) => (await bookings.list(owner)).map(({ id }) => id),
      run: async (from, to, what) => bookings.handOver(from, to, what),
    },
    // Told in a receipt: a quote that was made on the way is no booking.
    erase: async (owner) => {
      const booked = await bookings.list(owner);
      await bookings.erase(owner);
      return booked.length;
    },
    residue: async (owner) => bookings.residue(owner),
  };
}
