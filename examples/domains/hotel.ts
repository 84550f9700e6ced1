/** A small hotel, described once. `npx maitred serve --domain ./hotel.ts` */
import { defineDomain, defineTool } from "maitred";
import { z } from "zod";

const rooms = [
  { room: "Garden Room", stepFree: true, feathers: true, dogs: true, quiet: null },
  { room: "Tower Room", stepFree: false, feathers: false, dogs: false, quiet: true },
  { room: "Lake Room", stepFree: true, feathers: false, dogs: null, quiet: false },
];
type Stay = (typeof rooms)[number] & { from: string; nights: number; guests: readonly string[] };
const stays = new Map<string, readonly Stay[]>();
const staysOf = (owner: string) => stays.get(owner) ?? [];
const keep = (owner: string, kept: readonly Stay[]) => stays.set(owner, kept).get(owner);
const line = ({ room, from, nights }: Stay) => `${room}, ${nights} nights from ${from}`;
const meant = (owner: string, words: string) => staysOf(owner).filter((stay) => line(stay).toLowerCase().includes(words.toLowerCase()));
const without = (owner: string, words: string) => staysOf(owner).filter((stay) => !meant(owner, words).includes(stay));
const guests = z.array(z.string()).default([]).describe("who comes along, as they are named");
const when = z.object({ from: z.iso.date(), nights: z.int().positive(), guests });
const offered = ({ from, nights, guests }: z.infer<typeof when>, named?: string) =>
  rooms.filter(({ room }) => room === (named ?? room)).map((room): Stay => ({ ...room, from, nights, guests }));
/** What the stand-in makes of a message, where no model is connected. */
const said = (message: string, { companions }: { companions: readonly string[] }) => ({
  from: /\d{4}-\d{2}-\d{2}/.exec(message)?.[0] ?? "2030-05-02",
  nights: Number(/(\d+) nights?/.exec(message)?.[1] ?? 1),
  guests: [...companions],
});
const roomIn = (message: string) =>
  rooms.find(({ room }) => message.toLowerCase().includes(room.slice(0, room.indexOf(" ")).toLowerCase()))?.room ?? "";

export default defineDomain({
  name: "hotel",
  prompt: "You are the front desk of a small hotel. Offer what the tools give; never invent a room.",
  languages: ["en", "fr"],
  needs: [
    { name: "step_free", description: "no stairs", words: { en: ["stairs"], fr: ["escaliers"] }, states: (stay: Stay) => stay.stepFree },
    { name: "no_feathers", description: "no feathers", words: { en: ["feathers"], fr: ["plumes"] }, states: (stay) => !stay.feathers },
    { name: "quiet", description: "a quiet room", words: { en: ["quiet"], fr: ["calme"] }, states: (stay) => stay.quiet ?? "unknown" },
    { name: "dog", description: "a dog comes along", words: { en: ["dog"], fr: ["chien"] }, states: (stay) => stay.dogs ?? "unknown" },
  ],
  tools: [
    defineTool({
      name: "find_rooms",
      description: "Lists the rooms that are free, each with what it `breaks` of the needs known.",
      parameters: when,
      looksUp: { items: (found: readonly Stay[]) => found, for: ({ guests }) => guests },
      offline: { words: ["free", "rooms", "libre"], input: said },
      run: (input) => offered(input),
    }),
    defineTool({
      name: "list_stays",
      description: "The guest's own stays, each with what it `breaks`: look here when they tell a need.",
      parameters: z.object({}),
      looksUp: { items: (found: readonly Stay[]) => found, bound: true, with: ({ guests }) => guests },
      offline: { words: ["my stays", "mes séjours"] },
      run: (_, { owner }) => staysOf(owner),
    }),
    defineTool({
      name: "book_room",
      description: "Books a room, by its name.",
      parameters: when.extend({ room: z.string() }),
      binds: {
        what: "room",
        items: (input) => offered(input, input.room),
        show: line,
        for: ({ guests }) => guests,
        startsAt: ({ from }) => new Date(from),
      },
      offline: { words: ["book", "réserve"], input: (message, party) => ({ ...said(message, party), room: roomIn(message) }) },
      run: (input, { owner }) => keep(owner, [...staysOf(owner), ...offered(input, input.room)]),
    }),
    defineTool({
      name: "cancel_stay",
      description: "Cancels a stay, by the guest's words for it.",
      parameters: z.object({ words: z.string() }),
      ends: { what: "stay", items: ({ words }, { owner }) => meant(owner, words), show: line },
      offline: {
        words: ["cancel", "annule"],
        input: (message) => ({ words: message.replace(/^.*?(?:cancel|annule) (?:my |the )?/i, "") }),
      },
      run: ({ words }, { owner }) => keep(owner, without(owner, words)),
    }),
  ],
});
