import { createHash } from "node:crypto";
import { plain } from "maitred/stand-in";
import { addDays, weekdayOf, weekOf, type ZoneClock, zoneClock } from "./local-time.js";
import { type Act, type Kitchen, PROGRAMME } from "./programme.js";
import { needsOfEvent, needsOfSection, type StatedNeeds } from "./stated-needs.js";
import { CITIES, type City, type Diet, type Genre, type Kind, kindOf, type PartOfDay } from "./vocabulary.js";

/** How far ahead tickets are on sale. */
export const HORIZON_DAYS = 56;

export interface Section {
  readonly name: string;
  readonly priceCents: number;
  /** Seats that this product may sell. */
  readonly seats: number;
  readonly stepFree: boolean;
  /** Of this section; the house's are the event's. */
  readonly states: StatedNeeds;
}

export interface CatalogueEvent {
  /** `<act>-<day>`: the same event has the same id on every day it is on sale. */
  readonly id: string;
  readonly title: string;
  readonly artist: string;
  readonly kind: Kind;
  readonly genre: Genre;
  readonly venue: string;
  readonly city: City;
  /** Local to the city. */
  readonly day: string;
  readonly time: string;
  readonly startsAt: Date;
  readonly sections: readonly Section[];
  readonly access: string;
  readonly hearingLoop: boolean;
  readonly assistanceDogs: boolean;
  /** Dining only. */
  readonly kitchen: Kitchen | null;
  readonly states: StatedNeeds;
}

/** Seats in a section of an event: what the needs are held against. */
export interface Seats {
  readonly event: CatalogueEvent;
  readonly section: Section;
}

export interface EventFilter {
  readonly text?: string | undefined;
  readonly kind?: Kind | undefined;
  readonly genre?: Genre | undefined;
  readonly notGenres?: readonly string[] | undefined;
  readonly city?: City | undefined;
  /** Local days, inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly partOfDay?: PartOfDay | undefined;
  /** Of the cheapest section that fits, per seat. */
  readonly maxPriceCents?: number | undefined;
  readonly stepFree?: "first" | "only" | undefined;
  /** Dining only: other events have no menu and are left out. */
  readonly diet?: Diet | undefined;
}

/** The programme, laid out on the calendar. Deterministic in the time it is asked for. */
export class Catalogue {
  readonly #clocks: ReadonlyMap<string, ZoneClock> = new Map(Object.values(CITIES).map((zone) => [zone, zoneClock(zone)]));
  #laidOut: { readonly key: string; readonly events: readonly CatalogueEvent[] } = { key: "", events: [] };

  /** All that is on sale: from now to the horizon, by start. */
  onSale(now: Date): readonly CatalogueEvent[] {
    const key = [...this.#clocks.values()].map((clock) => clock.dayOf(now)).join();
    if (this.#laidOut.key !== key) this.#laidOut = { key, events: this.#layOut(now) };
    return this.#laidOut.events.filter((event) => event.startsAt > now);
  }

  /** An event by its id, on sale or over; null for an id that the programme never had. */
  byId(id: string): CatalogueEvent | null {
    const match = /^(.+)-(\d{4}-\d{2}-\d{2})$/.exec(id);
    const [slug, day] = [match?.[1], match?.[2]];
    if (slug === undefined || day === undefined || Number.isNaN(Date.parse(day))) return null;
    const act = PROGRAMME.find((each) => each.slug === slug);
    return act !== undefined && playsOn(act, day) ? eventOf(act, day, this.#clockOf(act)) : null;
  }

  #layOut(now: Date): readonly CatalogueEvent[] {
    return PROGRAMME.flatMap((act) => {
      const clock = this.#clockOf(act);
      const today = clock.dayOf(now);
      return Array.from({ length: HORIZON_DAYS }, (_, ahead) => addDays(today, ahead))
        .filter((day) => playsOn(act, day))
        .map((day) => eventOf(act, day, clock));
    }).sort((a, b) => a.startsAt.getTime() - b.startsAt.getTime() || (a.id < b.id ? -1 : 1));
  }

  #clockOf(act: Act): ZoneClock {
    const zone = CITIES[act.venue.city];
    return this.#clocks.get(zone) ?? zoneClock(zone);
  }
}

/** Keeps the order of `events`, but for `stepFree: "first"`. */
export function filterEvents(events: readonly CatalogueEvent[], filter: EventFilter): readonly CatalogueEvent[] {
  const found = events.filter(
    (event) =>
      (filter.kind === undefined || event.kind === filter.kind) &&
      (filter.genre === undefined || event.genre === filter.genre) &&
      filter.notGenres?.includes(event.genre) !== true &&
      (filter.city === undefined || event.city === filter.city) &&
      (filter.from === undefined || event.day >= filter.from) &&
      (filter.to === undefined || event.day <= filter.to) &&
      (filter.partOfDay === undefined || partOfDay(event) === filter.partOfDay) &&
      (filter.stepFree !== "only" || isStepFree(event)) &&
      (filter.diet === undefined || event.kitchen?.diets.includes(filter.diet) === true) &&
      (filter.maxPriceCents === undefined || fitting(event, filter).some((section) => section.priceCents <= (filter.maxPriceCents ?? 0))) &&
      (filter.text === undefined || matchesText(event, filter.text)),
  );
  if (filter.stepFree !== "first") return found;
  return [...found.filter(isStepFree), ...found.filter((event) => !isStepFree(event))];
}

function partOfDay({ time }: CatalogueEvent): PartOfDay {
  return time < "12:00" ? "morning" : time < "17:00" ? "afternoon" : "evening";
}

export function isStepFree(event: CatalogueEvent): boolean {
  return event.sections.some((section) => section.stepFree);
}

/** Of all houses, in lower case. */
export const SECTION_NAMES = [...new Set(PROGRAMME.flatMap(({ venue }) => venue.sections.map(({ name }) => name.toLowerCase())))];

export function sectionNamed(event: CatalogueEvent, name: string): Section | undefined {
  return event.sections.find((section) => plain(section.name) === plain(name));
}

/** Seats that others than this product's guests have taken: fixed for an event and section. */
export function seatsTaken(event: CatalogueEvent, section: Section): number {
  const byte = createHash("sha256").update(`${event.id}/${section.name}`).digest()[0] ?? 0;
  return Math.floor(section.seats * (0.1 + (0.75 * byte) / 255));
}

function fitting(event: CatalogueEvent, filter: EventFilter): readonly Section[] {
  return filter.stepFree === "only" ? event.sections.filter((section) => section.stepFree) : event.sections;
}

/** Every word of the text begins a word of the event's. */
function matchesText(event: CatalogueEvent, text: string): boolean {
  const words =
    plain(`${event.title} ${event.artist} ${event.venue} ${event.city} ${event.genre} ${event.kind}`).match(/[\p{L}\p{N}]+/gu) ?? [];
  return (plain(text).match(/[\p{L}\p{N}]+/gu) ?? []).every((wanted) => words.some((word) => word.startsWith(wanted)));
}

function playsOn(act: Act, day: string): boolean {
  return weekdayOf(day) === act.weekday && weekOf(day) % act.every === act.phase;
}

function eventOf(act: Act, day: string, clock: ZoneClock): CatalogueEvent {
  const { venue } = act;
  return {
    id: `${act.slug}-${day}`,
    title: act.title,
    artist: act.artist,
    kind: kindOf(act.genre),
    genre: act.genre,
    venue: venue.name,
    city: venue.city,
    day,
    time: act.time,
    startsAt: clock.instantOf(day, act.time),
    sections: venue.sections.map(({ name, factor, seats, stepFree }) => ({
      name,
      // Whole euros.
      priceCents: Math.round(act.priceEur * factor) * 100,
      seats,
      stepFree,
      states: needsOfSection(stepFree),
    })),
    access: venue.access,
    hearingLoop: venue.hearingLoop,
    assistanceDogs: venue.assistanceDogs,
    kitchen: act.kitchen,
    states: needsOfEvent(venue, act.kitchen),
  };
}
