import {
  agreesToKeep,
  asksOnlyToCancel,
  besidesDroppingOut,
  callThen,
  contentWords,
  deniesCancelling,
  dropsOut,
  failureOf,
  NOTHING_CANCELLED,
  onlyDeniesCancelling,
  ordinalIn,
  readReply,
  say,
  speaksOfCancelling,
} from "@maitred/offline";
import type { ScriptMove, ScriptView } from "maitred";
import { standsIn } from "maitred/domain";
import { MAX_QUOTED_CHARS } from "./booking-moves.js";
import { bookingIn, bookingsIn, offeredCancellation, openQuote, type ShownBooking } from "./past.js";
import * as replies from "./replies.js";

/** Cancellations, as moves. */

const WHICH = "Which one shall I cancel?";

/** What the guest says of a cancellation; undefined where they speak of none. */
export function cancellation(view: ScriptView): ScriptMove | undefined {
  const offered = offeredCancellation(view);
  const { yes, no, partly } = readReply(view.message);
  if (dropsOut(view.message) && !speaksOfCancelling(besidesDroppingOut(view.message))) return undefined;
  const agreed = yes || asksOnlyToCancel(view.message);
  if (offered !== undefined && (agreed || partly || agreesToKeep(view.message))) return cancelById(view, offered, { agreed });
  const denies = deniesCancelling(view.message);
  if (offered !== undefined && (denies || (no && !speaksOfCancelling(view.message)))) return say("Understood, the booking stays as it is.");
  if (denies) return onlyDeniesCancelling(view.message) && openQuote(view) === undefined ? say(NOTHING_CANCELLED) : undefined;
  const chooses = view.window.at(-1)?.assistant.endsWith(WHICH) === true && ordinalIn(view.message) !== undefined;
  return chooses || speaksOfCancelling(view.message) ? cancel(view) : undefined;
}

function cancel(view: ScriptView): ScriptMove {
  // "Cancel that" while a quote waits: nothing is booked yet.
  if (openQuote(view) !== undefined && !/\bbooking|reservation|MD-/i.test(view.message)) return say("Understood, nothing is booked.");
  const listed = view.observations.findLast(({ name }) => name === "list_bookings");
  if (listed === undefined || failureOf(listed) !== undefined) return callThen(view, { name: "list_bookings", arguments: {} }, () => "");
  const bookings = bookingsIn(listed.output);
  const place = ordinalIn(view.message);
  if (bookings.length === 0) return say("You have no bookings that could be cancelled.");
  const one = place === undefined ? meantBooking(view.message, bookings) : bookings.at(place);
  if (one !== undefined) return cancelById(view, one.booking_id, { agreed: ordersThis(view.message, one) });
  const [only, another] = bookings;
  if (only !== undefined && another === undefined && place === undefined) return cancelById(view, only.booking_id, { only: true });
  return say(`${place === undefined ? "" : "There is no such number.\n"}${replies.bookingsReply(bookings)}\n\n${WHICH}`);
}

/** `agreed`: they want this one. `only`: the words name none, and there is no other. */
function cancelById(view: ScriptView, id: string, { agreed = false, only = false } = {}): ScriptMove {
  const asks = agreed && !readReply(view.message).partly;
  const asked = asks ? { asked: view.message.slice(0, MAX_QUOTED_CHARS) } : {};
  return callThen(view, { name: "cancel_booking", arguments: { booking_id: id, ...asked } }, (output) => {
    const booking = bookingIn(output);
    if (booking === undefined) return "The booking could not be read.";
    if (booking.status === "cancelled") return `Cancelled: ${replies.bookingLine(booking)}`;
    return only
      ? `You have one booking: ${replies.bookingLine(booking)}\nShall I cancel it?`
      : `Shall I cancel this booking? ${replies.bookingLine(booking)}`;
  });
}

/**
 * A booking is named by all of its name, by an order and nothing else: "the haircut in Liffey Street" shares a word with one and is none,
 * and "I heard that it was cancelled" wants nothing cancelled.
 */
function ordersThis(message: string, { reference, title }: ShownBooking): boolean {
  const names = [title, reference ?? ""].filter((name) => standsIn(name, message));
  return names.length > 0 && asksOnlyToCancel(message, names);
}

/** The one that the words name: by reference, title, place or day. */
function meantBooking(message: string, bookings: readonly ShownBooking[]): ShownBooking | undefined {
  const said = contentWords(message);
  const named = bookings.filter(({ reference, title, venue, city, day }) =>
    contentWords(`${reference ?? ""} ${title} ${venue} ${city} ${day}`).some((word) => word !== "md" && said.includes(word)),
  );
  const [one, another] = named;
  return another === undefined ? one : undefined;
}
