import type { Conflict, Gate, Judge, Tool, ToolContext } from "maitred";
import { ANSWERABLE_TURNS, MaitredError, standsIn } from "maitred/domain";
import { z } from "zod";
import type { Booking } from "../booking-rows.js";
import type { BookingStore, TurnOfSession } from "../booking-store.js";
import type { Catalogue } from "../catalogue.js";
import { candidateOf } from "../need-check.js";
import { bookingLine, bookingReceipt } from "../presentation.js";

const listInput = z.strictObject({ include_past: z.boolean().optional().describe("also past and cancelled ones") });

export interface ListParts {
  readonly bookings: BookingStore;
  readonly catalogue: Catalogue;
  readonly gate: Gate;
}

/** Each with what it breaks of the needs of those who come: a need may have become known after it was booked, or in this message. */
export function listBookings({ bookings, catalogue, gate }: ListParts): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_bookings",
    description: "The guest's bookings, by date, each with what it `breaks` of the needs known by now: look here when the guest tells one.",
    parameters: listInput,
    run: async (input, context) => {
      const all = await bookings.list(context.owner);
      const ahead = all.filter((booking) => isAhead(booking, context.now));
      const shown = input.include_past === true ? all : ahead;
      const named = ahead.flatMap(({ companions }) => companions);
      const judge = ahead.length === 0 ? null : await gate.read(context, { toBook: true, named });
      const judged = shown.map((booking) => {
        const isJudged = judge !== null && ahead.includes(booking);
        return { booking, broken: isJudged ? brokenBy(booking, { judge, catalogue, context }) : [] };
      });
      const lines = judged.map(({ booking, broken }) => {
        const breaks = broken.map(({ need, because }) => `${need}. ${because}`);
        return { ...bookingLine(booking), ...(breaks.length > 0 && { breaks }) };
      });
      const used = judged.flatMap(({ broken }) => broken.map(({ memoryId }) => memoryId));
      return { output: { bookings: lines }, elements: shown.map(bookingReceipt), used };
    },
  };
}

/** The needs that a booking breaks, and why; not those that the guest passed over when they booked it. */
function brokenBy(
  { eventId, section: name, companions, quantity: size, waived }: Booking,
  { judge, catalogue, context }: { readonly judge: Judge; readonly catalogue: Catalogue; readonly context: ToolContext },
): readonly Conflict[] {
  const event = catalogue.byId(eventId);
  const section = event?.sections.find((each) => each.name === name);
  if (!event || section === undefined) return [];
  const party = { companions, absent: [], size, said: [], sessionId: context.sessionId };
  const passedOver = new Set(waived.map(({ memory_id }) => memory_id));
  return judge(candidateOf(event, section), party).conflicts.filter(({ memoryId }) => !passedOver.has(memoryId));
}

const cancelInput = z.strictObject({
  booking_id: z.string().min(1).max(64).describe("or its reference"),
  asked: z.string().min(1).max(500).optional().describe("the guest's words in this message that ask for it; not when they hesitate"),
});

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
        throw new MaitredError("NOT_FOUND", {
          detail: "This event has begun or is over; it can't be cancelled.",
          hint: "Tell the guest so.",
        });
      const ahead = (await bookings.list(owner)).filter((each) => isAhead(each, now));
      const isMeant =
        names(userMessage.content, booking, ahead) || answers({ sessionId, turn }, await bookings.cancellationAsked(owner, booking.id));
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

/** By its reference, or by its whole title where no other has it. */
function names(message: string, { id, reference, title }: Booking, ahead: readonly Booking[]): boolean {
  const isAlone = !ahead.some((other) => other.id !== id && other.title === title);
  return standsIn(reference ?? undefined, message) || (isAlone && standsIn(title, message));
}

function isAhead({ status, startsAt }: Booking, now: Date): boolean {
  return status === "confirmed" && new Date(startsAt) > now;
}

function answers({ sessionId, turn }: TurnOfSession, asked: TurnOfSession | null): boolean {
  return asked !== null && asked.sessionId === sessionId && asked.turn < turn && turn - asked.turn <= ANSWERABLE_TURNS;
}
