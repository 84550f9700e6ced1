/** A restaurant, described once. `npx maitred serve --domain ./restaurant.ts` */
import { defineDomain, defineTool } from "maitred";
import { z } from "zod";

const tables = [
  { id: "fri-tasting", at: "2030-03-08T19:00:00Z", menu: "tasting menu", place: "cellar", nuts: true, fish: true, glutenFree: false },
  { id: "fri-garden", at: "2030-03-08T20:00:00Z", menu: "garden menu", place: "terrace", nuts: false, fish: false, glutenFree: false },
  { id: "sat-harbour", at: "2030-03-09T19:00:00Z", menu: "harbour menu", place: "terrace", nuts: false, fish: true, glutenFree: null },
];
type Table = (typeof tables)[number];
type Booking = Table & { guests: readonly string[] };
const booked = new Map<string, readonly Booking[]>();
const bookedBy = (owner: string) => booked.get(owner) ?? [];
const keep = (owner: string, kept: readonly Booking[]) => booked.set(owner, kept).get(owner);
const tableOf = (named: string) => tables.filter(({ id }) => id === named);
const line = ({ menu, at, place }: Table) => `${menu}, ${at.slice(0, 16).replace("T", " ")}, ${place}`;
const meant = (owner: string, words: string) => bookedBy(owner).filter((table) => line(table).includes(words.toLowerCase()));
const without = (owner: string, words: string) => bookedBy(owner).filter((table) => !meant(owner, words).includes(table));
const guests = z.array(z.string()).default([]).describe("who comes along, as they are named");
const menuIn = (message: string) => tables.find(({ menu }) => message.toLowerCase().includes(menu.slice(0, menu.indexOf(" "))))?.id ?? "";

export default defineDomain({
  name: "restaurant",
  prompt: "You take the bookings of a restaurant. Offer what the tools give; never invent a table or a dish.",
  languages: ["en", "es"],
  needs: [
    { name: "no_nuts", description: "no nuts", words: { en: ["nuts"], es: ["nueces"] }, states: ({ nuts }: Table) => !nuts },
    { name: "no_gluten", description: "no gluten", words: { en: ["gluten"], es: ["gluten"] }, states: (at) => at.glutenFree ?? "unknown" },
    {
      name: "vegetarian",
      description: "eats no meat and no fish",
      words: { en: ["vegetarian"], es: ["vegetariano", "vegetariana"] },
      slot: "diet",
      states: ({ fish }) => !fish,
    },
    { name: "step_free", description: "no stairs", words: { en: ["stairs"], es: ["escaleras"] }, states: (at) => at.place !== "cellar" },
  ],
  tools: [
    defineTool({
      name: "find_tables",
      description: "Lists the free tables with their menus, each with what it `breaks` of the needs known.",
      parameters: z.object({ guests }),
      looksUp: { items: (found: readonly Table[]) => found, for: (input) => input.guests },
      offline: { words: ["tables", "free", "mesas"], input: (_, { companions }) => ({ guests: [...companions] }) },
      run: () => tables,
    }),
    defineTool({
      name: "list_bookings",
      description: "The guest's own tables, each with what it `breaks`: look here when they tell a need.",
      parameters: z.object({}),
      looksUp: { items: (found: readonly Booking[]) => found, bound: true, with: (booking) => booking.guests },
      offline: { words: ["my bookings", "mis reservas"] },
      run: (_, { owner }) => bookedBy(owner),
    }),
    defineTool({
      name: "book_table",
      description: "Books a table.",
      parameters: z.object({ id: z.string(), guests }),
      binds: {
        what: "table",
        items: ({ id }) => tableOf(id),
        show: line,
        for: (input) => input.guests,
        startsAt: ({ at }) => new Date(at),
      },
      offline: { words: ["book", "reserva"], input: (message, { companions }) => ({ id: menuIn(message), guests: [...companions] }) },
      run: ({ id, guests }, { owner }) => keep(owner, [...bookedBy(owner), ...tableOf(id).map((table) => ({ ...table, guests }))]),
    }),
    defineTool({
      name: "cancel_table",
      description: "Cancels a table, by the guest's words for it.",
      parameters: z.object({ words: z.string() }),
      ends: { what: "table", items: ({ words }, { owner }) => meant(owner, words), show: line },
      offline: { words: ["cancel", "cancela"], input: (message) => ({ words: message.replace(/^.*?cancela? (?:my |the |el )?/i, "") }) },
      run: ({ words }, { owner }) => keep(owner, without(owner, words)),
    }),
  ],
});
