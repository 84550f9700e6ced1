import type { Mention, Owner, Verdict } from "maitred";
import type { BookingStore } from "../booking-store.js";
import type { CatalogueEvent } from "../catalogue.js";

/**
 * The verdict, and what the guest has booked of this event already. Who asks for the same once more may have forgotten, or says it twice:
 * they are told with the quote, and a yes to that books again.
 */
export async function withBookedBefore(
  verdict: Verdict,
  bookings: Pick<BookingStore, "list">,
  owner: Owner,
  event: Pick<CatalogueEvent, "id">,
): Promise<Verdict> {
  const before = (await bookings.list(owner)).filter(({ eventId, status }) => eventId === event.id && status === "confirmed");
  const told = before.map(({ id, quantity, section, reference }): Mention => {
    const seats = `${quantity} ${quantity === 1 ? "seat" : "seats"}`;
    const line = `You have already booked this: ${[seats, section, reference].join(", ")}. This would come on top of it.`;
    return { id: `booking:${id}`, along: false, line };
  });
  return { ...verdict, mentions: [...verdict.mentions, ...told] };
}
