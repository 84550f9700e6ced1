import { ordinalIn, readReply } from "@maitred/offline";
import type { Observation, ScriptView } from "maitred";
import { standsIn } from "maitred/domain";
import { z } from "zod";
import { Catalogue, type CatalogueEvent, filterEvents, isStepFree } from "../catalogue.js";
import { says } from "../phrases.js";
import type { Days } from "../script/dates.js";
import { type Wish, wishIn } from "../script/wish.js";
import type { City, PartOfDay } from "../vocabulary.js";

/** What tool results tell: lists that were shown, quotes that wait, bookings. Of earlier turns a part of them is left. */

const catalogue = new Catalogue();
/** Whether words are of the name of something that is on sale. */
export function isOnSale(words: string, { now }: Pick<ScriptView, "now">): boolean {
  return words !== "" && filterEvents(catalogue.onSale(now), { text: words }).length > 0;
}

/** The next event of the title that a wish names, on the days that it names. */
export function nextOnSale({ now }: Pick<ScriptView, "now">, { title, days }: Wish): string | undefined {
  if (title === undefined) return undefined;
  return filterEvents(catalogue.onSale(now), { from: days?.from, to: days?.to }).find((event) => event.title === title)?.id;
}

/** The section of an event that a message names: of "front tables" and "tables" the longer one. */
export function sectionIn(message: string, eventId: string): string | undefined {
  const names = catalogue.byId(eventId)?.sections.map(({ name }) => name) ?? [];
  return names.toSorted((a, b) => b.length - a.length).find((name) => standsIn(name, message));
}

/** What an event states of the needs of whoever comes, in a word or two each. */
export interface HeldNeeds {
  readonly breaks: readonly string[];
  readonly meets: readonly string[];
  readonly not_stated: readonly string[];
}
export const NOTHING_HELD: HeldNeeds = { breaks: [], meets: [], not_stated: [] };
const names = z.array(z.string()).default([]);
const heldSchema = z.looseObject({ breaks: names, meets: names, not_stated: names });

/** In a list by its id, or by all that one chooses by. */
const eventSchema = z.union([
  z.string().transform((event_id) => ({ event_id, ...NOTHING_HELD })),
  z.looseObject({ event_id: z.string() }).and(heldSchema),
]);
const listSchema = z.looseObject({ events: z.array(eventSchema) });
const singleSchema = z.looseObject({ event_id: z.string() });

const bookingSchema = z.looseObject({
  status: z.string(),
  event_id: z.string(),
  title: z.string(),
  section: z.string(),
  quantity: z.number(),
  companions: z.array(z.string()).default([]),
  day: z.string().default(""),
  time: z.string().default(""),
  venue: z.string().default(""),
  city: z.string().default(""),
  // Of what is booked.
  booking_id: z.string().default(""),
  reference: z.string().nullable().default(null),
  total_eur: z.number().default(0),
  // Of a quote.
  quote_id: z.string().default(""),
  total: z.string().default(""),
  unchecked: z.boolean().default(false),
  token: z.string().default(""),
  needs_met: z.array(z.string()).default([]),
  reminders: z.array(z.string()).default([]),
  breaks: z.array(z.string()).default([]),
  conflicts: z
    .array(
      z.looseObject({
        memory_id: z.string(),
        memory: z.string(),
        who: z.string(),
        because: z.string(),
        source: z.looseObject({ quote: z.string() }).nullable(),
      }),
    )
    .default([]),
});
/** A quote, or what was made of it. */
export type ShownBooking = z.infer<typeof bookingSchema>;

export function bookingIn(output: unknown): ShownBooking | undefined {
  return bookingSchema.safeParse(output).data;
}

export function bookingsIn(output: unknown): readonly ShownBooking[] {
  return z.looseObject({ bookings: z.array(bookingSchema) }).safeParse(output).data?.bookings ?? [];
}

export function eventIn(output: unknown): CatalogueEvent | undefined {
  return catalogue.byId(singleSchema.safeParse(output).data?.event_id ?? "") ?? undefined;
}

const MAX_LISTED = 5;

/** What an event that was looked at by itself states of needs. */
export function heldOf(output: unknown): HeldNeeds {
  return heldSchema.safeParse(output).data ?? NOTHING_HELD;
}

/** What the events of these searches state of needs, by their ids. */
export function heldIn(observations: readonly Observation[]): ReadonlyMap<string, HeldNeeds> {
  const searches = observations.filter(({ name }) => name === "search_events");
  const events = searches.flatMap(({ output }) => listSchema.safeParse(output).data?.events ?? []);
  return new Map(events.map((event) => [event.event_id, event]));
}

/**
 * Searches of one turn, as one list, in the order in which the guest sees it: what breaks a need last, step-free first where that was asked
 * for, then by start.
 */
export function mergedList(observations: readonly Observation[]): readonly CatalogueEvent[] {
  const searches = observations.filter(({ name }) => name === "search_events");
  const held = heldIn(searches);
  const breaks = (id: string) => (held.get(id)?.breaks.length ?? 0) > 0;
  const stepFreeFirst = searches.some(({ input }) => z.looseObject({ step_free: z.literal("first") }).safeParse(input).success);
  const order = (event: CatalogueEvent) =>
    `${breaks(event.id) ? 1 : 0} ${stepFreeFirst && !isStepFree(event) ? 1 : 0} ${event.day} ${event.time}`;
  return [...held.keys()]
    .toSorted((a, b) => Number(breaks(a)) - Number(breaks(b)))
    .slice(0, MAX_LISTED)
    .flatMap((id) => catalogue.byId(id) ?? [])
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** The newest list that was shown. */
export function lastList(view: ScriptView): readonly CatalogueEvent[] {
  return view.window.map(({ observations }) => mergedList(observations)).findLast((list) => list.length > 0) ?? [];
}

/** What the guest has said from the newest list on, oldest first; nothing where there is none. */
export function saidSinceList(view: ScriptView): readonly string[] {
  const at = view.window.findLastIndex(({ observations }) => mergedList(observations).length > 0);
  return at === -1 ? [] : view.window.slice(at).map(({ user }) => user);
}

/** Where and when, as the guest said it earlier in the conversation, or booked it. */
export interface SaidBefore {
  readonly city?: City | undefined;
  readonly days?: Days | undefined;
  readonly partOfDay?: PartOfDay | undefined;
}

/** What the wish leaves open, by the newest of the guest's words; what is to be anywhere, or at any time, is left open from there on. */
export function saidBefore(view: ScriptView, wish: Wish): SaidBefore {
  const earlier = view.window.flatMap(({ told, observations }) => [placed(told, view), ...observations.flatMap(bookedAt)]);
  const newestFirst = [...earlier, placed(view.message, view)].toReversed();
  return {
    city: wish.city === undefined ? newestFirst.find(({ anywhere, city }) => anywhere || city !== undefined)?.city : undefined,
    ...(wish.days === undefined && whenOf(wish, newestFirst)),
  };
}

/** The part of a day goes with the day that it was said of, or was said after it. */
function whenOf(wish: Wish, newestFirst: readonly Placed[]): Pick<SaidBefore, "days" | "partOfDay"> {
  const at = newestFirst.findIndex(({ anyTime, days }) => anyTime || days !== undefined);
  const since = at === -1 ? newestFirst : newestFirst.slice(0, at + 1);
  return {
    days: newestFirst[at]?.days,
    partOfDay: wish.partOfDay === undefined ? since.find((each) => each.partOfDay)?.partOfDay : undefined,
  };
}

interface Placed extends SaidBefore {
  readonly anywhere: boolean;
  readonly anyTime: boolean;
}

function placed(message: string, view: ScriptView): Placed {
  const { city, days, partOfDay } = wishIn(message, view);
  return { city, days, partOfDay, anywhere: says(message, "anywhere"), anyTime: says(message, "any_time") };
}

function bookedAt({ name, output }: Observation): readonly Placed[] {
  const event = name === "book_tickets" && bookingIn(output)?.status === "booked" ? eventIn(output) : undefined;
  if (event === undefined) return [];
  return [{ city: event.city, days: { from: event.day, to: event.day }, anywhere: false, anyTime: false }];
}

/**
 * "Anywhere else?", "no jazz", "which of these suit me?": the newest wish for something, with where or when left open, without what is not
 * wanted, or once more; undefined where a message is no such question.
 */
export function wishOpened(view: ScriptView, wish: Wish): Wish | undefined {
  const leavesOut = wish.notGenres.length > 0 && wish.genres.length === 0 && wish.kind === undefined;
  const opens = wish.empty && says(view.message, "anywhere", "any_time", "which_of_these");
  if (!(leavesOut || opens) || lastList(view).length === 0) return undefined;
  const before = view.window.map(({ told }) => wishIn(told, view)).findLast((each) => !each.empty) ?? wish;
  const genres = before.genres.filter((genre) => !wish.notGenres.includes(genre));
  return { ...wish, genres, kind: before.kind, diet: before.diet, empty: false, text: "" };
}

/** The event that was spoken of by itself last: looked at, quoted, booked, or alone on a list. */
export function focus(view: ScriptView): string | undefined {
  for (const observation of view.window.flatMap(({ observations }) => observations).toReversed()) {
    const list = mergedList([observation]);
    if (list.length > 1) return undefined;
    const event = list[0] ?? eventIn(observation.output);
    if (event !== undefined) return event.id;
  }
  return undefined;
}

/** The place on the list that a message names: by a word for it, or by its bare number where several are listed ("1", "2, for four"). */
export function placeIn(view: ScriptView): number | undefined {
  const named = ordinalIn(view.message);
  const listed = lastList(view);
  const several = listed.length > 1 && view.window.at(-1)?.observations.some((each) => mergedList([each]).length > 1) === true;
  const number = named === undefined && several ? BARE_NUMBER.exec(view.message)?.[1] : undefined;
  return number === undefined || Number(number) > listed.length ? named : Number(number) - 1;
}
const BARE_NUMBER = /^\W*([1-9])(?:\W*$|[,:;)]\s)/u;

const lastSeen = (view: ScriptView): Observation | undefined => view.window.at(-1)?.observations.at(-1);

/**
 * Whether the last event or list that was shown within so many rounds is one event by itself: a yes to it, or a number of seats, means
 * that it is wanted. A booking shows what is no longer to be booked; what tells of no event, such as memories, says nothing of it.
 */
export function showedOne(view: ScriptView, rounds = 1): boolean {
  const shown = view.window.slice(-rounds).flatMap(({ observations }) => observations);
  const last = shown.findLast((each) => each.name !== "list_bookings" && (eventIn(each.output) ?? mergedList([each])[0]) !== undefined);
  return last !== undefined && (LOOKED_AT.has(last.name) || mergedList([last]).length === 1);
}
const LOOKED_AT: ReadonlySet<string> = new Set(["get_event", "check_availability"]);

/** A cancellation that was offered in the last round and waits for a yes. */
export function offeredCancellation(view: ScriptView): string | undefined {
  const last = lastSeen(view);
  const booking = last?.name === "cancel_booking" ? bookingIn(last.output) : undefined;
  return booking?.status === "needs_confirmation" ? booking.booking_id : undefined;
}

/**
 * A quote that waits for an answer: of the last rounds, not declined since, with nothing booked after it. A mere yes answers what was
 * asked last, so it is about the last round's quote or none; `any`: about one before, too. Default false.
 */
export function openQuote(view: ScriptView, { any = false } = {}): ShownBooking | undefined {
  const { yes, order } = readReply(view.message);
  for (const round of view.window.slice(yes && !order && !any ? -1 : -3).toReversed()) {
    const quoted = round.observations.findLast(({ name }) => name === "book_tickets");
    const quote = bookingIn(quoted?.output);
    if (quoted !== undefined) return quote?.status === "needs_confirmation" || quote?.status === "stopped" ? quote : undefined;
    if (readReply(round.user).no) return undefined;
  }
  return undefined;
}
