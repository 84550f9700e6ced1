import type { JsonValue } from "../../domain/session.js";
import type { ScriptMove, ScriptView } from "../../ports/offline-script.js";
import { joined } from "../companions.js";
import { companionsIn, spokenOf, staysBehind } from "../script/party-words.js";
import { readReply } from "../script/reply.js";
import type { Wish } from "../script/wish.js";
import { partyIn } from "../script/words.js";
import { plain } from "../vocabulary.js";
import type { Habits } from "./habits.js";
import { callThen, isFailure, say } from "./moves.js";
import { awaitsQuantity, focus, justShowedOne, mergeLists, openQuote, type ShownQuote, saidSinceList } from "./past.js";
import * as replies from "./replies.js";
import { meantEvent, missingPlace, search } from "./search-moves.js";

/** Bookings and answers to a quote, as moves. */

/** What the tools take of the guest's words. */
const MAX_QUOTED_CHARS = 500;

export function book(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const outcome = view.observations.findLast(({ name }) => name === "book_tickets");
  if (outcome !== undefined) return say(isFailure(outcome) ? replies.failureReply(outcome) : replies.bookingReply(outcome.output));
  const asked = view.observations.findLast(({ name }) => name === "check_availability");
  if (asked !== undefined) return say(`${replies.detailsReply(asked.output)}\nHow many seats would you like?`);
  const found = view.observations.some(({ name }) => name === "search_events");
  const waiting = awaitsQuantity(view) ?? (readReply(view.message).yes && justShowedOne(view) ? focus(view) : undefined);
  const event = found ? onlyFound(view) : (meantEvent(view, wish) ?? (wish.party === undefined ? undefined : waiting));
  if (event === undefined) return missingPlace(view) ?? search(view, wish, habits);
  const quantity = wish.party ?? partySaid(view) ?? habits.party?.size;
  if (quantity === undefined) return { type: "call", calls: [{ name: "check_availability", arguments: { event_id: event } }] };
  const companions = companionsOf(view);
  const section = /\b(stalls|circle|gallery|front tables|tables|bar|main stand|side stand|corner|dining room|chef's counter)\b/.exec(
    plain(view.message),
  )?.[1];
  const named = section !== undefined && section !== "tables" ? section : undefined;
  return {
    type: "call",
    calls: [
      {
        name: "book_tickets",
        arguments: {
          event_id: event,
          quantity,
          ...(companions.length > 0 && { companions }),
          ...(named !== undefined && { section: named }),
        },
      },
    ],
  };
}

/** How many the guest has spoken of for what was found: as many as the list was shown for, unless they have changed it since. */
function partySaid(view: ScriptView): number | undefined {
  return saidSinceList(view).reduce<number | undefined>((party, text) => partyIn(text) ?? party, undefined);
}

/** The one event that this turn's searches found, if it is one. */
function onlyFound(view: ScriptView): string | undefined {
  const list = mergeLists(view.observations);
  return list.length === 1 ? list[0]?.event_id : undefined;
}

/** Whom the guest has spoken of in what the window holds; later words outweigh earlier ones. */
function companionsOf(view: ScriptView): string[] {
  const known = [...new Set(view.memories.map(({ subject }) => subject))].filter((subject) => subject !== "self");
  let party: readonly string[] = [];
  for (const text of [...view.window.map((round) => round.user), view.message]) {
    const named = known.filter((name) => spokenOf(name, text));
    party = joined(
      party.filter((name) => !staysBehind(name, text)),
      [...companionsIn(text), ...named],
    );
  }
  return [...party];
}

export function answerQuote(view: ScriptView): ScriptMove {
  const quote = openQuote(view);
  if (quote === undefined) return say(replies.HELP);
  const seats = partyIn(view.message);
  const changed = seats !== undefined && seats !== quote.quantity;
  const companions = companionsOf(view);
  const absent = quote.companions.filter((name) => staysBehind(name, view.message));
  const args = {
    event_id: quote.event_id,
    ...(changed ? { quantity: seats } : { quote_id: quote.quote_id, ...consentIn(view.message, quote) }),
    ...(companions.length > 0 && { companions }),
    ...(absent.length > 0 && { not_coming: absent }),
  };
  return callThen(view, { name: "book_tickets", arguments: args }, (seen) =>
    isFailure(seen) ? replies.failureReply(seen) : replies.bookingReply(seen.output),
  );
}

/** What the guest's answer says to a quote, with their own words. */
function consentIn(message: string, quote: ShownQuote): { readonly [key: string]: JsonValue } {
  const reply = readReply(message);
  const said = message.slice(0, MAX_QUOTED_CHARS);
  if (quote.status === "needs_confirmation") return reply.yes || reply.override ? { agreed: said } : {};
  if (!reply.override && !(quote.unchecked && reply.nothingToMind)) return {};
  return { override: { token: quote.token, memory_ids: quote.conflicts.map(({ memory_id }) => memory_id), quote: said } };
}
