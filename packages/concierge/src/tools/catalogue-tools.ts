import type { Gate, JsonValue, Tool } from "maitred";
import { MaitredError, only, shorterList } from "maitred/domain";
import { z } from "zod";
import type { BookingStore } from "../booking-store.js";
import { type Catalogue, type CatalogueEvent, filterEvents, HORIZON_DAYS } from "../catalogue.js";
import { type FitMark, fitOf, needsHeld, statedOfNeeds } from "../fit.js";
import { eventCard, eventDetails, eventLine, eventSource, foundLine, seatsLeft, sectionLine } from "../presentation.js";
import { MAX_SEATS } from "../seats.js";
import { ALL_GENRES, CITY_NAMES, DIETS, KINDS, PARTS_OF_DAY } from "../vocabulary.js";

export interface CatalogueParts {
  readonly catalogue: Catalogue;
  readonly bookings: BookingStore;
}

export interface SearchParts extends CatalogueParts {
  readonly gate: Gate;
}

const eventId = z.string().min(1).max(200);

const searchInput = z.strictObject({
  text: z.string().max(200).optional().describe("title, artist, chef, team, venue"),
  kind: z.enum(KINDS).optional(),
  genre: z.enum(ALL_GENRES as [(typeof ALL_GENRES)[number], ...(typeof ALL_GENRES)[number][]]).optional(),
  not_genres: z.array(z.string().max(40)).max(10).optional(),
  city: z.enum(CITY_NAMES as [(typeof CITY_NAMES)[number], ...(typeof CITY_NAMES)[number][]]).optional(),
  from: z.iso.date().optional().describe("YYYY-MM-DD"),
  to: z.iso.date().optional().describe("inclusive"),
  part_of_day: z.enum(PARTS_OF_DAY).optional(),
  max_price_eur: z.number().nonnegative().optional(),
  party_size: z.number().int().min(1).max(MAX_SEATS).optional(),
  step_free: z.enum(["first", "only"]).optional().describe("first: these lead; only: no others"),
  diet: z.enum(DIETS).optional(),
  limit: z.number().int().min(1).max(20).optional(),
});

export function searchEvents({ catalogue, bookings, gate }: SearchParts): Tool<z.infer<typeof searchInput>> {
  return {
    name: "search_events",
    description: `Finds concerts, theatre, sport and dining of the next ${HORIZON_DAYS} days, by start; what \`breaks\` a known need last.`,
    parameters: searchInput,
    // The answer has told what the guest chooses by.
    recap: (output) => shorterList(output, "events", shorter),
    run: async (input, context) => {
      const { now, recalled = [] } = context;
      const fitting = filterEvents(catalogue.onSale(now), {
        ...input,
        notGenres: input.not_genres,
        partOfDay: input.part_of_day,
        stepFree: input.step_free,
        maxPriceCents: input.max_price_eur === undefined ? undefined : Math.round(input.max_price_eur * 100),
      });
      const sold = await bookings.sold(fitting.map(({ id }) => id));
      const found = fitting.filter((event) => event.sections.some((section) => seatsLeft(sold, event, section) >= (input.party_size ?? 1)));
      const judge = await gate.read(context, { toBook: false });
      const judged = found.map((event) => ({ event, needs: needsHeld(event, judge, context) }));
      const fits = ({ needs }: (typeof judged)[number]) => statedOfNeeds(needs).breaks === undefined;
      const first = [...judged.filter(fits), ...judged.filter((each) => !fits(each))].slice(0, input.limit ?? 5);
      const events = first.map((each) => ({ ...each, fit: fitOf(each.event, each.needs, recalled) }));
      return {
        output: {
          found: found.length,
          events: events.map(({ event, needs }) => foundLine(event, needs)),
          ...(found.length === 0 && nothingFound(input, now)),
        },
        elements: events.map(({ event, needs, fit }) => eventCard(event, { needs, fit, seats: input.party_size })),
        sources: events.map(({ event }) => eventSource(event)),
        used: events.flatMap(({ fit }) => markedBy(fit)),
      };
    },
  };
}

/** The memories that the marks of a card belong to. */
const markedBy = (fit: readonly FitMark[]) => fit.map(({ memory_id }) => memory_id);

/** Why nothing was found, where it isn't for want of events. */
function nothingFound({ text, to }: z.infer<typeof searchInput>, now: Date): { readonly hint?: string } {
  if (to !== undefined && to < now.toISOString().slice(0, 10)) return { hint: "What is past is not on sale." };
  if (text === undefined) return {};
  return {
    hint: "`text` looks in titles, artists, chefs, teams and venues, not for themes. Search without it, by kind, genre, city or day.",
  };
}

const getInput = z.strictObject({ event_id: eventId });

export function getEvent({ catalogue, bookings, gate }: SearchParts): Tool<z.infer<typeof getInput>> {
  return {
    name: "get_event",
    description: "All about one event: sections, prices, access, menu.",
    parameters: getInput,
    recap: (output) => only(output, "event_id"),
    run: async (input, context) => {
      const event = eventOrThrow(catalogue, input.event_id);
      const needs = needsHeld(event, await gate.read(context, { toBook: false }), context);
      const fit = fitOf(event, needs, context.recalled ?? []);
      return {
        output: eventDetails(event, await bookings.sold([event.id]), needs),
        elements: [eventCard(event, { needs, fit })],
        sources: [eventSource(event)],
        used: markedBy(fit),
      };
    },
  };
}

const availabilityInput = z.strictObject({
  event_id: eventId,
  quantity: z.number().int().min(1).max(MAX_SEATS).optional().describe("default 1"),
});

export function checkAvailability({ catalogue, bookings }: CatalogueParts): Tool<z.infer<typeof availabilityInput>> {
  return {
    name: "check_availability",
    description: "Seats left now, and prices, by section.",
    parameters: availabilityInput,
    // Seats are to be looked at anew.
    recap: (output) => only(output, "event_id", "quantity"),
    run: async (input, { now }) => {
      const event = eventOrThrow(catalogue, input.event_id);
      const quantity = input.quantity ?? 1;
      const sold = await bookings.sold([event.id]);
      const sections = event.sections.map((section) => ({
        ...sectionLine(event, section, sold),
        enough: seatsLeft(sold, event, section) >= quantity,
        total_eur: (section.priceCents * quantity) / 100,
      }));
      return {
        output: { ...eventLine(event), quantity, on_sale: event.startsAt > now, sections },
        sources: [eventSource(event)],
      };
    },
  };
}

/** Its id; where it breaks a need, that too: the guest may yet come back to it. */
function shorter(event: JsonValue): JsonValue {
  if (typeof event !== "object" || event === null || !("event_id" in event)) return event;
  return "breaks" in event ? only(event, "event_id", "breaks") : (event.event_id ?? null);
}

/** @throws NOT_FOUND */
export function eventOrThrow(catalogue: Catalogue, id: string): CatalogueEvent {
  const event = catalogue.byId(id);
  if (event === null)
    throw new MaitredError("NOT_FOUND", { detail: "There is no such event.", hint: "Use an event_id that search_events returned." });
  return event;
}

/** @throws NOT_FOUND */
export function yetToBegin({ startsAt }: CatalogueEvent, now: Date): void {
  if (startsAt <= now) throw new MaitredError("NOT_FOUND", { detail: "This event has begun or is over.", hint: "Search for a later one." });
}
