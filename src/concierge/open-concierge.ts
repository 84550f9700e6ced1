import { ConstraintGate, type ReadNow, type WrittenBack } from "../gate/constraint-gate.js";
import offRecord from "../languages/off-record.json" with { type: "json" };
import type { Logger } from "../platform/logger.js";
import { phrasesIn } from "../platform/phrase-list.js";
import type { AnyTool, Domain, DomainRecords } from "../ports/agent.js";
import type { StandingNeeds } from "../ports/memories.js";
import { bookingsOf, recordOf } from "./booking-records.js";
import type { BookingStore } from "./booking-store.js";
import { cardsAsNamed } from "./card-order.js";
import { Catalogue } from "./catalogue.js";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import { happeningOf } from "./happenings.js";
import { CONCIERGE_NEED_TALK } from "./need-talk.js";
import { CONCIERGE_NEEDS } from "./needs.js";
import { conciergeScript } from "./offline-script.js";
import { CONCIERGE_PROMPT } from "./prompt.js";
import { bookTickets } from "./tools/book-tickets.js";
import { cancelBooking, listBookings } from "./tools/booking-tools.js";
import { checkAvailability, getEvent, searchEvents } from "./tools/catalogue-tools.js";

export interface ConciergeOptions {
  readonly bookings: BookingStore;
  readonly needs: StandingNeeds;
  readonly writtenBack: WrittenBack;
  /** Default: the message of the turn itself is not read before it books. */
  readonly readNow?: ReadNow;
  readonly logger: Logger;
  /** Bound of the constraint gate's own read, in milliseconds. Default 2,000. */
  readonly gateReadMs?: number;
}

/** The example product: a catalogue, bookings, and a gate in front of them. */
export async function openConcierge(options: ConciergeOptions): Promise<Domain> {
  const { bookings } = options;
  const catalogue = new Catalogue();
  const gate = new ConstraintGate({
    needs: options.needs,
    writtenBack: options.writtenBack,
    logger: options.logger,
    ...(options.readNow !== undefined && { readNow: options.readNow }),
    ...(options.gateReadMs !== undefined && { readMs: options.gateReadMs }),
  });
  const tools: readonly AnyTool[] = [
    searchEvents({ catalogue, bookings }),
    getEvent({ catalogue, bookings }),
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
    needs: CONCIERGE_NEEDS,
    offRecord: phrasesIn(offRecord),
    needTalk: CONCIERGE_NEED_TALK,
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
