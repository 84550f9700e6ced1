import { z } from "zod";
import type { Observation, ScriptView } from "../../ports/offline-script.js";
import { Catalogue } from "../catalogue.js";
import { eventLine } from "../presentation.js";
import { readReply } from "../script/reply.js";

/** What the window's tool results tell: lists that were shown, quotes that wait, bookings that were made. */

const eventSchema = z.looseObject({
  event_id: z.string(),
  title: z.string(),
  artist: z.string().default(""),
  genre: z.string().default(""),
  venue: z.string(),
  city: z.string(),
  date: z.string(),
  day: z.string(),
  time: z.string(),
  from_price_eur: z.number(),
  step_free: z.boolean(),
  menus: z.array(z.string()).optional(),
});
export type ListedEvent = z.infer<typeof eventSchema>;

const catalogue = new Catalogue();
/** Of an earlier turn the id alone is told: what else the guest was shown is what the catalogue says. */
const shownSchema = z.string().transform((id, context) => {
  const event = catalogue.byId(id);
  if (event !== null) return eventSchema.parse(eventLine(event));
  context.addIssue({ code: "custom", message: "no such event" });
  return z.NEVER;
});
const listSchema = z.looseObject({ found: z.number(), events: z.array(z.union([eventSchema, shownSchema])) });

const bookingSchema = z.looseObject({
  booking_id: z.string(),
  reference: z.string().nullable(),
  title: z.string(),
  venue: z.string(),
  city: z.string(),
  day: z.string(),
  section: z.string(),
  quantity: z.number(),
  total_eur: z.number(),
  status: z.string(),
});
export type ListedBooking = z.infer<typeof bookingSchema>;
const bookingsSchema = z.looseObject({ bookings: z.array(bookingSchema) });

const quoteSchema = z.looseObject({
  status: z.enum(["needs_confirmation", "stopped"]),
  quote_id: z.string(),
  event_id: z.string(),
  title: z.string(),
  quantity: z.number(),
  companions: z.array(z.string()).default([]),
  unchecked: z.boolean().default(false),
  token: z.string().default(""),
  conflicts: z.array(z.looseObject({ memory_id: z.string() })).default([]),
  total: z.string().default("not known"),
});
export type ShownQuote = z.infer<typeof quoteSchema>;

function eventsOf(observation: Observation): readonly ListedEvent[] | undefined {
  const parsed = observation.name === "search_events" ? listSchema.safeParse(observation.output) : undefined;
  return parsed?.success === true ? parsed.data.events : undefined;
}

export function bookingsOf(observation: Observation): readonly ListedBooking[] | undefined {
  const parsed = observation.name === "list_bookings" ? bookingsSchema.safeParse(observation.output) : undefined;
  return parsed?.success === true ? parsed.data.bookings : undefined;
}

export function bookingOf(observation: Observation): ListedBooking | undefined {
  const parsed = bookingSchema.safeParse(observation.output);
  return parsed.success ? parsed.data : undefined;
}

/** Searches of one turn, as one list: what a guest saw numbered. */
export function mergeLists(observations: readonly Observation[]): readonly ListedEvent[] {
  const events = new Map<string, ListedEvent>();
  for (const observation of observations) for (const event of eventsOf(observation) ?? []) events.set(event.event_id, event);
  return [...events.values()].slice(0, 5);
}

/** The newest list that was shown. */
export function lastList(view: ScriptView): readonly ListedEvent[] {
  for (const round of view.window.toReversed()) {
    const list = mergeLists(round.observations);
    if (list.length > 0) return list;
  }
  return [];
}

/** What the guest has said from the newest list on, oldest first; nothing where there is none. */
export function saidSinceList(view: ScriptView): readonly string[] {
  const at = view.window.findLastIndex(({ observations }) => mergeLists(observations).length > 0);
  return at === -1 ? [] : view.window.slice(at).map(({ user }) => user);
}

/** The event that was spoken of by itself last: looked at, quoted, booked, or alone on a list. */
export function focus(view: ScriptView): string | undefined {
  for (const round of view.window.toReversed())
    for (const observation of round.observations.toReversed()) {
      const list = eventsOf(observation);
      if (list !== undefined) {
        if (list.length > 1) return undefined;
        if (list[0] !== undefined) return list[0].event_id;
      }
      const single = z.looseObject({ event_id: z.string() }).safeParse(observation.output);
      if (single.success) return single.data.event_id;
    }
  return undefined;
}

/**
 * A quote that waits for an answer: of the last rounds, not declined since, with nothing booked after it. A mere yes answers what was
 * asked last, so it is about the last round's quote or none.
 */
export function openQuote(view: ScriptView): ShownQuote | undefined {
  const { yes, order } = readReply(view.message);
  for (const round of view.window.slice(yes && !order ? -1 : -3).toReversed()) {
    const quoted = round.observations.findLast(({ name }) => name === "book_tickets");
    if (quoted !== undefined) return quoteSchema.safeParse(quoted.output).data;
    if (readReply(round.user).no) return undefined;
  }
  return undefined;
}

/** A cancellation that was offered in the last round and waits for a yes. */
export function offeredCancellation(view: ScriptView): string | undefined {
  const last = view.window.at(-1)?.observations.at(-1);
  const parsed = z.looseObject({ status: z.literal("needs_confirmation"), booking_id: z.string() }).safeParse(last?.output);
  return last?.name === "cancel_booking" && parsed.success ? parsed.data.booking_id : undefined;
}

/** Bookings that were listed in the last round. */
export function lastBookings(view: ScriptView): readonly ListedBooking[] {
  for (const observation of view.window.at(-1)?.observations.toReversed() ?? []) {
    const list = bookingsOf(observation);
    if (list !== undefined) return list;
  }
  return [];
}

/** The booking that was made in the last rounds, if any. */
export function lastBooked(view: ScriptView): string | undefined {
  for (const round of view.window.slice(-3).toReversed())
    for (const observation of round.observations.toReversed()) {
      const parsed = z.looseObject({ status: z.literal("booked"), booking_id: z.string() }).safeParse(observation.output);
      if (observation.name === "book_tickets" && parsed.success) return parsed.data.booking_id;
    }
  return undefined;
}

/** Whether the last round showed one event by itself: a yes to it means that it is wanted. */
export function justShowedOne(view: ScriptView): boolean {
  const last = view.window.at(-1)?.observations.at(-1);
  return last?.name === "get_event" || (last !== undefined && eventsOf(last)?.length === 1);
}

/** The event that waits for a number of seats: its availability was the last thing looked at. */
export function awaitsQuantity(view: ScriptView): string | undefined {
  const last = view.window.at(-1)?.observations.at(-1);
  const parsed = z.looseObject({ event_id: z.string() }).safeParse(last?.output);
  return last?.name === "check_availability" && parsed.success ? parsed.data.event_id : undefined;
}
