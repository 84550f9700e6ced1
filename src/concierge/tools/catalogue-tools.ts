import { z } from "zod";
import type { Tool } from "../../agent.js";
import { AppError } from "../../errors.js";
import type { Bookings } from "../bookings.js";
import { type Catalogue, type CatalogueEvent, filterEvents, HORIZON_DAYS } from "../catalogue.js";
import { eventCard, eventDetails, eventLine, eventSource, seatsLeft, sectionLine } from "../presentation.js";
import { ALL_GENRES, CITY_NAMES, DIETS, KINDS } from "../vocabulary.js";

export interface CatalogueParts {
  readonly catalogue: Catalogue;
  readonly bookings: Bookings;
}

const eventId = z.string().min(1).max(200).describe("event_id of a search result");

const searchInput = z.object({
  text: z.string().max(200).optional().describe("words of a title, artist, chef, team or venue"),
  kind: z.enum(KINDS).optional(),
  genre: z.enum(ALL_GENRES as [(typeof ALL_GENRES)[number], ...(typeof ALL_GENRES)[number][]]).optional(),
  city: z.enum(CITY_NAMES as [(typeof CITY_NAMES)[number], ...(typeof CITY_NAMES)[number][]]).optional(),
  from: z.iso.date().optional().describe("first day, YYYY-MM-DD, in the city's own time"),
  to: z.iso.date().optional().describe("last day, inclusive"),
  max_price_eur: z.number().nonnegative().optional().describe("per seat"),
  party_size: z.number().int().min(1).max(20).optional().describe("seats together in one section"),
  step_free: z.enum(["first", "only"]).optional().describe("`first`: step-free events lead the list; `only`: others are left out"),
  diet: z.enum(DIETS).optional().describe("dining with such a menu"),
  limit: z.number().int().min(1).max(20).optional().describe("default 5"),
});

export function searchEvents({ catalogue, bookings }: CatalogueParts): Tool<z.infer<typeof searchInput>> {
  return {
    name: "search_events",
    description: `Searches the catalogue: concerts, theatre, sport and dining in ${CITY_NAMES.join(", ")}, up to ${HORIZON_DAYS} days ahead, by start.`,
    parameters: searchInput,
    run: async (input, { now }) => {
      const found = filterEvents(catalogue.onSale(now), {
        ...input,
        stepFree: input.step_free,
        maxPriceCents: input.max_price_eur === undefined ? undefined : Math.round(input.max_price_eur * 100),
      }).filter((event) => event.sections.some((section) => seatsLeft(bookings, event, section) >= (input.party_size ?? 1)));
      const events = found.slice(0, input.limit ?? 5);
      return {
        output: { found: found.length, events: events.map(eventLine) },
        elements: events.map(eventCard),
        sources: events.map(eventSource),
      };
    },
  };
}

const getInput = z.object({ event_id: eventId });

export function getEvent({ catalogue, bookings }: CatalogueParts): Tool<z.infer<typeof getInput>> {
  return {
    name: "get_event",
    description: "Everything about one event: sections with prices, access, menu.",
    parameters: getInput,
    run: async (input) => {
      const event = eventOrThrow(catalogue, input.event_id);
      return { output: eventDetails(event, bookings), elements: [eventCard(event)], sources: [eventSource(event)] };
    },
  };
}

const availabilityInput = z.object({ event_id: eventId, quantity: z.number().int().min(1).max(20).optional().describe("default 1") });

export function checkAvailability({ catalogue, bookings }: CatalogueParts): Tool<z.infer<typeof availabilityInput>> {
  return {
    name: "check_availability",
    description: "Seats left and prices in each section of an event, at this moment.",
    parameters: availabilityInput,
    run: async (input, { now }) => {
      const event = eventOrThrow(catalogue, input.event_id);
      const quantity = input.quantity ?? 1;
      const sections = event.sections.map((section) => ({
        ...sectionLine(event, section, bookings),
        enough: seatsLeft(bookings, event, section) >= quantity,
        total_eur: (section.priceCents * quantity) / 100,
      }));
      return {
        output: { ...eventLine(event), quantity, on_sale: event.startsAt > now, sections },
        sources: [eventSource(event)],
      };
    },
  };
}

/** @throws NOT_FOUND */
export function eventOrThrow(catalogue: Catalogue, id: string): CatalogueEvent {
  const event = catalogue.byId(id);
  if (event === null)
    throw new AppError("NOT_FOUND", { detail: "There is no such event.", hint: "Use an event_id that search_events returned." });
  return event;
}
