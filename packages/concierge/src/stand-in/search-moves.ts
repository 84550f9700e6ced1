import { callThen, failureOf, say } from "@maitred/offline";
import type { MemoryLine, ScriptCall, ScriptMove, ScriptView } from "maitred";
import { plain } from "maitred/stand-in";
import type { CatalogueEvent } from "../catalogue.js";
import { says } from "../phrases.js";
import { isAbroad } from "../script/telling.js";
import type { Wish } from "../script/wish.js";
import { isBookable } from "../seats.js";
import { kindOf } from "../vocabulary.js";
import type { Habits } from "./habits.js";
import { focus, heldIn, lastList, mergedList, nextOnSale, placeIn, type SaidBefore, saidBefore } from "./past.js";
import * as replies from "./replies.js";

/** Searches, and what is told of one event. */

/**
 * A name that finds nothing is left out, then the habits that only narrow, then where and when were said before, then the part of the day,
 * then the day.
 */
const TRIES = [
  { named: true, narrow: true, before: true, timed: true, dated: true },
  { named: false, narrow: true, before: true, timed: true, dated: true },
  { named: false, narrow: false, before: true, timed: true, dated: true },
  { named: false, narrow: false, before: false, timed: true, dated: true },
  { named: false, narrow: false, before: false, timed: false, dated: true },
  { named: false, narrow: false, before: false, timed: false, dated: false },
];

const sayNothingFound = (name: string): ScriptMove => say(replies.nothingFound(name));

/** `nothingFound`: what is done where nothing is. Default: it is said. */
export function search(view: ScriptView, wish: Wish, habits: Habits, nothingFound = sayNothingFound): ScriptMove {
  let most = 0;
  const before = saidBefore(view, wish);
  for (const how of TRIES) {
    const partOfDay = how.timed ? wish.partOfDay : undefined;
    const days = how.dated ? wish.days : undefined;
    const { calls, used, carried } = attempt({ ...wish, days, partOfDay }, habits, how.before ? before : {}, how);
    most = Math.max(most, used.length);
    const seen = calls.flatMap((call) => seenOf(view, call) ?? []);
    if (seen.length < calls.length) return view.tools.has("search_events") ? { type: "call", calls } : say("I can't search here.");
    const list = mergedList(seen);
    const party = wish.party ?? habits.party?.value;
    const leftOut =
      how.named || wish.empty || isAbroad(view.message) ? "" : asWritten(besidesCompany(wish.text, view.message), view.message);
    const dropped = {
      ...(how.before ? {} : before),
      ...(!how.timed && wish.partOfDay !== undefined && { partOfDay: wish.partOfDay }),
      ...(!how.dated && wish.days !== undefined && { days: wish.days }),
    };
    const told = { used, party, wider: used.length < most, leftOut, carried, dropped };
    if (list.length > 0) return say(replies.listReply(list, { ...told, held: heldIn(seen) }));
  }
  const [failure] = view.observations.flatMap((seen) => failureOf(seen) ?? []);
  if (failure === undefined && wish.empty && isAbroad(view.message)) return say(replies.ASKED_ABROAD);
  if (failure !== undefined) return say(failure);
  return nothingFound(wish.empty ? asWritten(wish.text, view.message) : "");
}

/** What of a name was no companion's: "dinner with Jon" looks for no Jon. */
function besidesCompany(name: string, message: string): string {
  const company = [...message.toLowerCase().matchAll(/\b(?:with|and|for|my)\s+([\p{L}\p{N}]+)/gu)].flatMap(([, word]) => word ?? []);
  return name
    .split(" ")
    .filter((word) => !company.includes(word))
    .join(" ");
}

/** Words as the guest wrote them: "Berlin". */
function asWritten(words: string, message: string): string {
  const written = message.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  return words
    .split(" ")
    .map((word) => written.find((each) => plain(each) === word) ?? word)
    .join(" ");
}

/** One try of a search, and which memories, and what of earlier messages, shaped it. */
function attempt(
  wish: Wish,
  habits: Habits,
  before: SaidBefore,
  { named, narrow }: { readonly named: boolean; readonly narrow: boolean },
): { readonly calls: readonly ScriptCall[]; readonly used: readonly MemoryLine[]; readonly carried: SaidBefore } {
  const used = new Set<MemoryLine>();
  const by = <Value>(habit: { readonly value: Value; readonly memory: MemoryLine } | undefined, applies = true): Value | undefined => {
    if (habit === undefined || !applies) return undefined;
    used.add(habit.memory);
    return habit.value;
  };
  const text = wish.text !== "" && (named || wish.empty) ? wish.text : undefined;
  // A name or a genre that was asked for is not narrowed by taste.
  const open = narrow && text === undefined;
  const carried = text === undefined ? before : {};
  const liked = open && wish.genres.length === 0 && wish.diet === undefined ? habits.genres : [];
  const fitting = liked.filter(({ value }) => wish.kind === undefined || kindOf(value) === wish.kind).slice(0, 3);
  const genres = wish.genres.length > 0 ? wish.genres : fitting.flatMap((habit) => by(habit) ?? []);
  const disliked = open && genres.length === 0 ? habits.disliked : [];
  const unwanted = disliked
    .filter(({ value }) => wish.kind === undefined || kindOf(value) === wish.kind)
    .flatMap((habit) => by(habit) ?? []);
  const notGenres = genres.length > 0 ? [] : [...new Set([...wish.notGenres, ...unwanted])];
  const dining = wish.kind === "dining" || (genres.length > 0 && genres.every((genre) => kindOf(genre) === "dining"));
  const party = wish.party ?? by(habits.party);
  const asked = {
    text,
    // "A jazz concert": the genre says the kind, and says it better.
    kind: genres.length === 0 ? wish.kind : undefined,
    not_genres: notGenres.length > 0 ? notGenres : undefined,
    city: wish.city ?? carried.city ?? by(habits.city, open),
    from: (wish.days ?? carried.days)?.from,
    to: (wish.days ?? carried.days)?.to,
    part_of_day: wish.partOfDay ?? carried.partOfDay,
    max_price_eur: wish.maxPrice ?? by(habits.maxPrice, open),
    party_size: party !== undefined && isBookable(party) ? party : undefined,
    step_free: wish.stepFree ? "only" : by(habits.stepFree) && "first",
    diet: wish.diet ?? by(habits.diet, narrow && dining),
  };
  const given = Object.fromEntries(Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const calls = genres.length === 0 ? [given] : genres.map((genre) => ({ ...given, genre }));
  return { calls: calls.map((call) => ({ name: "search_events", arguments: call })), used: [...used], carried };
}

function seenOf(view: ScriptView, call: ScriptCall) {
  const wanted = JSON.stringify(call.arguments);
  return view.observations.find(({ name, input }) => name === call.name && JSON.stringify(input) === wanted);
}

/** The event that the page shows and the message names: what a button of the page says. */
function shownAndNamed({ pageContext, message }: ScriptView): string | undefined {
  try {
    const { event_id: id, title } = JSON.parse(pageContext);
    const named = typeof id === "string" && typeof title === "string" && title !== "" && plain(message).includes(plain(title));
    return named ? id : undefined;
  } catch {
    // Text, or nothing.
    return undefined;
  }
}

/** The event that the message means: by its place, by what sets it apart, or the one that was spoken of. */
export function meantEvent(view: ScriptView, wish: Wish): string | undefined {
  const shown = shownAndNamed(view);
  if (shown !== undefined) return shown;
  const list = lastList(view);
  const place = placeIn(view);
  if (place !== undefined && list.length > 0) return list.at(place)?.id;
  if (/\bcheapest\b/i.test(view.message)) return list.toSorted((a, b) => replies.priceFrom(a) - replies.priceFrom(b))[0]?.id;
  const isNamed = (event: CatalogueEvent) =>
    wish.text.split(" ").every((word) => plain(`${event.title} ${event.artist} ${event.venue}`).includes(word));
  const named = wish.text !== "" && list.some(isNamed);
  // A name that nothing on the list has is of something else.
  if (wish.text !== "" && !named && !says(view.message, "pointing")) return undefined;
  if (wish.genres.length === 0 && wish.city === undefined && wish.days === undefined && !named)
    return focus(view) ?? (list.length === 1 ? list[0]?.id : undefined);
  const fitting = list.filter(
    (event) =>
      (wish.genres.length === 0 || wish.genres.includes(event.genre)) &&
      (wish.city === undefined || wish.city === event.city) &&
      (wish.days === undefined || (event.day >= wish.days.from && event.day <= wish.days.to)) &&
      (!named || isNamed(event)),
  );
  return fitting.length === 1 ? fitting[0]?.id : undefined;
}

export function details(view: ScriptView, wish: Wish, habits: Habits): ScriptMove {
  const event = meantEvent(view, wish) ?? nextOnSale(view, wish);
  if (event !== undefined) return callThen(view, { name: "get_event", arguments: { event_id: event } }, replies.detailsReply);
  return whichOne(view) ?? search(view, wish, habits);
}

/** Asks which one of the list is meant, where the words name none and nothing was looked for since. */
export function whichOne(view: ScriptView): ScriptMove | undefined {
  const open = lastList(view).length > 0 && view.observations.length === 0;
  return open ? say("Which one do you mean? Tell me its number.") : undefined;
}
