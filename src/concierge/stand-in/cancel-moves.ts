import type { ScriptMove, ScriptView } from "../../ports/offline-script.js";
import { asksToCancel, readReply } from "../script/reply.js";
import { ordinalIn } from "../script/words.js";
import { plain } from "../vocabulary.js";
import { callThen, isFailure, say } from "./moves.js";
import { bookingOf, bookingsOf, type ListedBooking, lastBooked, lastBookings, offeredCancellation, openQuote } from "./past.js";
import * as replies from "./replies.js";

/** Cancellations, as moves. */

/** What the tools take of the guest's words. */
const MAX_QUOTED_CHARS = 500;

export function cancel(view: ScriptView): ScriptMove {
  const quote = openQuote(view);
  const listed = view.observations.findLast(({ name }) => name === "list_bookings");
  const cancelled = view.observations.findLast(({ name }) => name === "cancel_booking");
  if (cancelled !== undefined) return cancelById(view, undefined);
  // "Cancel that" while a quote waits: nothing is booked yet.
  if (quote !== undefined && listed === undefined && !/\bbooking|reservation|MD-/i.test(view.message))
    return say("Understood, nothing is booked.");
  const before = lastBookings(view);
  const chosen = before.length > 0 ? chooseBooking(view, before) : undefined;
  if (chosen !== undefined) return cancelById(view, chosen.booking_id);
  const just = lastBooked(view);
  if (just !== undefined && /\b(?:it|that|this)\b/i.test(view.message) && listed === undefined) return cancelById(view, just);
  if (listed === undefined) return callThen(view, { name: "list_bookings", arguments: {} }, () => "");
  if (isFailure(listed)) return say(replies.failureReply(listed));
  const bookings = bookingsOf(listed) ?? [];
  const place = ordinalIn(view.message);
  if (place !== undefined && place >= bookings.length && bookings.length > 0)
    return say(`There is no such number.\n${replies.bookingsReply(bookings)}\n\nWhich one shall I cancel?`);
  const one = chooseBooking(view, bookings) ?? (bookings.length === 1 ? bookings[0] : undefined);
  if (one !== undefined) return cancelById(view, one.booking_id);
  return say(
    bookings.length === 0
      ? "You have no bookings that could be cancelled."
      : `${replies.bookingsReply(bookings)}\n\nWhich one shall I cancel?`,
  );
}

export function cancelById(view: ScriptView, id: string | undefined): ScriptMove {
  const asks = asksToCancel(view.message) || (offeredCancellation(view) !== undefined && readReply(view.message).yes);
  return callThen(
    view,
    { name: "cancel_booking", arguments: { booking_id: id ?? "", ...(asks && { asked: view.message.slice(0, MAX_QUOTED_CHARS) }) } },
    (seen) => {
      if (isFailure(seen)) return replies.failureReply(seen);
      const booking = bookingOf(seen);
      if (booking === undefined) return replies.failureReply(seen);
      return booking.status === "cancelled"
        ? `Cancelled: ${replies.bookingLine(booking)}.`
        : `Shall I cancel this booking? ${replies.bookingLine(booking)}`;
    },
  );
}

/** By reference, by place in the list, or by words of title, venue, city or day. */
function chooseBooking(view: ScriptView, bookings: readonly ListedBooking[]): ListedBooking | undefined {
  const words = plain(view.message);
  const byReference = bookings.find(({ reference }) => reference !== null && words.includes(reference.toLowerCase()));
  if (byReference !== undefined) return byReference;
  const place = ordinalIn(words);
  if (place !== undefined) return place === -1 ? bookings.at(-1) : bookings[place];
  const said = words.match(/[\p{L}]{4,}/gu) ?? [];
  const named = bookings.filter((booking) => {
    const own: readonly string[] = plain(`${booking.title} ${booking.venue} ${booking.city} ${booking.day}`).match(/[\p{L}]{4,}/gu) ?? [];
    return said.some((word) => own.includes(word));
  });
  return named.length === 1 ? named[0] : undefined;
}
