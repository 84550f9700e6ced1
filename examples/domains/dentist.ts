/** A dental practice, described once. `npx maitred serve --domain ./dentist.ts` */
import { defineDomain, defineTool } from "maitred";
import { z } from "zod";

const slots = [
  { id: "mon-9", at: "2030-03-04T09:00:00Z", room: "room 1", stepFree: true, latex: true, sedation: true },
  { id: "tue-10", at: "2030-03-05T10:00:00Z", room: "room 4", stepFree: false, latex: false, sedation: null },
  { id: "wed-11", at: "2030-03-06T11:00:00Z", room: "room 2", stepFree: true, latex: false, sedation: null },
];
type Slot = (typeof slots)[number];
type Appointment = Slot & { patients: readonly string[] };
const booked = new Map<string, readonly Appointment[]>();
const of = (owner: string) => booked.get(owner) ?? [];
const byId = (id: string) => slots.filter((slot) => slot.id === id);
const line = ({ at, room }: Slot) => `Cleaning, ${at.slice(0, 16).replace("T", " ")}, ${room}`;
const dayIn = (message: string) => slots.find(({ id }) => message.toLowerCase().includes(id.slice(0, 3)))?.id ?? "";
const patients = z.array(z.string()).default([]).describe("who comes along, as they are named");
const slotOf = z.object({ slot_id: z.string(), patients });

export default defineDomain({
  name: "dentist",
  prompt: "You look after the appointments of a dental practice. Offer what the tools give; never invent a slot.",
  languages: ["en", "de"],
  needs: [
    { name: "no_latex", description: "no latex", words: { en: ["latex"], de: ["latex"] }, states: (slot: Slot) => !slot.latex },
    { name: "no_penicillin", description: "no penicillin", words: { en: ["penicillin"], de: ["penicillin"] }, states: () => true },
    {
      name: "step_free",
      description: "no stairs",
      words: { en: ["stairs", "wheelchair"], de: ["treppen"] },
      states: (s: Slot) => s.stepFree,
    },
    {
      name: "sedation",
      description: "sedation",
      words: { en: ["sedation"], de: ["narkose"] },
      states: (s: Slot) => s.sedation ?? "unknown",
    },
  ],
  tools: [
    defineTool({
      name: "find_slots",
      description: "Lists the free slots, each with what it `breaks` of the needs known.",
      parameters: z.object({ patients }),
      looksUp: { items: (found: Slot[]) => found, for: (input) => input.patients },
      offline: { words: ["free", "slots", "frei"], input: (_, { companions }) => ({ patients: [...companions] }) },
      run: (_, { owner }) => slots.filter(({ id }) => !of(owner).some((slot) => slot.id === id)),
    }),
    defineTool({
      name: "list_appointments",
      description: "The patient's appointments, each with what it `breaks`: look here when they tell a need.",
      parameters: z.object({}),
      looksUp: { items: (found: readonly Appointment[]) => found, bound: true, with: ({ patients }) => patients },
      offline: { words: ["my appointments", "meine termine"] },
      run: (_, { owner }) => of(owner),
    }),
    defineTool({
      name: "book_slot",
      description: "Books a slot.",
      parameters: slotOf,
      binds: { what: "appointment", items: ({ slot_id }) => byId(slot_id), show: line, for: (input) => input.patients },
      offline: { words: ["book", "buche"], input: (message, { companions }) => ({ slot_id: dayIn(message), patients: [...companions] }) },
      run: ({ slot_id, patients }, { owner }) => {
        booked.set(owner, [...of(owner), ...byId(slot_id).map((slot) => ({ ...slot, patients }))]);
        return { booked: slot_id };
      },
    }),
    defineTool({
      name: "cancel_appointment",
      description: "Cancels an appointment, by the patient's words for it.",
      parameters: z.object({ words: z.string() }),
      ends: { what: "appointment", items: ({ words }, { owner }) => of(owner).filter((slot) => line(slot).includes(words)), show: line },
      offline: { words: ["cancel", "storniere"], input: (message) => ({ words: message.replace(/^.*?(?:cancel|storniere) /i, "") }) },
      run: ({ words }, { owner }) => {
        const kept = of(owner).filter((slot) => !line(slot).includes(words));
        booked.set(owner, kept);
        return { cancelled: words };
      },
    }),
  ],
});
