import { z } from "zod";
import type { Tool, ToolContext, ToolResult } from "../../agent.js";
import { AppError } from "../../errors.js";
import type { Element, JsonObject } from "../../session.js";
import type { Quote } from "../booking-rows.js";
import { type CatalogueEvent, type Section, seatsTaken, sectionNamed } from "../catalogue.js";
import { companionsIn, joined, staysBehind } from "../companions.js";
import { type Conflict, type ConstraintGate, type Verdict, WAIVED_UNCHECKED } from "../constraint-gate.js";
import { longDay } from "../local-time.js";
import { bookingLine, bookingReceipt, euros, eventSource, seatsLeft } from "../presentation.js";
import { readReply, seatsNamed } from "../reply.js";
import { type CatalogueParts, eventOrThrow } from "./catalogue-tools.js";

/** A quote shown more turns ago is shown again first. A yes that is no more than that is about what was asked in the turn before it. */
const CONFIRMABLE_TURNS = 3;

const input = z.object({
  event_id: z.string().min(1).max(200).describe("event_id of a search result"),
  section: z.string().max(100).optional().describe("default: the cheapest that fits the party and its needs"),
  quantity: z.number().int().min(1).max(20).optional().describe("seats; needed for a new quote"),
  companions: z.array(z.string().min(1).max(64)).max(20).optional().describe("who comes along, as the guest calls them: mother, Sam"),
  quote_id: z.string().max(64).optional().describe("of the quote that the guest has just confirmed"),
});
type Input = z.infer<typeof input>;

export interface BookingParts extends CatalogueParts {
  readonly gate: ConstraintGate;
}

/**
 * Quote first, book later. The first call only makes a quote. A booking is made in a later turn, and only when the guest's own
 * words of that turn agree: nothing the model writes can stand for them. In front of both stands the constraint gate.
 */
export function bookTickets(parts: BookingParts): Tool<Input> {
  return {
    name: "book_tickets",
    description:
      "Books seats, in two steps. The first call makes a quote: tell the guest what it says and ask whether to book it. When the guest agrees in a later message, call again with quote_id. If the answer is `stopped`, tell the guest why and let the guest decide.",
    parameters: input,
    run: async (args, context) => {
      const shown = shownQuote(parts, args, context);
      if (shown?.bookingId) return booked(parts, shown, context, shown.turn === context.turn ? "booked" : "already_booked");
      return shown === null || changes(args, shown) ? newQuote(parts, args, context) : answered(parts, args, shown, context);
    },
  };
}

/** The quote that the call is about, if the guest has seen it and it still counts. */
function shownQuote(parts: BookingParts, args: Input, context: ToolContext): Quote | null {
  const { owner, sessionId, turn, now } = context;
  const recent = parts.bookings.quotesSince(owner, sessionId, turn - CONFIRMABLE_TURNS);
  // A booked quote counts for this turn's own retry, or when it is named; "two more" is a new one.
  const counts = (each: Quote) => (each.bookingId === null || each.turn === turn) && each.eventId === args.event_id;
  const quote = recent.find((each) => (args.quote_id === undefined ? counts(each) : each.id === args.quote_id)) ?? null;
  if (quote === null || quote.bookingId !== null) return quote;
  // Another quote came after it: a yes would be a yes to that one.
  const latest = recent.find((each) => each.bookingId === null);
  return quote.expiresAt > now.toISOString() && quote.turn === latest?.turn ? quote : null;
}

function changes(args: Input, quote: Quote): boolean {
  return (
    args.event_id !== quote.eventId ||
    (args.quantity !== undefined && args.quantity !== quote.quantity) ||
    (args.section !== undefined && args.section.toLowerCase() !== quote.section.toLowerCase())
  );
}

/** The guest has seen the quote: what do their words say? */
async function answered(parts: BookingParts, args: Input, shown: Quote, context: ToolContext): Promise<ToolResult> {
  const event = eventOrThrow(parts.catalogue, shown.eventId);
  const section = sectionOrThrow(event, shown.section);
  const words = context.userMessage.content;
  const reply = readReply(words);
  const named = seatsNamed(words);
  const companions = partyOf(shown, args, words);
  // Who takes somebody out of the party has not said yes to what was quoted.
  const fewer = shown.companions.some((name) => !companions.includes(name));
  const later = shown.turn < context.turn && (named === null || named === shown.quantity) && !fewer;
  const overrides = later && shown.stop !== null && (reply.override || (shown.stop.unchecked && reply.nothingToMind));
  const waived =
    overrides && shown.stop !== null
      ? [...shown.waived, ...shown.stop.memoryIds, ...(shown.stop.unchecked ? [WAIVED_UNCHECKED] : [])]
      : shown.waived;
  const asked = reply.order || shown.turn === context.turn - 1;
  const agrees = overrides || (later && shown.stop === null && ((reply.yes && asked) || reply.override));
  const judge = await parts.gate.read("book_tickets", context, { toBook: agrees || shown.stop?.unchecked === true });
  const verdict = judge(event, section, { companions, words }, waived);
  const quote = { ...shown, waived, companions: everyone(companions, verdict, words) };
  if (verdict.state !== "pass") return stopped(parts, { ...quote, turn: context.turn }, event, section, verdict, context);
  if (!agrees) return quoted(parts, { ...quote, stop: null, turn: context.turn }, event, section, verdict, context);
  if (event.startsAt <= context.now)
    throw new AppError("NOT_FOUND", { detail: "This event has begun or is over.", hint: "Search for a later one." });
  return booked(parts, { ...quote, stop: null, turn: context.turn }, context, "booked");
}

/** Who comes: by the quote that is answered or replaced and by the call, but for those whom the guest's own words take out. */
function partyOf(before: Quote | undefined, args: Input, words: string): readonly string[] {
  return joined(before?.companions ?? [], args.companions ?? []).filter((name) => !staysBehind(name, words));
}

/** Those of memories and those whom the guest's words name stay in the quote: the words of a later turn don't name them again. */
function everyone(companions: readonly string[], verdict: Verdict, words: string): readonly string[] {
  return joined(joined(companions, verdict.along), companionsIn(words));
}

async function newQuote(parts: BookingParts, args: Input, context: ToolContext): Promise<ToolResult> {
  const { bookings, catalogue } = parts;
  const event = eventOrThrow(catalogue, args.event_id);
  if (event.startsAt <= context.now)
    throw new AppError("NOT_FOUND", { detail: "This event has begun or is over.", hint: "Search for a later one." });
  if (args.quantity === undefined)
    throw new AppError("INVALID_REQUEST", {
      detail: "The number of seats is missing.",
      hint: "Ask the guest how many seats, then call again with quantity.",
    });
  const words = context.userMessage.content;
  const judge = await parts.gate.read("book_tickets", context, { toBook: false });
  const replaced = bookings
    .quotesSince(context.owner, context.sessionId, 0)
    .find((each) => each.eventId === event.id && each.bookingId === null);
  const party = { companions: partyOf(replaced, args, words), words };
  const section =
    args.section === undefined
      ? bestSection(parts, event, args.quantity, (each) => judge(event, each, party, []))
      : sectionOrThrow(event, args.section);
  const left = seatsLeft(bookings, event, section);
  if (left < args.quantity)
    throw new AppError("NOT_FOUND", {
      detail: `Only ${left} seats are left in ${section.name}.`,
      hint: "Look at the other sections with check_availability, or search for another event.",
    });
  const verdict = judge(event, section, party, []);
  const quote = bookings.addQuote(
    context.owner,
    {
      sessionId: context.sessionId,
      turn: context.turn,
      eventId: event.id,
      title: event.title,
      venue: event.venue,
      city: event.city,
      startsAt: event.startsAt.toISOString(),
      section: section.name,
      quantity: args.quantity,
      totalCents: section.priceCents * args.quantity,
      companions: everyone(party.companions, verdict, words),
      stop: null,
      waived: [],
    },
    context.now,
  );
  return verdict.state === "pass"
    ? quoted(parts, quote, event, section, verdict, context)
    : stopped(parts, quote, event, section, verdict, context);
}

/** The cheapest section with enough seats, those that meet every need before the others. */
function bestSection(parts: BookingParts, event: CatalogueEvent, quantity: number, verdict: (section: Section) => Verdict): Section {
  const enough = event.sections
    .filter((section) => seatsLeft(parts.bookings, event, section) >= quantity)
    .sort((a, b) => a.priceCents - b.priceCents);
  const best = enough.find((section) => verdict(section).state === "pass") ?? enough[0];
  if (best === undefined)
    throw new AppError("NOT_FOUND", {
      detail: `No section has ${quantity} seats left.`,
      hint: "Offer fewer seats, or search for another event.",
    });
  return best;
}

function sectionOrThrow(event: CatalogueEvent, name: string): Section {
  const section = sectionNamed(event, name);
  if (section === undefined)
    throw new AppError("NOT_FOUND", {
      detail: "There is no such section.",
      hint: `There are: ${event.sections.map((each) => each.name).join(", ")}.`,
    });
  return section;
}

function quoted(
  parts: BookingParts,
  quote: Quote,
  event: CatalogueEvent,
  section: Section,
  verdict: Extract<Verdict, { state: "pass" }>,
  context: ToolContext,
): ToolResult {
  parts.bookings.updateQuote(context.owner, quote);
  return {
    output: {
      status: "needs_confirmation",
      ...offer(quote, event, section),
      needs_met: [...verdict.checked],
      reminders: [...verdict.reminders],
      ask: "Ask the guest whether to book this. Only the guest's own words can confirm it, in their next message.",
    },
    sources: [eventSource(event)],
  };
}

function stopped(
  parts: BookingParts,
  quote: Quote,
  event: CatalogueEvent,
  section: Section,
  verdict: Exclude<Verdict, { state: "pass" }>,
  context: ToolContext,
): ToolResult {
  const unchecked = verdict.state === "unchecked";
  const conflicts = verdict.state === "stop" ? verdict.conflicts : [];
  parts.bookings.updateQuote(context.owner, { ...quote, stop: { unchecked, memoryIds: conflicts.map((conflict) => conflict.memoryId) } });
  return {
    output: {
      status: "stopped",
      ...offer(quote, event, section),
      ...(unchecked
        ? {
            reason:
              context.memory === "off"
                ? "In an incognito session the guest's constraints are not looked at."
                : "The guest's constraints, or some of them, can't be read at the moment.",
            ask: "Tell the guest that their needs can't be checked, and ask about access and diet of everyone who comes. Book only when the guest answers that there is nothing to mind, or to book it anyway.",
          }
        : {
            reason: "It would break what the guest has said must hold.",
            conflicts: conflicts.map(conflictLine),
            ask: "Name what stands against it and where it comes from. Book only if the guest says in their own words, in a later message, to book it anyway; otherwise offer something that fits.",
          }),
    },
    elements: conflicts.map(conflictElement),
    sources: [eventSource(event), ...conflicts.map((conflict) => ({ id: conflict.memoryId, title: conflict.memory, type: "memory" }))],
  };
}

function booked(parts: BookingParts, quote: Quote, context: ToolContext, status: "booked" | "already_booked"): ToolResult {
  const event = eventOrThrow(parts.catalogue, quote.eventId);
  const section = sectionOrThrow(event, quote.section);
  const { owner, sessionId, turn, callId, now } = context;
  const seats = { capacity: section.seats, taken: seatsTaken(event, section) };
  const booking = parts.bookings.book(owner, quote, { sessionId, turn, callId }, seats, now);
  return {
    output: { ...bookingLine(booking), status, time: event.time, overridden: quote.waived.filter((id) => id !== WAIVED_UNCHECKED) },
    elements: [bookingReceipt(booking)],
    sources: [eventSource(event)],
  };
}

function offer(quote: Quote, event: CatalogueEvent, section: Section): JsonObject {
  return {
    quote_id: quote.id,
    event_id: event.id,
    title: event.title,
    venue: event.venue,
    city: event.city,
    day: longDay(event.day),
    time: event.time,
    section: section.name,
    section_step_free: section.stepFree,
    quantity: quote.quantity,
    companions: [...quote.companions],
    price_each: euros(section.priceCents),
    total: euros(quote.totalCents),
    valid_until: quote.expiresAt,
  };
}

function conflictLine(conflict: Conflict): JsonObject {
  const { source } = conflict;
  return {
    memory_id: conflict.memoryId,
    memory: conflict.memory,
    who: conflict.who,
    because: conflict.because,
    certain: !conflict.unknown,
    source:
      source === null ? null : { session_id: source.session_id, turn: source.turn, message_id: source.message_id, quote: source.quote },
  };
}

function conflictElement(conflict: Conflict): Element {
  return {
    id: `constraint:${conflict.memoryId}`,
    type: "constraint",
    name: conflict.memory,
    content: JSON.stringify(conflictLine(conflict)),
    display: "side",
  };
}
