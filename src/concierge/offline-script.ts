import { commandsOf } from "../commands.js";
import type { Observation, OfflineScript, ScriptCall, ScriptMove, ScriptView } from "../offline-script.js";
import { comesAlong, companionsIn, joined, staysBehind } from "./companions.js";
import { factFor } from "./script/facts.js";
import { type Intent, intentOf } from "./script/intent.js";
import type { MemoryChoice } from "./script/memory-choice.js";
import {
  awaitsQuantity,
  bookingOf,
  bookingsOf,
  focus,
  type ListedBooking,
  type ListedEvent,
  lastBooked,
  lastBookings,
  lastList,
  mergeLists,
  offeredCancellation,
  openQuote,
} from "./script/past.js";
import * as replies from "./script/replies.js";
import { rememberCall } from "./script/statements.js";
import { attemptsFor, type Habits, habitsOf, type Wish, wishIn } from "./script/wish.js";
import { ordinalIn, partyIn, pointsBack } from "./script/words.js";
import { plain } from "./vocabulary.js";

/** Of a message: rules find nothing new beyond it, and must not hold the process up over it. */
const MAX_READ_CHARS = 2_000;
/** In one message: as many calls as the tool takes in a turn. */
const MAX_FORGOTTEN = 5;

/** The concierge's everyday requests, by rules: what the stand-in model plays where no model is connected. English. */
export const conciergeScript: OfflineScript = {
  name: "concierge script",
  next(given) {
    const view = { ...given, message: given.message.slice(0, MAX_READ_CHARS) };
    const wish = wishIn(view);
    return moveFor(intentOf(view, wish), view, wish, habitsOf(view.memories));
  },
};

const say = (text: string): ScriptMove => ({ type: "say", text });

function moveFor(intent: Intent, view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  switch (intent.kind) {
    case "command":
      return command(intent.command, view);
    case "choose_memory":
      return chooseMemory(intent.choice, view);
    case "answer_quote":
    case "change_quote":
      return answerQuote(view);
    case "restate_quote":
      return answerQuote(view);
    case "decline_quote":
      return say("Understood, nothing is booked. Shall I look for something else?");
    case "confirm_cancel":
      return cancelById(view, offeredCancellation(view));
    case "decline_cancel":
      return say("Understood, the booking stays as it is.");
    case "cancel":
      return cancel(view);
    case "list_bookings":
      return callThen(view, { name: "list_bookings", arguments: {} }, (seen) =>
        isFailure(seen) ? replies.failureReply(seen) : replies.bookingsReply(bookingsOf(seen) ?? []),
      );
    case "book":
      return book(view, wish, habits);
    case "details":
      return details(view, wish, habits);
    case "search":
      return search(view, wish, habits);
    case "fact":
      return fact(view);
    case "statement":
      return say(replies.NOTED);
    case "thanks":
      return say("You are welcome. Is there anything else I can do?");
    case "greeting":
      return say(`Good to see you. ${replies.HELP}`);
    case "help":
      return say(replies.HELP);
  }
}

/** Calls a tool, then says what came of it. */
function callThen(view: ScriptView, call: ScriptCall, reply: (seen: Observation) => string): ScriptMove {
  const seen = view.observations.findLast(({ name }) => name === call.name);
  if (seen !== undefined) return say(reply(seen));
  if (!view.tools.has(call.name)) return say("I can't do that here.");
  return { type: "call", calls: [call] };
}

// ---- memory --------------------------------------------------------------------------------------------------------

function command(asked: Extract<Intent, { kind: "command" }>["command"], view: ScriptView): ScriptMove {
  const change = (call: ScriptCall) => callThen(view, call, replies.memoryChangeReply);
  switch (asked.kind) {
    case "list":
      return view.tools.has("list_memories") || view.observations.length > 0
        ? callThen(view, { name: "list_memories", arguments: {} }, (seen) => replies.memoriesReply(seen.output, view.memories))
        : say(replies.memoriesReply(null, view.memories));
    case "remember":
      return change(rememberCall(asked.text, quoteOf(asked.text, view.message), view.message));
    case "forget":
      return forget(view);
    case "forget_all":
      return change({ name: "forget", arguments: { what: "everything", everything: true } });
    case "no_longer": {
      // Where the guest only points, what was spoken of is in the message before.
      const what = asked.what !== "" ? asked.what : (view.window.at(-1)?.assistant ?? "").slice(0, 500);
      return what === ""
        ? say("What is no longer true? Tell me in a sentence.")
        : change({ name: "no_longer_true", arguments: { what, quote: view.message } });
    }
    case "do_not_remember":
      return say(replies.NOT_KEPT);
  }
}

/** All that the message asks to forget, each with a call of its own. */
function forget(view: ScriptView): ScriptMove {
  const things = commandsOf(view.message).flatMap(({ command }) => (command.kind === "forget" ? [command.what] : []));
  const seen = view.observations.filter(({ name }) => name === "forget");
  if (seen.length > 0) return say(seen.map(replies.memoryChangeReply).join("\n"));
  if (!view.tools.has("forget")) return say("I can't do that here.");
  return { type: "call", calls: things.slice(0, MAX_FORGOTTEN).map((what) => ({ name: "forget", arguments: { what } })) };
}

function chooseMemory({ tool, what, memoryId }: MemoryChoice, view: ScriptView): ScriptMove {
  if (memoryId === null) return say("Then I have changed nothing.");
  const named = { what, memory_id: memoryId };
  const call = { name: tool, arguments: tool === "forget" ? named : { ...named, quote: view.message } };
  return callThen(view, call, replies.memoryChangeReply);
}

/** The message's own bytes: a command is read with its apostrophes straightened. */
function quoteOf(text: string, message: string): string {
  const at = message.replace(/[\u2018\u2019\u02BC]/g, "'").indexOf(text);
  return at === -1 ? message : message.slice(at, at + text.length);
}

// ---- search --------------------------------------------------------------------------------------------------------

function search(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const party = wish.party ?? habits.party?.size;
  const attempts = attemptsFor(wish, habits);
  for (const attempt of attempts) {
    const seen = attempt.calls.map((call) => observationOf(view, call));
    if (seen.some((observation) => observation === undefined)) {
      if (!view.tools.has("search_events")) return say("I can't search here.");
      return { type: "call", calls: attempt.calls };
    }
    const list = mergeLists(seen.filter((observation) => observation !== undefined)).toSorted(byFit(attempt.calls));
    if (list.length > 0) return say(replies.listReply(list, attempt.used, party, attempt.used.length < (attempts[0]?.used.length ?? 0)));
  }
  const failed = view.observations.find(({ output }) => typeof output === "object" && output !== null && "error" in output);
  return say(failed === undefined ? replies.NOTHING_FOUND : replies.failureReply(failed));
}

/** The order of the tool, over several searches: step-free first where it was asked for, then by start. */
function byFit(calls: readonly ScriptCall[]): (a: ListedEvent, b: ListedEvent) => number {
  const stepFreeFirst = calls.some((call) => call.arguments.step_free === "first");
  const start = (event: ListedEvent) => `${event.date} ${event.time}`;
  return (a, b) =>
    (stepFreeFirst ? Number(b.step_free) - Number(a.step_free) : 0) || (start(a) < start(b) ? -1 : start(a) > start(b) ? 1 : 0);
}

function observationOf(view: ScriptView, call: ScriptCall): Observation | undefined {
  const wanted = JSON.stringify(call.arguments);
  return view.observations.find(({ name, input }) => name === call.name && JSON.stringify(input) === wanted);
}

// ---- one event -----------------------------------------------------------------------------------------------------

/** The list as the guest saw it, in the order in which it was shown. */
function shownList(view: ScriptView): readonly ListedEvent[] {
  const list = lastList(view);
  const said = view.window.map((round) => round.assistant).findLast((text) => list.some((event) => text.includes(event.title)));
  if (said === undefined) return list;
  return list.toSorted((a, b) => placeIn(said, a) - placeIn(said, b));
}

function placeIn(text: string, event: ListedEvent): number {
  const line = text.split("\n").findIndex((each) => each.includes(event.title) && each.includes(event.day));
  return line === -1 ? Number.MAX_SAFE_INTEGER : line;
}

/** The event that the message means: by its place, by what sets it apart, or the one that was spoken of. */
function meantEvent(view: ScriptView, wish: Wish): string | undefined {
  const list = shownList(view);
  const words = plain(view.message);
  const place = ordinalIn(words);
  if (place !== undefined && list.length > 0) return (place === -1 ? list.at(-1) : list[place])?.event_id;
  if (/\bcheapest\b/.test(words)) return list.toSorted((a, b) => a.from_price_eur - b.from_price_eur)[0]?.event_id;
  if (/\b(?:earliest|soonest)\b/.test(words)) return list.toSorted((a, b) => (a.date < b.date ? -1 : 1))[0]?.event_id;
  const named = (event: ListedEvent) =>
    wish.text.split(" ").every((word) => plain(`${event.title} ${event.artist} ${event.venue}`).includes(word));
  const name = wish.text !== "" && list.some(named);
  const fitting = list.filter(
    (event) =>
      (wish.genres.length === 0 || wish.genres.some((genre) => genre === event.genre)) &&
      (wish.city === undefined || wish.city === event.city) &&
      (wish.days === undefined || (event.date >= wish.days.from && event.date <= wish.days.to)) &&
      (!name || named(event)),
  );
  // A name that nothing on the list has is of something else.
  if (wish.text !== "" && !name && !pointsBack(words)) return undefined;
  const apart = wish.genres.length > 0 || wish.city !== undefined || wish.days !== undefined || name;
  if (apart) return fitting.length === 1 ? fitting[0]?.event_id : undefined;
  return focus(view) ?? (list.length === 1 ? list[0]?.event_id : undefined);
}

function details(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const event = meantEvent(view, wish);
  if (event !== undefined)
    return callThen(view, { name: "get_event", arguments: { event_id: event } }, (seen) => replies.detailsReply(seen.output));
  const missing = missingPlace(view);
  if (missing !== undefined) return missing;
  return lastList(view).length > 0 && view.observations.length === 0
    ? say("Which one do you mean? Tell me its number.")
    : search(view, wish, habits);
}

// ---- bookings ------------------------------------------------------------------------------------------------------

function book(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const outcome = view.observations.findLast(({ name }) => name === "book_tickets");
  if (outcome !== undefined) return say(isFailure(outcome) ? replies.failureReply(outcome) : replies.bookingReply(outcome.output));
  const asked = view.observations.findLast(({ name }) => name === "check_availability");
  if (asked !== undefined) return say(`${replies.detailsReply(asked.output)}\nHow many seats would you like?`);
  const found = view.observations.some(({ name }) => name === "search_events");
  const waiting = awaitsQuantity(view);
  const event = found ? onlyFound(view) : (meantEvent(view, wish) ?? (wish.party === undefined ? undefined : waiting));
  if (event === undefined) return missingPlace(view) ?? search(view, wish, habits);
  const quantity = wish.party ?? habits.party?.size;
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

/** "The seventh" of five. */
function missingPlace(view: ScriptView): ScriptMove | undefined {
  const list = lastList(view);
  const place = ordinalIn(view.message);
  if (place === undefined || place < list.length || list.length === 0) return undefined;
  return say(list.length === 1 ? "There is only one on the list." : `There are only ${list.length} on the list. Which one do you mean?`);
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
    const named = known.filter((name) => comesAlong(name, [], text));
    party = joined(
      party.filter((name) => !staysBehind(name, text)),
      [...companionsIn(text), ...named],
    );
  }
  return [...party];
}

function answerQuote(view: ScriptView): ScriptMove {
  const quote = openQuote(view);
  if (quote === undefined) return say(replies.HELP);
  const seats = partyIn(view.message);
  const changed = seats !== undefined && seats !== quote.quantity;
  const companions = companionsOf(view);
  const args = {
    event_id: quote.event_id,
    ...(changed ? { quantity: seats } : { quote_id: quote.quote_id }),
    ...(companions.length > 0 && { companions }),
  };
  return callThen(view, { name: "book_tickets", arguments: args }, (seen) =>
    isFailure(seen) ? replies.failureReply(seen) : replies.bookingReply(seen.output),
  );
}

function cancel(view: ScriptView): ScriptMove {
  const quote = openQuote(view);
  const listed = view.observations.findLast(({ name }) => name === "list_bookings");
  const cancelled = view.observations.findLast(({ name }) => name === "cancel_booking");
  if (cancelled !== undefined) return cancelById(view, undefined);
  // "Cancel that" while a quote waits: nothing is booked yet.
  if (quote !== undefined && listed === undefined && !/\bbooking|reservation|MD-/i.test(view.message))
    return say("Understood, nothing is booked.");
  const before = lastBookings(view);
  const chosen = before.length > 0 ? chooseBooking(view, before) : undefined;
  if (chosen !== undefined) return cancelById(view, chosen.booking_id);
  const just = lastBooked(view);
  if (just !== undefined && /\b(?:it|that|this)\b/i.test(view.message) && listed === undefined) return cancelById(view, just);
  if (listed === undefined) return callThen(view, { name: "list_bookings", arguments: {} }, () => "");
  if (isFailure(listed)) return say(replies.failureReply(listed));
  const bookings = bookingsOf(listed) ?? [];
  const place = ordinalIn(view.message);
  if (place !== undefined && place >= bookings.length && bookings.length > 0)
    return say(`There is no such number.\n${replies.bookingsReply(bookings)}\n\nWhich one shall I cancel?`);
  const one = chooseBooking(view, bookings) ?? (bookings.length === 1 ? bookings[0] : undefined);
  if (one !== undefined) return cancelById(view, one.booking_id);
  return say(
    bookings.length === 0
      ? "You have no bookings that could be cancelled."
      : `${replies.bookingsReply(bookings)}\n\nWhich one shall I cancel?`,
  );
}

function cancelById(view: ScriptView, id: string | undefined): ScriptMove {
  return callThen(view, { name: "cancel_booking", arguments: { booking_id: id ?? "" } }, (seen) => {
    if (isFailure(seen)) return replies.failureReply(seen);
    const booking = bookingOf(seen);
    if (booking === undefined) return replies.failureReply(seen);
    return booking.status === "cancelled"
      ? `Cancelled: ${replies.bookingLine(booking)}.`
      : `Shall I cancel this booking? ${replies.bookingLine(booking)}`;
  });
}

/** By reference, by place in the list, or by words of title, venue, city or day. */
function chooseBooking(view: ScriptView, bookings: readonly ListedBooking[]): ListedBooking | undefined {
  const words = plain(view.message);
  const byReference = bookings.find(({ reference }) => reference !== null && words.includes(reference.toLowerCase()));
  if (byReference !== undefined) return byReference;
  const place = ordinalIn(words);
  if (place !== undefined) return place === -1 ? bookings.at(-1) : bookings[place];
  const said = words.match(/[\p{L}]{4,}/gu) ?? [];
  const named = bookings.filter((booking) => {
    const own: readonly string[] = plain(`${booking.title} ${booking.venue} ${booking.city} ${booking.day}`).match(/[\p{L}]{4,}/gu) ?? [];
    return said.some((word) => own.includes(word));
  });
  return named.length === 1 ? named[0] : undefined;
}

// ---- what was said -------------------------------------------------------------------------------------------------

function fact(view: ScriptView): ScriptMove {
  const here = factFor(view.message, view);
  if (here !== undefined) return say(`You told me: “${here}”`);
  const memory = factFor(view.message, {
    ...view,
    summary: view.memories.map(({ text }) => `${text}.`).join("\n"),
    references: "",
    window: [],
  });
  if (memory !== undefined) return say(`I remember about you: ${memory}`);
  const looked = view.observations.findLast(({ name }) => name === "search_history");
  if (looked === undefined && view.tools.has("search_history"))
    return { type: "call", calls: [{ name: "search_history", arguments: { query: view.message.slice(0, 500) } }] };
  return say((looked && replies.historyReply(looked.output, view.message)) ?? "I don't know that. If you tell me, I can go by it.");
}

function isFailure(observation: Observation): boolean {
  return typeof observation.output === "object" && observation.output !== null && "error" in observation.output;
}
