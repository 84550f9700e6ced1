import type { Gate, Tool, ToolContext, ToolResult, Verdict } from "maitred";
import { ANSWERABLE_TURNS, joined, MaitredError, only, standsIn, waivedIn } from "maitred/domain";
import { z } from "zod";
import type { Quote, Waiver } from "../booking-rows.js";
import { type CatalogueEvent, type Section, seatsTaken, sectionNamed } from "../catalogue.js";
import { tokenOf, tokenOfQuote, whyRefused } from "../consent.js";
import { candidateOf } from "../need-check.js";
import { bookingLine, bookingReceipt, eventSource, seatsLeft } from "../presentation.js";
import { quotedOutput, stoppedOutput } from "../quote-output.js";
import { MAX_SEATS } from "../seats.js";
import { withBookedBefore } from "./booked-before.js";
import { type CatalogueParts, eventOrThrow, yetToBegin } from "./catalogue-tools.js";
import { namedIn, partyFor, partyOf } from "./party.js";

const people = z.array(z.string().min(1).max(64)).max(20);
const words = z.string().min(1).max(500);
const input = z.strictObject({
  event_id: z.string().min(1).max(200),
  section: z.string().max(100).optional().describe("default: the cheapest that fits"),
  quantity: z.number().int().min(1).max(MAX_SEATS).optional().describe("for a new quote"),
  companions: people.optional().describe("who comes along, as the guest or the user context names them"),
  not_coming: people.optional().describe("who doesn't come after all"),
  quote_id: z.string().max(64).optional().describe("that the guest answers"),
  agreed: words.optional().describe("the guest's words in this message that agree to the quote; not when they hesitate"),
  override: z
    .object({
      token: z.string().max(64),
      memory_ids: z.array(z.string().max(64)).max(100).describe("of all its conflicts"),
      quote: words.describe("the guest's words in this message that say so"),
    })
    .optional()
    .describe("only when the guest, told before what stands against it, says to book anyway"),
});
type Input = z.infer<typeof input>;

/** What the guest's answer to a quote is about, and what came of it. The rest was told them, or counts anew. */
const TOLD_AGAIN = [
  ...["status", "quote_id", "booking_id", "reference", "event_id", "title", "section", "quantity", "companions", "total"],
  ...["unchecked", "conflicts", "token"],
];

export interface BookingParts extends CatalogueParts {
  readonly gate: Gate;
}

/**
 * Quote first, book later. The first call only makes a quote. A booking is made in a later turn, with words of the guest's message that
 * the model names as the agreement and that stand there, to a quote that has not changed since it was shown. In front of both stands
 * the gate: what it stops needs consent to exactly what was shown.
 */
export function bookTickets(parts: BookingParts): Tool<Input> {
  return {
    name: "book_tickets",
    description:
      "Makes a quote; nothing is booked yet. Once the guest, in a later message, agrees to it, call again with quote_id and agreed; " +
      "for a `stopped` one with override.",
    parameters: input,
    recap: (output) => only(output, ...TOLD_AGAIN),
    run: async (args, context) => {
      const shown = await shownQuote(parts, args, context);
      if (shown?.bookingId) return booked(parts, shown, context, shown.turn === context.turn ? "booked" : "already_booked");
      return shown === null || changes(args, shown, parts.catalogue)
        ? newQuote(parts, args, context)
        : answered(parts, args, shown, context);
    },
  };
}

/** The quote that the call is about, if the guest has seen it and it still counts. */
async function shownQuote(parts: BookingParts, args: Input, context: ToolContext): Promise<Quote | null> {
  const { owner, sessionId, turn, now } = context;
  const recent = await parts.bookings.quotesSince(owner, sessionId, turn - ANSWERABLE_TURNS);
  // A booked quote counts for this turn's own retry, or when it is named; "two more" is a new one.
  const counts = (each: Quote) => (each.bookingId === null || each.turn === turn) && each.eventId === args.event_id;
  const quote = recent.find((each) => (args.quote_id === undefined ? counts(each) : each.id === args.quote_id)) ?? null;
  if (quote === null || quote.bookingId !== null) return quote;
  // Another quote came after it: a yes would be a yes to that one.
  const latest = recent.find((each) => each.bookingId === null);
  return quote.expiresAt > now.toISOString() && quote.turn === latest?.turn ? quote : null;
}

/** The call asks for something else than the quote is of, or it has another price by now. */
function changes(args: Input, quote: Quote, catalogue: BookingParts["catalogue"]): boolean {
  const section = sectionOrThrow(eventOrThrow(catalogue, quote.eventId), quote.section);
  return (
    section.priceCents * quote.quantity !== quote.totalCents ||
    args.event_id !== quote.eventId ||
    (args.quantity !== undefined && args.quantity !== quote.quantity) ||
    (args.section !== undefined && args.section.toLowerCase() !== quote.section.toLowerCase())
  );
}

/** The guest has seen the quote: does it stand, and do they agree? */
async function answered(parts: BookingParts, args: Input, shown: Quote, context: ToolContext): Promise<ToolResult> {
  const event = eventOrThrow(parts.catalogue, shown.eventId);
  const section = sectionOrThrow(event, shown.section);
  const seenBefore = shown.turn < context.turn;
  const mayBook = seenBefore && (consentsTo(shown, args, context) || agreesTo(shown, args, context));
  const judge = await parts.gate.read(context, { toBook: mayBook || shown.stop?.unchecked === true, named: namedIn(shown, args) });
  const { companions, absent } = partyOf(shown, args, judge.people);
  // Who takes somebody out of the party has not said yes to what was quoted.
  const same = shown.companions.every((name) => companions.includes(name));
  const consents = seenBefore && same && consentsTo(shown, args, context);
  const agrees = seenBefore && same && (consents || agreesTo(shown, args, context));
  const judged = judge(candidateOf(event, section, shown.quantity), partyFor(shown, { companions, absent }, context));
  const verdict = await withBookedBefore(judged, parts.bookings, context.owner, event);
  const stop = stopOf(event, section, verdict);
  const fresh = verdict.mentions.filter(({ id }) => !shown.mentioned.includes(id));
  const quote: Quote = { ...shown, absent, companions: joined(companions, verdict.along) };
  if (stop !== null && !(consents && shown.stop?.token === stop.token)) {
    const known = seenBefore && same && fresh.length === 0 && shown.stop?.token === stop.token;
    const refused = whyRefused(args, known ? shown.stop : null, context.userMessage.content);
    // The guest was asked about just this: an answer that the model got wrong can be mended before they are asked again.
    const turn = known && refused !== null ? shown.turn : context.turn;
    return stopped(parts, { ...quote, turn }, event, section, verdict, context, refused);
  }
  if (!agrees || fresh.length > 0) return quoted(parts, quote, event, section, verdict, context);
  yetToBegin(event, context.now);
  const at = context.now.toISOString();
  const waived = waivedIn(verdict).map((each): Waiver => ({ ...each, at }));
  const result = await booked(parts, { ...quote, stop: null, turn: context.turn, waived }, context, "booked");
  const line = `${event.title}, ${section.name}, ${shown.quantity}`;
  await parts.gate.booked(context, { tool: "book_tickets", line, verdict });
  return { ...result, used: verdict.checked };
}

/** Consent to what the shown quote was stopped for: by its token and words of this message, or by the button. */
function consentsTo({ stop }: Quote, { override }: Input, { userMessage, consent }: ToolContext): boolean {
  if (stop === null || stop.token === "") return false;
  if (consent === stop.token) return true;
  if (override === undefined || override.token !== stop.token || !standsIn(override.quote, userMessage.content)) return false;
  return stop.memoryIds.every((id) => override.memory_ids.includes(id)) && override.memory_ids.every((id) => stop.memoryIds.includes(id));
}

/** Agreement to a quote: words of this message, or its button. It passes over nothing that stands against it. */
function agreesTo(shown: Quote, { agreed }: Input, { userMessage, consent }: ToolContext): boolean {
  if (shown.stop === null && consent === tokenOfQuote(shown)) return true;
  return shown.stop?.unchecked !== true && standsIn(agreed, userMessage.content);
}

function stopOf(event: CatalogueEvent, section: Section, { conflicts, unchecked }: Verdict): Quote["stop"] {
  if (conflicts.length === 0 && !unchecked) return null;
  const memoryIds = conflicts.map(({ memoryId }) => memoryId);
  return { unchecked, memoryIds, token: tokenOf({ eventId: event.id, section: section.name, memoryIds, unchecked }) };
}

async function newQuote(parts: BookingParts, args: Input, context: ToolContext): Promise<ToolResult> {
  const { bookings, catalogue } = parts;
  const event = eventOrThrow(catalogue, args.event_id);
  yetToBegin(event, context.now);
  const before = await bookings.quotesSince(context.owner, context.sessionId, 0);
  const unbooked = before.filter((each) => each.eventId === event.id && each.bookingId === null);
  const replaced = unbooked.find(({ id }) => id === args.quote_id) ?? unbooked[0];
  // An answer to a quote that counts no more: it is made anew as it was.
  const outdated = args.quote_id === undefined && args.agreed === undefined ? undefined : replaced;
  const quantity = args.quantity ?? outdated?.quantity;
  if (quantity === undefined)
    throw new MaitredError("INVALID_REQUEST", {
      detail: "The number of seats is missing.",
      hint: "Ask the guest how many seats, then call again with quantity.",
    });
  const read = await parts.gate.read(context, { toBook: false, named: namedIn(replaced, args) });
  const who = partyOf(replaced, args, read.people);
  const judge = (section: Section) => read(candidateOf(event, section, quantity), partyFor({ quantity }, who, context));
  const sold = await bookings.sold([event.id]);
  const section =
    args.section === undefined ? bestSection(sold, event, quantity, judge, outdated?.section) : sectionOrThrow(event, args.section);
  const left = seatsLeft(sold, event, section);
  if (left < quantity)
    throw new MaitredError("NOT_FOUND", {
      detail: `Only ${left} seats are left in ${section.name}.`,
      hint: "Look at the other sections with check_availability, or search for another event.",
    });
  const verdict = await withBookedBefore(judge(section), bookings, context.owner, event);
  const quote = await bookings.addQuote(
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
      quantity,
      totalCents: section.priceCents * quantity,
      companions: joined(who.companions, verdict.along),
      absent: who.absent,
      mentioned: replaced?.mentioned ?? [],
      stop: null,
      waived: [],
    },
    context.now,
  );
  return stopOf(event, section, verdict) === null
    ? quoted(parts, quote, event, section, verdict, context)
    : stopped(parts, quote, event, section, verdict, context);
}

/** With enough seats, those that meet every need before the others: the one that was quoted, else the cheapest. */
function bestSection(
  sold: ReadonlyMap<string, number>,
  event: CatalogueEvent,
  quantity: number,
  judge: (section: Section) => Verdict,
  quoted: string | undefined,
): Section {
  const enough = event.sections
    .filter((section) => seatsLeft(sold, event, section) >= quantity)
    .sort((a, b) => a.priceCents - b.priceCents);
  const fitting = enough.filter((section) => stopOf(event, section, judge(section)) === null);
  const best = fitting.find(({ name }) => name === quoted) ?? fitting[0] ?? enough[0];
  if (best === undefined)
    throw new MaitredError("NOT_FOUND", {
      detail: `No section has ${quantity} seats left.`,
      hint: "Offer fewer seats, or search for another event.",
    });
  return best;
}

function sectionOrThrow(event: CatalogueEvent, name: string): Section {
  const section = sectionNamed(event, name);
  if (section === undefined)
    throw new MaitredError("NOT_FOUND", {
      detail: "There is no such section.",
      hint: `There are: ${event.sections.map((each) => each.name).join(", ")}.`,
    });
  return section;
}

async function quoted(
  parts: BookingParts,
  quote: Quote,
  event: CatalogueEvent,
  section: Section,
  verdict: Verdict,
  context: ToolContext,
): Promise<ToolResult> {
  const { shown, reminders } = await shownNow(parts, { ...quote, stop: null, turn: context.turn }, verdict, context);
  return quotedOutput(shown, event, section, verdict, reminders);
}

async function stopped(
  parts: BookingParts,
  quote: Quote,
  event: CatalogueEvent,
  section: Section,
  verdict: Verdict,
  context: ToolContext,
  refused: string | null = null,
): Promise<ToolResult> {
  const { shown, reminders } = await shownNow(parts, { ...quote, stop: stopOf(event, section, verdict) }, verdict, context);
  return stoppedOutput(shown, event, section, verdict, { reminders, incognito: context.memory === "off", refused });
}

/** Keeps what this answer shows, as shown in the quote's turn. What an earlier one mentioned is not mentioned again. */
async function shownNow(
  { bookings }: BookingParts,
  quote: Quote,
  { mentions }: Verdict,
  { owner }: ToolContext,
): Promise<{ readonly shown: Quote; readonly reminders: readonly string[] }> {
  const fresh = mentions.filter(({ id }) => !quote.mentioned.includes(id));
  const shown = { ...quote, mentioned: [...quote.mentioned, ...fresh.map(({ id }) => id)] };
  await bookings.updateQuote(owner, shown);
  return { shown, reminders: fresh.map(({ line }) => line) };
}

async function booked(parts: BookingParts, quote: Quote, context: ToolContext, status: "booked" | "already_booked"): Promise<ToolResult> {
  const event = eventOrThrow(parts.catalogue, quote.eventId);
  const section = sectionOrThrow(event, quote.section);
  const { owner, sessionId, turn, callId, now } = context;
  const seats = { capacity: section.seats, taken: seatsTaken(event, section) };
  const booking = await parts.bookings.book(owner, quote, { sessionId, turn, callId }, seats, now);
  return {
    output: { ...bookingLine(booking), status, time: event.time, overridden: overridden(quote) },
    elements: [bookingReceipt(booking)],
    sources: [eventSource(event)],
  };
}

/** Memories that it breaks on the guest's word. */
function overridden({ waived }: Quote): string[] {
  return waived.flatMap(({ memory_id, how }) => (how === "override" && memory_id !== null ? [memory_id] : []));
}
