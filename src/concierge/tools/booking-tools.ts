import { z } from "zod";
import type { Tool } from "../../agent.js";
import { AppError } from "../../errors.js";
import type { Bookings } from "../bookings.js";
import { bookingLine, bookingReceipt } from "../presentation.js";
import { asksToCancel, readReply } from "../reply.js";

/** A yes counts for a cancellation that was offered this many turns ago at most. */
const CONFIRMABLE_TURNS = 3;

const listInput = z.object({ include_past: z.boolean().optional().describe("also what is over or cancelled; default false") });

export function listBookings(bookings: Bookings): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_bookings",
    description: "The guest's own bookings, by date.",
    parameters: listInput,
    run: async (input, { owner, now }) => {
      const all = bookings.list(owner);
      const shown = input.include_past === true ? all : all.filter((each) => each.status === "confirmed" && new Date(each.startsAt) > now);
      return { output: { bookings: shown.map(bookingLine) }, elements: shown.map(bookingReceipt) };
    },
  };
}

const cancelInput = z.object({ booking_id: z.string().min(1).max(64).describe("booking_id or reference of list_bookings") });

/** Like a booking, a cancellation needs the guest's own words: a request to cancel, or a yes to the question. */
export function cancelBooking(bookings: Bookings): Tool<z.infer<typeof cancelInput>> {
  return {
    name: "cancel_booking",
    description: "Cancels one of the guest's bookings. Only when the guest has asked for it.",
    parameters: cancelInput,
    run: async (input, { owner, sessionId, turn, userMessage, now }) => {
      const booking = bookings.get(owner, input.booking_id);
      if (booking.status === "cancelled") return { output: bookingLine(booking), elements: [bookingReceipt(booking)] };
      if (new Date(booking.startsAt) <= now)
        throw new AppError("NOT_FOUND", { detail: "This event has begun or is over; it can't be cancelled.", hint: "Tell the guest so." });
      const offered = bookings.cancellationOffered(owner, booking.id, sessionId);
      const agreed = offered !== null && offered < turn && turn - offered <= CONFIRMABLE_TURNS && readReply(userMessage.content).yes;
      if (!agreed && !asksToCancel(userMessage.content)) {
        bookings.offerCancellation(owner, booking.id, sessionId, turn);
        return {
          output: {
            ...bookingLine(booking),
            status: "needs_confirmation",
            ask: "Ask the guest whether to cancel this booking. Only the guest's own words can confirm it.",
          },
        };
      }
      const cancelled = bookings.cancel(owner, booking.id, now);
      return { output: bookingLine(cancelled), elements: [bookingReceipt(cancelled)] };
    },
  };
}
