import { agreesToKeep, callThen, failureOf, isOff, MEMORY_OFF, memoryTalk, NOT_KEPT, ordinalIn, readReply, say } from "@maitred/offline";
import type { OfflineScript, ScriptMove, ScriptView } from "maitred";
import { CONCIERGE_NEEDS } from "./needs.js";
import { beginsWith, folded, says, saysOnly } from "./phrases.js";
import { isAbroad, onlyTells, tellsAbroad } from "./script/telling.js";
import { type Wish, wishIn } from "./script/wish.js";
import { citiesIn, genresIn, kindsIn, priceIn } from "./script/words.js";
import { answer, book } from "./stand-in/booking-moves.js";
import { cancellation } from "./stand-in/cancel-moves.js";
import { fact } from "./stand-in/fact-moves.js";
import { habitsOf } from "./stand-in/habits.js";
import { bookingsIn, focus, isOnSale, lastList, openQuote, placeIn, showedOne, wishOpened } from "./stand-in/past.js";
import * as replies from "./stand-in/replies.js";
import { details, search, whichOne } from "./stand-in/search-moves.js";
import { CONCIERGE_WORDS } from "./words.js";

/** A longer message says more than a greeting. */
const MAX_GREETING_WORDS = 4;
const GREETING = `Good to see you. ${replies.HELP}`;

const memory = memoryTalk(CONCIERGE_NEEDS, CONCIERGE_WORDS);

/** The concierge's everyday requests, by rules: what the stand-in model plays where no model is connected. English. */
export const conciergeScript: OfflineScript = {
  name: "concierge script",
  words: CONCIERGE_WORDS,
  next: (view) => memory.asking(memory.settle(view) ?? memory.command(view) ?? besidesKeepingOut(view) ?? requested(view), view),
};

/** "Don't remember this: …": what follows may ask for something all the same. */
function besidesKeepingOut(view: ScriptView): ScriptMove | undefined {
  if (!keepsOut(view)) return undefined;
  const rest = { ...view, message: view.request };
  const asks = rest.message.includes("?") || !wishIn(rest.message, view).empty;
  return asks && !onlyTells(rest.message) ? requested(rest) : say(NOT_KEPT);
}

function keepsOut({ commands }: ScriptView): boolean {
  return commands[0]?.kind === "do_not_remember";
}

/** What is open comes before what is new. */
function requested(view: ScriptView): ScriptMove {
  const wish = wishIn(view.message, view);
  const habits = habitsOf(view.memories);
  const open = memory.choice(view) ?? cancellation(view) ?? answer(view, wish, habits);
  if (open !== undefined) return open;
  const words = folded(view.message).trim();
  if (says(words, "bookings"))
    return callThen(view, { name: "list_bookings", arguments: {} }, (output) => replies.bookingsReply(bookingsIn(output)));

  const listed = lastList(view).length > 0 || focus(view) !== undefined;
  const place = listed ? placeIn(view) : undefined;
  const seats = place !== undefined && ordinalIn(words) === undefined && saysOnlyNumber(words) ? undefined : wish.party;
  const cheapest = listed && /\bcheapest\b/.test(words);
  const refers = place !== undefined || cheapest || (listed && says(words, "pointing"));
  const asks = words.includes("?") || beginsWith(words, "asking");
  const understood = memory.understood(view.message).length > 0;
  const told = { thanked: !wish.empty, understood, ofNeed: memory.speaksOfNeed(view.message) };
  const tells = onlyTells(words, told) || tellsOfGuests(view, wish);
  if (place === undefined && !asks && tells) return noted(view);
  const abroad = words.includes("?") ? null : toldAbroad(view, wish);
  if (abroad !== null) return abroad;
  if (agreesToKeep(view.message)) return say(replies.NOTHING_ASKED);
  if (says(words, "book") && (refers || !/^(?:what|which|where|how much)\b/.test(words))) return book(view, wish, habits);
  if ((refers || wish.title !== undefined) && asks && says(words, "details")) return details(view, wish, habits);
  if (place !== undefined || cheapest) return (seats === undefined ? details : book)(view, wish, habits);

  const greets = beginsWith(words, "greeting");
  if (greets && wish.empty && words.split(/\s+/).length <= MAX_GREETING_WORDS) return say(GREETING);
  if (says(words, "help")) return say(replies.HELP);
  const several = listed && wish.empty && focus(view) === undefined;
  const which = several && !says(words, "looks_back") && (says(words, "pointing") || wish.party !== undefined) ? whichOne(view) : undefined;
  const opened = wishOpened(view, wish);
  if (opened !== undefined) return search(view, opened, habits);
  if (which !== undefined) return which;
  // "Is there parking?" of what was just shown: the catalogue doesn't say.
  if (asks && wish.empty && wish.text !== "" && beginsWith(words, "of_shown") && showedOne(view)) return fact(view);
  if (asks && says(words, "about_self") && (wish.empty || says(words, "looks_back"))) return fact(view);
  const tellsToo = !asks && understood && !says(words, "wants", "searching", "request", "book", "places");
  const nothingFound = tellsToo ? () => noted(view) : undefined;
  if (!wish.empty || says(words, "searching")) return search(view, wish, habits, nothingFound);
  if (beginsWith(words, "thanking")) return thanked(view, words);
  if (greets) return say(GREETING);
  if (asks && isAbroad(view.message)) return say(replies.ASKED_ABROAD);
  if (asks && isOnSale(wish.text, view)) return search(view, wish, habits);
  if (asks && (beginsWith(words, "asking") || wish.text === "")) return fact(view);
  const reply = readReply(view.message);
  if (reply.yes || (reply.no && words.split(/\s+/).length === 1)) return say(replies.NOTHING_ASKED);
  return wish.text === "" ? say(replies.HELP) : search(view, wish, habits, nothingFound);
}

/** "Planning my mum's 70th, she can't do stairs": of people and what they need, of nothing that could be looked for, and no request. */
function tellsOfGuests({ message, window }: ScriptView, wish: Wish): boolean {
  const words = folded(message);
  // "Three of us" answers a question.
  const answers = wish.party !== undefined && window.length > 0 && !memory.speaksOfNeed(message);
  return (
    !looksFor(besidesTold(wish, memory.understood(message))) &&
    !answers &&
    !isAbroad(message) &&
    says(words, "states", "of_us") &&
    !says(words, "wants", "searching", "request", "book", "places")
  );
}

/** "I love jazz, I'm vegan": a taste that is told is not what is looked for. */
function besidesTold(wish: Wish, understood: readonly string[]): Wish {
  const told = understood.join("; ");
  const genres = wish.genres.filter((genre) => !genresIn(told).includes(genre));
  const without = <Value>(value: Value | undefined, named: readonly Value[]) =>
    value !== undefined && named.includes(value) ? undefined : value;
  return {
    ...wish,
    genres,
    kind: without(wish.kind, kindsIn(told)),
    city: without(wish.city, citiesIn(told)),
    maxPrice: priceIn(told) === wish.maxPrice ? undefined : wish.maxPrice,
  };
}

/** Names more than for how many, and with what needs. */
function looksFor({ genres, kind, city, days, maxPrice }: Wish): boolean {
  return genres.length > 0 || [kind, city, days, maxPrice].some((each) => each !== undefined);
}

/** To what is told in another language: of the guest by a few small words, of others where it is understood. Null where nothing is. */
function toldAbroad(view: ScriptView, wish: Wish): ScriptMove | null {
  const { message } = view;
  if (!isAbroad(message)) return null;
  const understood = memory.understood(message);
  const tells = tellsAbroad(message) || (understood.length > 0 && !looksFor(wish) && !says(message, "wants_abroad", "book", "places"));
  if (!tells) return null;
  if (keepsOut(view)) return say(NOT_KEPT);
  return say(isOff(view) ? replies.TOLD_ABROAD_OFF : replies.toldAbroad(understood));
}

/** "2" to a list is a place on it, and no number of seats. */
function saysOnlyNumber(words: string): boolean {
  return /^\W*\d\W*$/u.test(words);
}

/** A need may stand against what is booked already. */
function noted(view: ScriptView): ScriptMove {
  if (keepsOut(view)) return say(NOT_KEPT);
  if (isOff(view)) return say(MEMORY_OFF);
  const understood = memory.understood(view.message);
  if (!memory.speaksOfNeed(view.message) || !view.tools.has("list_bookings")) return say(replies.noted(understood));
  const looked = callThen(view, { name: "list_bookings", arguments: {} }, (output) => replies.notedReply(bookingsIn(output), understood));
  const failed = view.observations.some((each) => each.name === "list_bookings" && failureOf(each) !== undefined);
  return failed ? say(replies.noted(understood)) : looked;
}

/** "Ok, do it anyway" is no thanks: what is open is asked about once more. */
function thanked(view: ScriptView, words: string): ScriptMove {
  const saysMore = !saysOnly(words, "thanking", "polite");
  const quote = openQuote(view);
  if (saysMore && quote !== undefined) return say(replies.unansweredReply(quote));
  const which = saysMore && !says(words, "gratitude") ? whichOne(view) : undefined;
  return which ?? say("You are welcome. Is there anything else I can do?");
}
