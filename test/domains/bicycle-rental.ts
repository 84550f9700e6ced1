import { z } from "zod";
import { defineDomain, defineTool } from "../../src/index.js";

/** A bicycle workshop that also rents, as a stranger would describe it: three tools of which one binds, and one that takes back. */

const bikes = [
  { id: "city", name: "City bike Anna", at: "2030-03-04T09:00:00Z", stepThrough: true, childSeat: true, dogs: false, euros: 18 },
  { id: "e-bike", name: "E-bike Bolt", at: "2030-03-05T09:00:00Z", stepThrough: false, childSeat: true, dogs: true, euros: 45 },
  { id: "cargo", name: "Cargo bike Carl", at: "2030-03-06T09:00:00Z", stepThrough: true, childSeat: null, dogs: true, euros: 60 },
  { id: "road", name: "Road bike Dash", at: "2030-03-07T09:00:00Z", stepThrough: false, childSeat: false, dogs: false, euros: 30 },
] as const;
type Bike = (typeof bikes)[number];

const rented = new Map<string, readonly Bike[]>();
const of = (owner: string) => rented.get(owner) ?? [];
const named = (words: string) => bikes.filter(({ id }) => words.toLowerCase().includes(id));
const line = ({ name, euros }: Bike) => `${name}, €${euros}`;
const riders = z.array(z.string()).default([]).describe("who comes along, as they are named");

function category(
  name: string,
  description: string,
  type: "preference" | "constraint" | "fact",
  strength: "hard" | "soft",
  fixed: readonly string[],
  open: string,
  situations?: { readonly en: readonly string[]; readonly de: readonly string[] },
) {
  return { name, description, type, strength, fixed, open, ...(situations && { situations }) };
}

export default defineDomain({
  name: "bikes",
  prompt: "You look after the rentals of a bicycle workshop. Offer what the tools give.",
  languages: ["en", "de"],
  categories: [
    category("needs", "what must hold for somebody", "constraint", "hard", [], "the need"),
    category("riding", "where and how somebody likes to ride", "preference", "soft", [], "the way", {
      en: ["route", "tour", "ride"],
      de: ["strecke", "tour"],
    }),
    category("repairs", "what is done to somebody's own bicycle, and how", "preference", "soft", [], "the part", {
      en: ["repair", "brakes", "tyres"],
      de: ["reparatur", "bremsen", "reifen"],
    }),
    category("other", "anything else of lasting use", "fact", "soft", [], "what it is about"),
  ],
  needs: [
    {
      name: "step_through",
      description: "a low frame to step through",
      words: { en: ["step-through", "low frame"], de: ["tiefeinsteiger"] },
      states: (bike: Bike) => bike.stepThrough,
    },
    {
      name: "child_seat",
      description: "a child seat",
      words: { en: ["child seat"], de: ["kindersitz"] },
      states: (bike) => bike.childSeat ?? "unknown",
    },
    {
      name: "dog_trailer",
      description: "a trailer for a dog",
      words: { en: ["dog trailer"], de: ["hundeanhänger"] },
      states: (bike) => bike.dogs,
    },
    {
      name: "budget",
      description: "the most that a rental may cost, in euros",
      words: { en: ["euros", "budget"], de: ["euro", "budget"] },
      kind: "at_most",
      states: (bike) => bike.euros,
    },
  ],
  tools: [
    defineTool({
      name: "find_bikes",
      description: "Lists the bikes, each with what it `breaks` of the needs known.",
      parameters: z.object({ riders }),
      looksUp: { items: (found: readonly Bike[]) => found, for: (input) => input.riders },
      offline: { words: ["bikes", "räder"], input: (_, { companions }) => ({ riders: [...companions] }) },
      run: () => bikes,
    }),
    defineTool({
      name: "list_rentals",
      description: "The guest's own rentals, each with what it `breaks`.",
      parameters: z.object({}),
      looksUp: { items: (found: readonly Bike[]) => found, bound: true },
      offline: { words: ["my rentals", "bookings do i have", "meine buchungen"] },
      run: (_, { owner }) => of(owner),
    }),
    defineTool({
      name: "rent_bike",
      description: "Rents a bike.",
      parameters: z.object({ words: z.string(), riders }),
      binds: {
        what: "rental",
        items: ({ words }) => named(words),
        show: line,
        for: (input) => input.riders,
        startsAt: ({ at }) => new Date(at),
      },
      offline: { words: ["rent", "book", "miete"], input: (message, { companions }) => ({ words: message, riders: [...companions] }) },
      run: ({ words }, { owner }) => {
        rented.set(owner, [...of(owner), ...named(words)]);
        return { rented: named(words).map(line) };
      },
    }),
    defineTool({
      name: "cancel_rental",
      description: "Cancels a rental, by the guest's words for it.",
      parameters: z.object({ words: z.string() }),
      ends: { what: "rental", items: ({ words }, { owner }) => named(words).filter((bike) => of(owner).includes(bike)), show: line },
      offline: { words: ["cancel", "storniere"], input: (message) => ({ words: message }) },
      run: ({ words }, { owner }) => {
        const gone = named(words);
        rented.set(
          owner,
          of(owner).filter((bike) => !gone.includes(bike)),
        );
        return { cancelled: gone.map(line) };
      },
    }),
  ],
});
