import { join } from "node:path";
import { z } from "zod";
import type { AnyTool, Domain, DomainRecords } from "../agent.js";
import { AppError } from "../errors.js";
import type { LongTermMemory } from "../long-term.js";
import type { Logger } from "../platform/logger.js";
import { isDamage } from "../platform/sqlite.js";
import { type Booking, bookingSchema } from "./booking-rows.js";
import { Bookings } from "./bookings.js";
import { cardsAsNamed } from "./card-order.js";
import { Catalogue } from "./catalogue.js";
import { ConstraintGate, type WrittenBack } from "./constraint-gate.js";
import { conciergeScript } from "./offline-script.js";
import { CONCIERGE_PROMPT } from "./prompt.js";
import { bookTickets } from "./tools/book-tickets.js";
import { cancelBooking, listBookings } from "./tools/booking-tools.js";
import { checkAvailability, getEvent, searchEvents } from "./tools/catalogue-tools.js";

export interface ConciergeOptions {
  /** Where bookings.db is kept; null keeps bookings in memory. */
  readonly dir: string | null;
  readonly longTerm: Pick<LongTermMemory, "constraints">;
  readonly writtenBack: WrittenBack;
  readonly logger: Logger;
  /** Bound of the constraint gate's own read, in milliseconds. Default 2,000. */
  readonly gateReadMs?: number;
}

/** The example product: a catalogue, bookings, and a gate in front of them. @throws STORAGE_UNAVAILABLE */
export async function openConcierge(options: ConciergeOptions): Promise<Domain> {
  const bookings = openBookings(options.dir, options.logger);
  const catalogue = new Catalogue();
  const gate = new ConstraintGate({
    longTerm: options.longTerm,
    writtenBack: options.writtenBack,
    logger: options.logger,
    ...(options.gateReadMs !== undefined && { readMs: options.gateReadMs }),
  });
  const tools: readonly AnyTool[] = [
    searchEvents({ catalogue, bookings }),
    getEvent({ catalogue, bookings }),
    checkAvailability({ catalogue, bookings }),
    bookTickets({ catalogue, bookings, gate }),
    listBookings(bookings),
    cancelBooking(bookings),
  ];
  return {
    name: "concierge",
    prompt: CONCIERGE_PROMPT,
    tools,
    offline: conciergeScript,
    arrange: cardsAsNamed,
    records: bookingRecords(bookings),
    close: async () => bookings.close(),
  };
}

/** A damaged file is told and left as it is: the sales in it are the house's, and all but seats goes on without it. */
function openBookings(dir: string | null, logger: Logger): Bookings {
  const path = dir === null ? ":memory:" : join(dir, "bookings.db");
  try {
    return Bookings.open(path);
  } catch (cause) {
    if (isDamage(cause)) {
      logger.error({ path, err: cause }, "The bookings' file is damaged and left as it is: nothing can be searched or booked");
      return Bookings.unreadable();
    }
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: "bookings.db can't be opened.",
      hint: "Check that MEMORY_STORAGE_DIR can be written.",
      cause,
    });
  }
}

/** Sales are made anonymous by an erasure: the house must know that a seat is sold, not to whom. */
function bookingRecords(bookings: Bookings): DomainRecords {
  return {
    name: "bookings",
    async *export(owner) {
      for (const booking of bookings.list(owner)) yield { ...booking, companions: [...booking.companions] };
    },
    restore: async (owner, records) => bookings.restore(owner, parseRecords(records)),
    erase: async (owner) => bookings.erase(owner),
    residue: async (owner) => bookings.residue(owner),
  };
}

function parseRecords(records: readonly unknown[]): readonly Booking[] {
  const parsed = z.array(bookingSchema).safeParse(records);
  if (!parsed.success) throw new AppError("INVALID_IMPORT", { detail: "The bookings of this export can't be read." });
  return parsed.data;
}
