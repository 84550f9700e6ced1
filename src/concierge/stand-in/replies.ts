import { z } from "zod";
import type { MemoryLine, Observation } from "../../ports/offline-script.js";
import { contentWords, sharedPart } from "../script/facts.js";
import type { ListedBooking, ListedEvent } from "./past.js";

/** The script's sentences. */

export const HELP =
  "I can search concerts, theatre, sport and dining by genre, artist, date, city and budget, book seats, list and cancel your bookings, " +
  "and tell you what I remember about you. I am a rule-based stand-in for a language model, so plain requests work best.";

/** The reply comes before the write-back, and must not promise what only that decides. */
export const NOTED = "Noted for this conversation. Ask me what I know about you to see what I keep beyond it, or tell me what to look for.";

export const NOT_KEPT = "Understood. I will not keep this.";

export function listReply(
  events: readonly ListedEvent[],
  used: readonly MemoryLine[],
  party: number | undefined,
  relaxed: boolean,
): string {
  const lines = events.map((event, index) => `${index + 1}. ${eventLine(event)}`);
  const because = used.length === 0 ? "" : `I went by what I know of you: ${used.map((memory) => lower(memory.text)).join("; ")}.`;
  const wider = relaxed ? "Nothing fitted all that I know of you, so I looked further. " : "";
  const seats =
    party === undefined
      ? "Tell me which one and how many seats, and I prepare a booking."
      : `Tell me which one, and I prepare a booking for ${seatsOf(party)}.`;
  const head = [(wider + because).trim()].filter((text) => text !== "");
  return [
    ...head,
    events.length === 1 ? "This is what I found:" : "Here is what I found:",
    ...lines,
    // Without the empty line Markdown takes what follows for a part of the last item.
    "",
    events.length === 1 ? seats.replace("which one", "if it suits") : seats,
  ].join("\n");
}

function eventLine(event: ListedEvent): string {
  const facts = [
    `${event.title} (${event.genre})`,
    `${event.day}, ${event.time}`,
    `${event.venue}, ${event.city}`,
    `from €${event.from_price_eur}`,
    event.step_free ? "step-free" : "not step-free",
  ];
  if (event.menus !== undefined && event.menus.length > 0) facts.push(`menus: ${event.menus.join(", ")}`);
  return facts.join(" · ");
}

export const NOTHING_FOUND = "I found nothing that fits. Try another date, city or genre, or a higher budget.";

const detailsSchema = z.looseObject({
  title: z.string(),
  day: z.string(),
  time: z.string(),
  venue: z.string(),
  city: z.string(),
  sections: z.array(z.looseObject({ section: z.string(), price_eur: z.number(), seats_left: z.number(), step_free: z.boolean() })),
  accessibility: z.looseObject({ access: z.string(), hearing_loop: z.boolean(), assistance_dogs: z.boolean() }).optional(),
  menu: z
    .looseObject({ menus: z.array(z.string()), can_be_served_without: z.array(z.string()), can_not_be_served_without: z.array(z.string()) })
    .optional(),
});

export function detailsReply(output: unknown): string {
  const parsed = detailsSchema.safeParse(output);
  if (!parsed.success) return NOTHING_FOUND;
  const { title, day, time, venue, city, sections, accessibility, menu } = parsed.data;
  const lines = [
    `${title}: ${day}, ${time}, ${venue}, ${city}.`,
    ...sections.map(
      (each) => `- ${each.section}: €${each.price_eur}, ${each.seats_left} seats left, ${each.step_free ? "step-free" : "not step-free"}`,
    ),
  ];
  lines.push("");
  if (accessibility !== undefined)
    lines.push(
      `${accessibility.access} Hearing loop: ${accessibility.hearing_loop ? "yes" : "no"}. ` +
        `Assistance dogs: ${accessibility.assistance_dogs ? "welcome" : "not admitted"}.`,
    );
  if (menu !== undefined) {
    lines.push(
      `Menus: ${menu.menus.join(", ") || "none besides the standard one"}. ` +
        `Can be served without: ${menu.can_be_served_without.join(", ") || "nothing in particular"}.`,
    );
    if (menu.can_not_be_served_without.length > 0) lines.push(`Can't be served without: ${menu.can_not_be_served_without.join(", ")}.`);
  }
  return lines.join("\n").trimEnd();
}

const bookingOutcome = z.looseObject({
  status: z.enum(["needs_confirmation", "stopped", "booked", "already_booked"]),
  title: z.string(),
  venue: z.string(),
  city: z.string(),
  day: z.string(),
  section: z.string(),
  quantity: z.number(),
  time: z.string().optional(),
  total: z.string().optional(),
  total_eur: z.number().optional(),
  reference: z.string().nullable().optional(),
  needs_met: z.array(z.string()).default([]),
  reminders: z.array(z.string()).default([]),
  conflicts: z
    .array(
      z.looseObject({ memory: z.string(), who: z.string(), because: z.string(), source: z.looseObject({ quote: z.string() }).nullable() }),
    )
    .default([]),
});

export function bookingReply(output: unknown): string {
  const parsed = bookingOutcome.safeParse(output);
  if (!parsed.success) return "The booking could not be read.";
  const seen = parsed.data;
  const when = seen.time === undefined ? seen.day : `${seen.day}, ${seen.time}`;
  const what = `${seatsOf(seen.quantity)} for ${seen.title}, ${when}, ${seen.venue}, ${seen.city}, ${seen.section}`;
  if (seen.status === "booked" || seen.status === "already_booked")
    return (
      `${seen.status === "booked" ? "Booked" : "That is booked already"}: ${what}. ` +
      `Total €${seen.total_eur ?? 0}. Your reference is ${seen.reference ?? "not known"}.`
    );
  if (seen.status === "needs_confirmation") {
    const met = seen.needs_met.length === 0 ? "" : ` It meets what must hold: ${seen.needs_met.map(lower).join("; ")}.`;
    const reminders = seen.reminders.map((reminder) => ` ${reminder}`).join("");
    return `I can book ${what}, ${seen.total ?? ""} in all.${met}${reminders} Shall I book it?`;
  }
  if (seen.conflicts.length === 0)
    return (
      `I can't check your needs, so I have not booked ${what}. Does anyone who comes need something as to access or diet? ` +
      "If there is nothing to mind, say so and I book it."
    );
  const against = seen.conflicts.map(
    ({ memory, who, because, source }) => `- ${ofWhom(who, memory)}${source === null ? "" : ` (you said: “${source.quote}”)`}. ${because}`,
  );
  return [
    `I have not booked ${what}, because of what must hold:`,
    ...against,
    "",
    "I can look for something that fits. If you want it all the same, tell me to book it anyway.",
  ].join("\n");
}

export function bookingsReply(bookings: readonly ListedBooking[]): string {
  if (bookings.length === 0) return "You have no bookings at the moment.";
  return ["Your bookings:", ...bookings.map((booking, index) => `${index + 1}. ${bookingLine(booking)}`)].join("\n");
}

export function bookingLine(booking: ListedBooking): string {
  const { title, day, venue, city, quantity, section, total_eur, reference } = booking;
  return `${title} · ${day} · ${venue}, ${city} · ${seatsOf(quantity)}, ${section} · €${total_eur} · ${reference ?? "no reference"}`;
}

const memoriesSchema = z.looseObject({
  memories: z.array(z.looseObject({ text: z.string(), about: z.string().default("the user"), must_hold: z.boolean().default(false) })),
});

export function memoriesReply(output: unknown, known: readonly MemoryLine[]): string {
  const parsed = memoriesSchema.safeParse(output);
  const listed = parsed.success
    ? parsed.data.memories.map(({ text, about, must_hold }) => memoryLine(text, about === "the user" ? "self" : about, must_hold))
    : known.map(({ text, subject, mustHold }) => memoryLine(text, subject, mustHold));
  if (listed.length === 0) return "I remember nothing about you yet.";
  return ["This is what I remember about you:", ...listed].join("\n");
}

function memoryLine(text: string, subject: string, mustHold: boolean): string {
  return `- ${subject === "self" ? text : ofWhom(subject, text)}${mustHold ? " (must hold)" : ""}`;
}

const choiceSchema = z.looseObject({ memories: z.array(z.looseObject({ text: z.string() })).default([]) });

/** What came of `remember`, `forget` and `no_longer_true`. */
export function memoryChangeReply(observation: Observation): string {
  const parsed = z
    .looseObject({
      status: z.string(),
      remembered: z.array(z.string()).optional(),
      waits: z.array(z.looseObject({ text: z.string() })).optional(),
      forgot: z.array(z.string()).optional(),
      count: z.number().optional(),
      ended: z.string().optional(),
    })
    .safeParse(observation.output);
  if (!parsed.success) return failureReply(observation);
  const { status, remembered = [], waits = [], forgot, count, ended } = parsed.data;
  if (status === "remembered") return `I remember: ${remembered.map(lower).join("; ")}.`;
  if (status === "waits") return `Before I act on it I need your word: ${waits.map(({ text }) => text).join("; ")}. Is that right?`;
  if (status === "not_kept") return "I can't keep that: only what you say about yourself or who comes along, and never a secret.";
  if (status === "ask_first") return "Shall I forget everything that I remember about you? Say yes, and it is gone for good.";
  if (status === "forgotten")
    return forgot === undefined ? `I have forgotten everything: ${count ?? 0} memories.` : `I have forgotten: ${forgot.join("; ")}.`;
  if (status === "ended") return `Understood. I no longer go by: ${lower(ended ?? "")}.`;
  if (status === "nothing_found") return "I remember nothing like that.";
  const choices = choiceSchema.safeParse(observation.output);
  if (choices.success && choices.data.memories.length > 0)
    return ["Which of these do you mean?", ...choices.data.memories.map(({ text: memory }, index) => `${index + 1}. ${memory}`)].join("\n");
  return "I changed nothing.";
}

/** What came of a yes or no to what waited. */
export function settledReply(observation: Observation): string {
  if (typeof observation.output === "object" && observation.output !== null && "error" in observation.output)
    return failureReply(observation);
  const answers = z.looseObject({ answers: z.array(z.looseObject({ answer: z.string() })) }).safeParse(observation.input);
  return answers.success && answers.data.answers.every(({ answer }) => answer === "no")
    ? "Understood. I don't keep it."
    : "Thank you. I keep it.";
}

const historySchema = z.looseObject({ found: z.array(z.looseObject({ ref: z.string(), said_by: z.string(), text: z.string() })) });

/** The guest's own sentence that answers best, or undefined. */
export function historyReply(output: unknown, question: string): string | undefined {
  const parsed = historySchema.safeParse(output);
  if (!parsed.success) return undefined;
  const wanted = contentWords(question);
  const own = parsed.data.found
    .filter(({ said_by }) => said_by !== "assistant")
    .map((each) => ({ ...each, shared: sharedPart(wanted, each.text) }));
  const best = own.toSorted((a, b) => b.shared - a.shared)[0];
  return best === undefined || best.shared === 0 ? undefined : `From an earlier conversation: “${best.text}” [${best.ref}]`;
}

/** A tool that failed says why in words made for people. */
export function failureReply(observation: Observation): string {
  const parsed = z.looseObject({ error: z.string() }).safeParse(observation.output);
  return parsed.success ? `That did not work: ${parsed.data.error}` : "That did not work.";
}

function seatsOf(count: number): string {
  const words = ["no seats", "one seat", "two seats", "three seats", "four seats", "five seats", "six seats"];
  return words[count] ?? `${count} seats`;
}

/** "Mother: is allergic to nuts"; a memory that names its companion already is left as it is. */
function ofWhom(who: string, memory: string): string {
  if (who === "self") return memory;
  return memory.toLowerCase().includes(who.toLowerCase()) ? capital(memory) : `${capital(who)}: ${lower(memory)}`;
}

function lower(text: string): string {
  return /^\p{Lu}\p{Lu}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
