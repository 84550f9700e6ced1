import type { Element, JsonObject, Source } from "../domain/session.js";
import type { Booking } from "./booking-rows.js";
import { seatsKey } from "./booking-store.js";
import { type CatalogueEvent, isStepFree, type Section, seatsTaken } from "./catalogue.js";
import { longDay } from "./local-time.js";

/** How events and bookings look to the model and to a client. */

/** `sold`: as bookings have it, by {@link seatsKey}. */
export function seatsLeft(sold: ReadonlyMap<string, number>, event: CatalogueEvent, section: Section): number {
  return Math.max(0, section.seats - seatsTaken(event, section) - (sold.get(seatsKey(event.id, section.name)) ?? 0));
}

export function euros(cents: number): string {
  return `€${cents % 100 === 0 ? cents / 100 : (cents / 100).toFixed(2)}`;
}

/** In a list: what one chooses by. */
export function eventLine(event: CatalogueEvent): JsonObject {
  return {
    event_id: event.id,
    title: event.title,
    artist: event.artist,
    genre: event.genre,
    venue: event.venue,
    city: event.city,
    date: event.day,
    day: longDay(event.day),
    time: event.time,
    from_price_eur: Math.min(...event.sections.map((section) => section.priceCents)) / 100,
    step_free: isStepFree(event),
    ...(event.kitchen !== null && { menus: [...event.kitchen.diets] }),
  };
}

/** By itself: everything the catalogue knows. */
export function eventDetails(event: CatalogueEvent, sold: ReadonlyMap<string, number>): JsonObject {
  return {
    ...eventLine(event),
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
    day: longDay(/(\d{4}-\d{2}-\d{2})$/.exec(booking.eventId)?.[1] ?? booking.startsAt.slice(0, 10)),
    section: booking.section,
    quantity: booking.quantity,
    total_eur: booking.totalCents / 100,
    companions: [...booking.companions],
    status: booking.status,
  };
}

export function eventCard(event: CatalogueEvent): Element {
  return { id: `event:${event.id}`, type: "event_card", name: event.title, content: JSON.stringify(eventLine(event)), display: "inline" };
}

export function bookingReceipt(booking: Booking): Element {
  const content = JSON.stringify(bookingLine(booking));
  return { id: `booking:${booking.id}`, type: "booking_receipt", name: booking.reference ?? booking.title, content, display: "inline" };
}

export function eventSource(event: CatalogueEvent): Source {
  return { id: event.id, title: `${event.title}, ${event.venue}`, type: "event" };
}
