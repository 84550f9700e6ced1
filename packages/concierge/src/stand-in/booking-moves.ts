import {
  agreesToKeep,
  bowsOut,
  callThen,
  companionsIn,
  dropsOut,
  leftOut,
  NOT_PLAIN,
  oneStaysBehind,
  ordinalIn,
  readReply,
  say,
} from "@maitred/offline";
import type { JsonValue, ScriptMove, ScriptView } from "maitred";
import { says } from "../phrases.js";
import type { Wish } from "../script/wish.js";
import { partyLeftIn } from "../script/words.js";
import { isBookable } from "../seats.js";
import type { Habits } from "./habits.js";
import { bookingIn, lastList, mergedList, openQuote, placeIn, type ShownBooking, saidSinceList, sectionIn, showedOne } from "./past.js";
import * as replies from "./replies.js";
import { meantEvent, search, whichOne } from "./search-moves.js";

/** Bookings and answers to a quote, as moves. */

/** What the tools take of the guest's words. */
export const MAX_QUOTED_CHARS = 500;
/** Longer messages say something else too. */
const MAX_ANSWER_WORDS = 10;
/** A number of seats means what was shown so many rounds ago. */
const LATELY = 3;

export function book(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const event = eventToBook(view, wish);
  if (event === undefined) {
    const ofList = placeIn(view) !== undefined || (wish.empty && wish.text === "");
    return (ofList ? whichOne(view) : undefined) ?? search(view, wish, habits);
  }
  const said = partySaid(view);
  const quantity = wish.party ?? (said === undefined ? habits.party?.value : said.seats);
  if (quantity === undefined)
    return callThen(
      view,
      { name: "check_availability", arguments: { event_id: event } },
      (output) => `${replies.detailsReply(output)}\nHow many seats would you like?`,
    );
  if (!isBookable(quantity)) return say(replies.SEATS_AT_ONCE);
  const companions = companionsIn(view.message);
  const absent = leftOut(knownCompanions(view), view.message);
  const section = sectionIn(view.message, event);
  const given = {
    event_id: event,
    quantity,
    ...(section !== undefined && { section }),
    ...(companions.length > 0 && { companions: [...companions] }),
    ...(absent.length > 0 && { not_coming: [...absent] }),
  };
  return callThen(view, { name: "book_tickets", arguments: given }, replies.bookingReply);
}

/** Those of whom something is known. */
function knownCompanions({ memories }: ScriptView): readonly string[] {
  return [...new Set(memories.flatMap(({ subject }) => (subject === "self" ? [] : [subject])))];
}

/** What this turn's search found, if it is one; else what is meant. */
function eventToBook(view: ScriptView, wish: Wish): string | undefined {
  if (view.observations.some(({ name }) => name === "search_events")) {
    const [only, another] = mergedList(view.observations);
    return another === undefined ? only?.id : undefined;
  }
  return meantEvent(view, wish);
}

/**
 * How many the guest has spoken of for what was found: as many as the list was shown for, unless they have changed it since. Nobody knows
 * how many where somebody dropped out last.
 */
function partySaid(view: ScriptView): { readonly seats: number | undefined } | undefined {
  return saidSinceList(view).reduce<{ readonly seats: number | undefined } | undefined>((party, text) => {
    const seats = partyLeftIn(text);
    return seats !== undefined || dropsOut(text) ? { seats } : party;
  }, undefined);
}

/** What the guest says to a quote that waits, or to what was just shown by itself; undefined where they speak of something else. */
export function answer(view: ScriptView, wish: Wish, habits: Habits): ScriptMove | undefined {
  const reply = readReply(view.message);
  const brief = view.message.trim().split(/\s+/).length <= MAX_ANSWER_WORDS;
  const quote = openQuote(view);
  if (quote !== undefined) {
    const seats = brief && ordinalIn(view.message) === undefined ? partyLeftIn(view.message) : undefined;
    const absent = absentFrom(view, quote);
    if (seats === undefined && (absent.length > 0 || dropsOut(view.message)) && !reply.partly)
      return answerQuote(view, quote, { seats: quote.quantity, absent, agrees: false, reply: replies.fewerSeatsReply });
    const speaksToIt =
      reply.yes || reply.partly || agreesToKeep(view.message) || reply.override || (reply.nothingToMind && quote.status === "stopped");
    if (speaksToIt || absent.length > 0 || says(view.message, "total") || (seats !== undefined && seats !== quote.quantity))
      return answerQuote(view, quote, { seats: seats ?? quote.quantity, absent });
    return (reply.no && brief) || bowsOut(view.message)
      ? say("Understood, nothing is booked. Shall I look for something else?")
      : undefined;
  }
  if (dropsOut(view.message) && partyLeftIn(view.message) === undefined) return fewerOf(view);
  const before = reply.yes ? openQuote(view, { any: true }) : undefined;
  // Something came between: whether the yes is to that quote is asked.
  if (before !== undefined) return answerQuote(view, before, { seats: before.quantity, absent: [], agrees: false });
  const wants = reply.yes || (wish.party !== undefined && wish.empty);
  // The words of a yes name no title.
  return wants && brief && showedOne(view, reply.yes ? 1 : LATELY)
    ? book(view, reply.yes ? { ...wish, text: "" } : wish, habits)
    : undefined;
}

/** Who stays behind: by name, or as the one who would come along. */
function absentFrom(view: ScriptView, { companions }: ShownBooking): readonly string[] {
  const named = leftOut([...new Set([...companions, ...knownCompanions(view)])], view.message);
  return named.length === 0 && companions.length === 1 && oneStaysBehind(view.message) ? companions : named;
}

/** Somebody drops out of what was shown or booked; undefined where there is neither. */
function fewerOf(view: ScriptView): ScriptMove | undefined {
  const last = view.window.flatMap(({ observations }) => observations).findLast(({ name }) => name === "book_tickets");
  if (bookingIn(last?.output)?.status === "booked") return say(replies.BOOKED_STAYS);
  return lastList(view).length > 0 ? say(replies.HOW_MANY_NOW) : undefined;
}

function answerQuote(
  view: ScriptView,
  quote: ShownBooking,
  {
    seats,
    absent,
    agrees = true,
    reply = replies.bookingReply,
  }: {
    readonly seats: number;
    readonly absent: readonly string[];
    readonly agrees?: boolean;
    readonly reply?: (output: JsonValue) => string;
  },
): ScriptMove {
  if (!isBookable(seats)) return say(replies.SEATS_AT_ONCE);
  const { event_id, quote_id } = quote;
  // "My friend had to cancel" brings no friend.
  const companions = dropsOut(view.message) ? [] : companionsIn(view.message);
  const given = {
    event_id,
    ...(seats === quote.quantity ? { quote_id, ...(agrees ? consentIn(view.message, quote) : {}) } : { quantity: seats }),
    ...(companions.length > 0 && { companions: [...companions] }),
    ...(absent.length > 0 && { not_coming: [...absent] }),
  };
  const asksAgain = (readReply(view.message).partly || agreesToKeep(view.message)) && seats === quote.quantity && absent.length === 0;
  return callThen(view, { name: "book_tickets", arguments: given }, (output) =>
    asksAgain ? `${NOT_PLAIN} ${reply(output)}` : reply(output),
  );
}

/** What the guest's answer says to a quote, with their own words. */
function consentIn(message: string, { status, unchecked, token, conflicts }: ShownBooking): { readonly [key: string]: JsonValue } {
  const reply = readReply(message);
  const said = message.slice(0, MAX_QUOTED_CHARS);
  if (status === "needs_confirmation") return reply.yes || reply.override ? { agreed: said } : {};
  if (!reply.override && !(unchecked && reply.nothingToMind)) return {};
  return { override: { token, memory_ids: conflicts.map(({ memory_id }) => memory_id), quote: said } };
}
