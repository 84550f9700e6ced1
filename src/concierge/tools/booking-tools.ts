import { z } from "zod";
import { AppError } from "../../platform/errors.js";
import type { Tool } from "../../ports/agent.js";
import type { BookingStore } from "../booking-store.js";
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

/** Like a booking, a cancellation needs the guest's own words of this turn, which the model names. */
export function cancelBooking(bookings: BookingStore): Tool<z.infer<typeof cancelInput>> {
  return {
    name: "cancel_booking",
    description: "Cancels a booking that the guest asks to cancel; without `asked` it tells what would be cancelled.",
    parameters: cancelInput,
    run: async (input, { owner, userMessage, now }) => {
      const booking = await bookings.get(owner, input.booking_id);
      if (booking.status === "cancelled") return { output: bookingLine(booking), elements: [bookingReceipt(booking)] };
      if (new Date(booking.startsAt) <= now)
        throw new AppError("NOT_FOUND", { detail: "This event has begun or is over; it can't be cancelled.", hint: "Tell the guest so." });
      if (!standsIn(input.asked, userMessage.content))
        return {
          output: {
            ...bookingLine(booking),
            status: "needs_confirmation",
            ask: "Ask the guest whether to cancel this booking. Only the guest's own words can confirm it.",
          },
        };
      const cancelled = await bookings.cancel(owner, booking.id, now);
      return { output: bookingLine(cancelled), elements: [bookingReceipt(cancelled)] };
    },
  };
}
