import { lower, notedAs, ofWhom } from "@maitred/offline";
import type { JsonValue, MemoryLine } from "maitred";
import { z } from "zod";
import { type CatalogueEvent, isStepFree } from "../catalogue.js";
import { longDay } from "../local-time.js";
import { euros } from "../money.js";
import { isBookable, MAX_SEATS } from "../seats.js";
import { CITY_NAMES } from "../vocabulary.js";
import { bookingIn, eventIn, type HeldNeeds, heldOf, NOTHING_HELD, type SaidBefore, type ShownBooking } from "./past.js";

/** The script's sentences. */

export const HELP =
  "I can search concerts, theatre, sport and dining by genre, artist, date, city and budget, book seats, list and cancel your bookings, " +
  "and tell you what I remember about you. I am a rule-based stand-in for a language model, so plain requests work best.";

/** The reply comes before the write-back, and must not promise what only that decides. `understood`: in the words of memories. */
export function noted(understood: readonly string[]): string {
  const head = notedAs(understood) || "Noted for this conversation.";
  return `${head} Ask me what I know about you to see what I keep beyond it, or tell me what to look for.`;
}

/** To a yes where nothing was asked. */
export const NOTHING_ASKED =
  "Nothing waits for a yes or no of yours at the moment. Ask me what I know about you to see what I keep, or tell me what to look for.";

const LITTLE_ABROAD = "Without a language model I understand little beyond English, and can't promise to have taken this in.";
/** To what is told in another language: of that the write-back may read a part, or more than is `understood` before it. */
export function toldAbroad(understood: readonly string[]): string {
  const named = notedAs(understood);
  const head = named === "" ? LITTLE_ABROAD : `${named} Without a language model I understand little beyond English.`;
  const rest = named === "" ? "What must hold" : "What else must hold";
  return (
    `${head} ${rest} for you, such as an allergy or a wheelchair, please tell me in English. ` +
    "Ask me “What do you know about me?” to see what I keep."
  );
}
export const TOLD_ABROAD_OFF = `${LITTLE_ABROAD} Memory is switched off here, too: I keep nothing beyond this conversation.`;
export const ASKED_ABROAD =
  "Without a language model I understand little beyond English. Please ask me in English, for example “What is on in Vienna on Saturday?”";

/** Somebody drops out before anything is quoted. */
export const HOW_MANY_NOW = "Understood. How many seats is it now?";
export const BOOKED_STAYS =
  "What is booked stays as it is. I can cancel a booking and make another for fewer: say “cancel my booking” where you want that.";
export const SEATS_AT_ONCE = `I can book 1 to ${MAX_SEATS} seats at once. How many would you like?`;

/** `name`: what was looked for by its name; the empty string for none. */
export function nothingFound(name = ""): string {
  const what = name === "" ? "that fits" : `for “${name}”`;
  const where = CITY_NAMES.toSorted().join(", ");
  return `I found nothing ${what}. I know what is on in ${where}: try another date or genre, or a higher budget.`;
}

/**
 * `used`: what of the memories shaped the search. `wider`: not all that did at first. `leftOut`: words that nothing was found for.
 * `carried`: what the guest said before and the search went by; `dropped`: what it could not go by. `held`: what an event states of
 * needs, by its id.
 */
export function listReply(
  events: readonly CatalogueEvent[],
  {
    used,
    party,
    wider,
    leftOut,
    carried,
    dropped,
    held,
  }: {
    readonly used: readonly MemoryLine[];
    readonly party: number | undefined;
    readonly wider: boolean;
    readonly leftOut: string;
    readonly carried: SaidBefore;
    readonly dropped: SaidBefore;
    readonly held: ReadonlyMap<string, HeldNeeds>;
  },
): string {
  const without = leftOut === "" ? "" : `I found nothing for “${leftOut}”, so this is without it. `;
  const [by, past] = [whereAndWhen(carried), whereAndWhen(dropped)];
  const before = by === "" ? "" : `This is ${by}, as you said. `;
  const elsewhere = past === "" ? "" : `I found nothing ${past}, so I looked further. `;
  const further = wider ? "Nothing fitted all that I know of you, so I looked further. " : "";
  const because =
    used.length === 0 ? "" : `I went by what I know of you: ${used.map(({ text, mark = "" }) => lower(text) + mark).join("; ")}.`;
  const head = `${without}${before}${elsewhere}${further}${because}`.trim();
  const which = events.length === 1 ? "Tell me if it suits" : "Tell me which one";
  const seats = party === undefined ? " and how many seats, and I prepare a booking." : bookingFor(party);
  const lines = events.map((event, index) => `${index + 1}. ${eventLine(event, held.get(event.id))}`);
  // Without the empty line Markdown takes what follows for a part of the last item.
  return [
    ...(head === "" ? [] : [head]),
    events.length === 1 ? "This is what I found:" : "Here is what I found:",
    ...lines,
    "",
    which + seats,
  ].join("\n");
}

/** "in Hamburg, Saturday 5 December to Sunday 6 December, in the evening"; the empty string where nothing is said. */
function whereAndWhen({ city, days, partOfDay }: SaidBefore): string {
  const where = city === undefined ? [] : [`in ${city}`];
  const when = days === undefined ? [] : [[...new Set([days.from, days.to])].map(longDay).join(" to ")];
  const part = partOfDay === undefined ? [] : [`in the ${partOfDay}`];
  return [...where, ...when, ...part].join(", ");
}

function bookingFor(party: number): string {
  return isBookable(party) ? `, and I prepare a booking for ${seatsOf(party)}.` : `. ${SEATS_AT_ONCE}`;
}

/** In cents. */
export function priceFrom({ sections }: CatalogueEvent): number {
  return Math.min(...sections.map(({ priceCents }) => priceCents));
}

function eventLine(event: CatalogueEvent, held: HeldNeeds = NOTHING_HELD): string {
  const { title, genre, day, time, venue, city, kitchen } = event;
  const menus = kitchen === null || kitchen.diets.length === 0 ? [] : [`menus: ${kitchen.diets.join(", ")}`];
  const stepFree = isStepFree(event) ? "step-free" : "not step-free";
  const facts = [`${title} (${genre})`, `${longDay(day)}, ${time}`, `${venue}, ${city}`, `from ${euros(priceFrom(event))}`, stepFree];
  return [...facts, ...menus, ...needsLine(held, [stepFree])].join(" · ");
}

/** What is met, what only the house can say, and what is broken; not `said`, which stands beside it. */
function needsLine(held: HeldNeeds, said: readonly string[] = []): readonly string[] {
  const told = (head: string, labels: readonly string[]) => (labels.length === 0 ? [] : [`${head}: ${labels.join(", ")}`]);
  return [
    ...told(
      "stated",
      held.meets.filter((label) => !said.includes(label)),
    ),
    ...told("not stated, ask the house", held.not_stated),
    ...told("against what must hold", held.breaks),
  ];
}

const sectionsSchema = z.looseObject({
  sections: z.array(z.looseObject({ section: z.string(), price_eur: z.number(), seats_left: z.number(), step_free: z.boolean() })),
});

/** All about one event: seats as the tool counted them, the rest as the catalogue has it. */
export function detailsReply(output: JsonValue): string {
  const [event, seats] = [eventIn(output), sectionsSchema.safeParse(output).data];
  if (event === undefined || seats === undefined) return nothingFound();
  const { title, day, time, venue, city, access, hearingLoop, assistanceDogs, kitchen } = event;
  const lines = seats.sections.map(
    (each) => `- ${each.section}: €${each.price_eur}, ${each.seats_left} seats left, ${each.step_free ? "step-free" : "not step-free"}`,
  );
  const dogs = assistanceDogs ? "welcome" : "not admitted";
  const house = `${access} Hearing loop: ${hearingLoop ? "yes" : "no"}. Assistance dogs: ${dogs}.`;
  const menus = kitchen === null ? [] : [`Menus: ${listOf(kitchen.diets)}. Can be served without: ${listOf(kitchen.without)}.`];
  const contains = kitchen === null || kitchen.contains.length === 0 ? [] : [`Can't be served without: ${listOf(kitchen.contains)}.`];
  const held = needsLine(heldOf(output));
  const needs = held.length === 0 ? [] : [`What must hold: ${held.join("; ")}.`];
  return [`${title}: ${longDay(day)}, ${time}, ${venue}, ${city}.`, ...lines, "", house, ...menus, ...contains, ...needs].join("\n");
}

/** A quote, what stands against it, or that it is booked. `asks`: how the answer to a quote is asked for. */
export function bookingReply(output: JsonValue, asks = "Shall I book it?"): string {
  const seen = bookingIn(output);
  if (seen === undefined) return "The booking could not be read.";
  const what = `${seatsOf(seen.quantity)} for ${seen.title}, ${seen.day}, ${seen.time}, ${seen.venue}, ${seen.city}, ${seen.section}`;
  const reminders = seen.reminders.map((reminder) => ` ${reminder}`).join("");
  if (seen.status === "stopped") return stoppedReply(what, reminders, seen);
  if (seen.status === "needs_confirmation") {
    const met = seen.needs_met.length === 0 ? "" : ` It meets what must hold: ${seen.needs_met.map(lower).join("; ")}.`;
    return `I can book ${what}, ${seen.total} in all.${met}${reminders} ${asks}`;
  }
  const booked = seen.status === "booked" ? "Booked" : "That is booked already";
  return `${booked}: ${what}. Total €${seen.total_eur}. Your reference is ${seen.reference ?? "not known"}.`;
}

/** The same where somebody drops out and no number was said. */
export function fewerSeatsReply(output: JsonValue): string {
  const { status = "", quantity = 0 } = bookingIn(output) ?? {};
  if (quantity < 2) return bookingReply(output);
  const still = `That is still ${seatsOf(quantity)}: how many is it now`;
  if (status === "stopped") return `${bookingReply(output)}\n\n${still}?`;
  return bookingReply(output, `${still}, or shall I book it as it is?`);
}

/** To words that are no answer to a quote. */
export function unansweredReply({ status }: ShownBooking): string {
  const how = status === "stopped" ? "“book it anyway” if you want it all the same" : "“yes” if you want it";
  return `Nothing is booked yet. Say ${how}, “no” if you don't, or tell me how many seats it is and who stays behind.`;
}

function stoppedReply(what: string, reminders: string, { conflicts }: ShownBooking): string {
  if (conflicts.length === 0)
    return (
      `I can't check your needs, so I have not booked ${what}.${reminders} Does anyone who comes need something as to access or diet? ` +
      "If there is nothing to mind, say so and I book it."
    );
  const against = conflicts.map(
    ({ memory, who, because, source }) => `- ${ofWhom(who, memory)}${source === null ? "" : ` (you said: “${source.quote}”)`}. ${because}`,
  );
  return [
    `I have not booked ${what}, because of what must hold:`,
    ...against,
    "",
    ...(reminders === "" ? [] : [reminders.trim(), ""]),
    "I can look for something that fits. If you want it all the same, tell me to book it anyway.",
  ].join("\n");
}

export function bookingsReply(bookings: readonly ShownBooking[]): string {
  if (bookings.length === 0) return "You have no bookings at the moment.";
  const listed = bookings.map((booking, index) => `${index + 1}. ${bookingLine(booking)}${against(booking)}`);
  return ["Your bookings:", ...listed].join("\n");
}

/** To a need that the guest tells; what is booked already and breaks one is named. */
export function notedReply(bookings: readonly ShownBooking[], understood: readonly string[]): string {
  const broken = bookings.filter(({ breaks }) => breaks.length > 0);
  if (broken.length === 0) return noted(understood);
  const lines = broken.map((booking) => `- ${bookingLine(booking)}${against(booking)}`);
  return [noted(understood), "", "What you have booked already, and what stands against it now:", ...lines, "", CAN_CANCEL].join("\n");
}

const CAN_CANCEL = "I can cancel it, or look for something that fits.";

function against({ breaks }: ShownBooking): string {
  return breaks.length === 0 ? "" : ` · against what must hold: ${breaks.join(" ")}`;
}

export function bookingLine({ title, day, venue, city, quantity, section, total_eur, reference }: ShownBooking): string {
  return `${title} · ${day} · ${venue}, ${city} · ${seatsOf(quantity)}, ${section} · €${total_eur} · ${reference ?? "no reference"}`;
}

function listOf(names: readonly string[]): string {
  return names.join(", ") || "none";
}

function seatsOf(count: number): string {
  const words = ["no seats", "one seat", "two seats", "three seats", "four seats", "five seats", "six seats"];
  return words[count] ?? `${count} seats`;
}
