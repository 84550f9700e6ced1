import { describe, expect, test } from "vitest";
import { Catalogue, filterEvents, isStepFree } from "../../packages/concierge/src/catalogue.js";
import { addDays, weekdayOf, zoneClock } from "../../packages/concierge/src/local-time.js";
import { PROGRAMME } from "../../packages/concierge/src/programme.js";
import { CITIES, CITY_NAMES, GENRES, KINDS } from "../../packages/concierge/src/vocabulary.js";

const catalogue = new Catalogue();
const DAYS = ["2026-01-01", "2026-03-28", "2026-07-15", "2026-10-24", "2026-12-30", "2027-02-28"].map(
  (day) => new Date(`${day}T09:00:00Z`),
);

describe("the catalogue", () => {
  test("offers at least sixty acts, of every kind and genre, in several cities", () => {
    expect(PROGRAMME.length).toBeGreaterThanOrEqual(60);
    expect(new Set(PROGRAMME.map(({ slug }) => slug)).size).toBe(PROGRAMME.length);
    expect(new Set(PROGRAMME.map(({ venue }) => venue.city))).toEqual(new Set(CITY_NAMES));
    for (const kind of KINDS) for (const genre of GENRES[kind]) expect(PROGRAMME.some((act) => act.genre === genre)).toBe(true);
  });

  test.each(DAYS)("on %s, every weekend ahead has several of every kind, and step-free jazz", (now) => {
    const onSale = catalogue.onSale(now);
    expect(onSale.length).toBeGreaterThanOrEqual(60);
    const today = now.toISOString().slice(0, 10);
    const saturday = addDays(today, (6 - weekdayOf(today) + 7) % 7);
    for (let week = 1; week < 7; week += 1) {
      const from = addDays(saturday, week * 7);
      const weekend = { from, to: addDays(from, 1) };
      for (const kind of KINDS) expect(filterEvents(onSale, { ...weekend, kind }).length).toBeGreaterThanOrEqual(2);
      expect(filterEvents(onSale, { ...weekend, genre: "jazz" }).filter(isStepFree).length).toBeGreaterThanOrEqual(3);
    }
  });

  test("is the same for the same time, and an event keeps its id and facts from day to day", () => {
    const [now, later] = [new Date("2026-03-10T09:00:00Z"), new Date("2026-03-12T09:00:00Z")];
    expect(new Catalogue().onSale(now)).toEqual(catalogue.onSale(now));
    const both = catalogue.onSale(later).filter(({ id }) => catalogue.onSale(now).some((event) => event.id === id));
    expect(both.length).toBeGreaterThan(100);
    for (const event of both) expect(catalogue.byId(event.id)).toEqual(event);
  });

  test("sells nothing that has begun", () => {
    const event = catalogue.byId("marta-vale-quartet-2026-03-14");
    const start = event?.startsAt ?? new Date(0);
    const ids = (now: Date) => catalogue.onSale(now).map(({ id }) => id);
    expect(ids(new Date(start.getTime() - 1))).toContain(event?.id);
    expect(ids(start)).not.toContain(event?.id);
  });

  test("knows no event that the programme never had", () => {
    for (const id of ["", "marta-vale-quartet", "marta-vale-quartet-2026-03-13", "marta-vale-quartet-2026-99-99", "__proto__-2026-03-14"])
      expect(catalogue.byId(id)).toBeNull();
  });

  test("times are the city's own, over the change of the clocks", () => {
    expect(catalogue.byId("marta-vale-quartet-2026-03-28")?.startsAt.toISOString()).toBe("2026-03-28T21:30:00.000Z");
    expect(catalogue.byId("marta-vale-quartet-2026-04-04")?.startsAt.toISOString()).toBe("2026-04-04T20:30:00.000Z");
    expect(catalogue.byId("ottilie-kern-2026-03-28")?.startsAt.toISOString()).toBe("2026-03-28T19:30:00.000Z");
    expect(catalogue.byId("ottilie-kern-2026-04-04")?.startsAt.toISOString()).toBe("2026-04-04T18:30:00.000Z");
    expect(zoneClock("not/a/zone").offsetMinutes(new Date())).toBe(0);
    expect(Object.values(CITIES).every((zone) => zoneClock(zone).dayOf(new Date("2026-12-31T23:59:59Z")).startsWith("202"))).toBe(true);
  });
});

describe("filters", () => {
  const onSale = catalogue.onSale(new Date("2026-03-11T09:00:00Z"));
  test("step-free first keeps all, and the order within", () => {
    const found = filterEvents(onSale, { genre: "jazz", stepFree: "first" });
    expect(found).toHaveLength(filterEvents(onSale, { genre: "jazz" }).length);
    const turn = found.findIndex((event) => !isStepFree(event));
    expect(turn).toBeGreaterThan(0);
    expect(found.slice(turn).some(isStepFree)).toBe(false);
  });
  test("a price is met by a section that fits: for step-free only, by a step-free one", () => {
    const cheap = filterEvents(onSale, { stepFree: "only", maxPriceCents: 1_500 });
    expect(cheap.length).toBeGreaterThan(0);
    for (const event of cheap) expect(event.sections.some((section) => section.stepFree && section.priceCents <= 1_500)).toBe(true);
  });
  test("text finds titles, artists and venues, without accents and by the beginnings of words", () => {
    for (const text of ["nuria solans", "NÚRIA", "gavina", "foghorn fiv"]) expect(filterEvents(onSale, { text }).length).toBeGreaterThan(0);
    expect(filterEvents(onSale, { text: "nobody of this name" })).toEqual([]);
  });
  test("a diet finds dining that serves it, and nothing else", () => {
    const found = filterEvents(onSale, { diet: "kosher" });
    expect(found.length).toBeGreaterThan(0);
    for (const event of found) expect(event.kitchen?.diets).toContain("kosher");
  });
});
