import type { Observation, ScriptCall, ScriptMove, ScriptView } from "../../ports/offline-script.js";
import type { Wish } from "../script/wish.js";
import { ordinalIn, pointsBack } from "../script/words.js";
import { plain } from "../vocabulary.js";
import type { Habits } from "./habits.js";
import { callThen, say } from "./moves.js";
import { focus, type ListedEvent, lastList, mergeLists } from "./past.js";
import * as replies from "./replies.js";
import { attemptsFor } from "./search-attempts.js";

/** Searches, and what is told of one event. */

export function search(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
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
export function meantEvent(view: ScriptView, wish: Wish): string | undefined {
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

export function details(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const event = meantEvent(view, wish);
  if (event !== undefined)
    return callThen(view, { name: "get_event", arguments: { event_id: event } }, (seen) => replies.detailsReply(seen.output));
  const missing = missingPlace(view);
  if (missing !== undefined) return missing;
  return lastList(view).length > 0 && view.observations.length === 0
    ? say("Which one do you mean? Tell me its number.")
    : search(view, wish, habits);
}

/** "The seventh" of five. */
export function missingPlace(view: ScriptView): ScriptMove | undefined {
  const list = lastList(view);
  const place = ordinalIn(view.message);
  if (place === undefined || place < list.length || list.length === 0) return undefined;
  return say(list.length === 1 ? "There is only one on the list." : `There are only ${list.length} on the list. Which one do you mean?`);
}
