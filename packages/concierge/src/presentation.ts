import type { Element, JsonObject, Source } from "maitred";
import type { Booking } from "./booking-rows.js";
import { seatsKey } from "./booking-store.js";
import { type CatalogueEvent, isStepFree, type Section, seatsTaken } from "./catalogue.js";
import { type FitMark, type HeldNeed, statedOfNeeds } from "./fit.js";
import { longDay, type ZoneClock, zoneClock } from "./local-time.js";
import { CITIES, type City } from "./vocabulary.js";

/** How events and bookings look to the model and to a client. */

/** `sold`: as bookings have it, by {@link seatsKey}. */
export function seatsLeft(sold: ReadonlyMap<string, number>, event: CatalogueEvent, section: Section): number {
  return Math.max(0, section.seats - seatsTaken(event, section) - (sold.get(seatsKey(event.id, section.name)) ?? 0));
}

/** In a list: what one chooses by, and what it states of `needs`. */
export function eventLine(event: CatalogueEvent, needs: readonly HeldNeed[] = []): JsonObject {
  return {
    event_id: event.id,
    title: event.title,
    ...(!event.title.includes(event.artist) && { artist: event.artist }),
    genre: event.genre,
    venue: event.venue,
    city: event.city,
    date: event.day,
    day: longDay(event.day),
    time: event.time,
    from_price_eur: Math.min(...event.sections.map((section) => section.priceCents)) / 100,
    step_free: isStepFree(event),
    ...(event.kitchen !== null && { menus: [...event.kitchen.diets] }),
    ...statedOfNeeds(needs),
  };
}

/** The same where many are found, in fewer words: within two months a day needs no year. */
export function foundLine(event: CatalogueEvent, needs: readonly HeldNeed[] = []): JsonObject {
  const { date: _, day, time, venue, city, ...line } = eventLine(event, needs);
  return { ...line, venue: `${venue}, ${city}`, starts: `${day}, ${time}` };
}

/** By itself: everything the catalogue knows. */
export function eventDetails(event: CatalogueEvent, sold: ReadonlyMap<string, number>, needs: readonly HeldNeed[]): JsonObject {
  return {
    ...eventLine(event, needs),
    kind: event.kind,
    starts_at: event.startsAt.toISOString(),
    sections: event.sections.map((section) => sectionLine(event, section, sold)),
    accessibility: { access: event.access, hearing_loop: event.hearingLoop, assistance_dogs: event.assistanceDogs },
    ...(event.kitchen !== null && {
      menu: {
        menus: [...event.kitchen.diets],
        can_be_served_without: [...event.kitchen.without],
        can_not_be_served_without: [...event.kitchen.contains],
      },
    }),
  };
}

export function sectionLine(event: CatalogueEvent, section: Section, sold: ReadonlyMap<string, number>): JsonObject {
  return {
    section: section.name,
    price_eur: section.priceCents / 100,
    seats_left: seatsLeft(sold, event, section),
    step_free: section.stepFree,
  };
}

export function bookingLine(booking: Booking): JsonObject {
  return {
    booking_id: booking.id,
    reference: booking.reference,
    event_id: booking.eventId,
    title: booking.title,
    venue: booking.venue,
    city: booking.city,
    starts_at: booking.startsAt,
    ...localStart(booking),
    section: booking.section,
    quantity: booking.quantity,
    total_eur: booking.totalCents / 100,
    companions: [...booking.companions],
    status: booking.status,
  };
}

/** `needs`: what must hold. `fit`: how it suits what is known. `seats`: how many were asked for. */
export function eventCard(
  event: CatalogueEvent,
  { needs, fit, seats }: { needs: readonly HeldNeed[]; fit: readonly FitMark[]; seats?: number | undefined },
): Element {
  const card = { ...eventLine(event, needs), fit, ...(seats !== undefined && { seats }) };
  return { id: `event:${event.id}`, type: "event_card", name: event.title, content: JSON.stringify(card), display: "inline" };
}

/** As the clocks of its city show it; UTC where the catalogue doesn't have the city. */
export function localStart({ startsAt, city }: Booking): JsonObject {
  const zone = Object.hasOwn(CITIES, city) ? CITIES[city as City] : "UTC";
  const clock = clocks.get(zone) ?? zoneClock(zone);
  clocks.set(zone, clock);
  const start = new Date(startsAt);
  const date = clock.dayOf(start);
  const wall = new Date(start.getTime() + clock.offsetMinutes(start) * 60_000);
  return { date, day: longDay(date), time: wall.toISOString().slice(11, 16) };
}

const clocks = new Map<string, ZoneClock>();

export function bookingReceipt(booking: Booking): Element {
  const content = JSON.stringify(bookingLine(booking));
  return { id: `booking:${booking.id}`, type: "booking_receipt", name: booking.reference ?? booking.title, content, display: "inline" };
}

export function eventSource(event: CatalogueEvent): Source {
  return { id: event.id, title: `${event.title}, ${event.venue}`, type: "event" };
}
