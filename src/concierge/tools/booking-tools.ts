import { z } from "zod";
import { AppError } from "../../platform/errors.js";
import type { Tool } from "../../ports/agent.js";
import type { Booking } from "../booking-rows.js";
import type { BookingStore, TurnOfSession } from "../booking-store.js";
import { standsIn } from "../consent.js";
import { bookingLine, bookingReceipt } from "../presentation.js";

const listInput = z.strictObject({ include_past: z.boolean().optional().describe("also past and cancelled ones") });

export function listBookings(bookings: BookingStore): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_bookings",
    description: "The guest's bookings, by date.",
    parameters: listInput,
    run: async (input, { owner, now }) => {
      const all = await bookings.list(owner);
      const shown = input.include_past === true ? all : all.filter((each) => each.status === "confirmed" && new Date(each.startsAt) > now);
      return { output: { bookings: shown.map(bookingLine) }, elements: shown.map(bookingReceipt) };
    },
  };
}

const cancelInput = z.strictObject({
  booking_id: z.string().min(1).max(64).describe("or its reference"),
  asked: z.string().min(1).max(500).optional().describe("the guest's words in this message that ask for it; not when they hesitate"),
});

/** A question of more turns ago is asked again. */
const ANSWERABLE_TURNS = 3;

/**
 * Like a booking, a cancellation needs the guest's own words of this turn, which the model names, and they are about this booking: they
 * name it by its reference or title, or answer the question of an earlier turn whether to cancel it. Which one "the brunch" is, a model
 * guesses: the guest is asked.
 */
export function cancelBooking(bookings: BookingStore): Tool<z.infer<typeof cancelInput>> {
  return {
    name: "cancel_booking",
    description:
      "Cancels a booking that the guest asks to cancel; where they have not named it, tells what would be cancelled, to be asked.",
    parameters: cancelInput,
    run: async (input, { owner, sessionId, turn, userMessage, now }) => {
      const booking = await bookings.get(owner, input.booking_id);
      if (booking.status === "cancelled") return { output: bookingLine(booking), elements: [bookingReceipt(booking)] };
      if (new Date(booking.startsAt) <= now)
        throw new AppError("NOT_FOUND", { detail: "This event has begun or is over; it can't be cancelled.", hint: "Tell the guest so." });
      const isMeant =
        names(userMessage.content, booking) || answers({ sessionId, turn }, await bookings.cancellationAsked(owner, booking.id));
      if (!isMeant || !standsIn(input.asked, userMessage.content)) {
        await bookings.askCancellation(owner, booking.id, { sessionId, turn });
        return {
          output: {
            ...bookingLine(booking),
            status: "needs_confirmation",
            ask: "Name this booking to the guest and ask whether to cancel it. Only their next words can confirm it.",
          },
        };
      }
      const cancelled = await bookings.cancel(owner, booking.id, now);
      return { output: bookingLine(cancelled), elements: [bookingReceipt(cancelled)] };
    },
  };
}

/** By its reference, or by its whole title. */
function names(message: string, { reference, title }: Booking): boolean {
  return standsIn(reference ?? undefined, message) || standsIn(title, message);
}

function answers({ sessionId, turn }: TurnOfSession, asked: TurnOfSession | null): boolean {
  return asked !== null && asked.sessionId === sessionId && asked.turn < turn && turn - asked.turn <= ANSWERABLE_TURNS;
}
