// Over 300 lines: one decision, and what it is made of.
import { type Category, categoryOf } from "../domain/categories.js";
import { beginsAfter, byStated, holdsAt, type MemoryRecord } from "../domain/memory-record.js";
import type { HeldBackReason, RecallReason } from "../domain/session.js";
import { type Ranking, topStanding, weight } from "../domain/standing-preferences.js";
import type { Coming, RecallParty } from "./recall-party.js";
import { type MemoryOccasions, type RecallWords, WHEN } from "./recall-words.js";
import { holds, tellingWordsOf } from "./telling-words.js";

/** What is decided about. */
export interface RecallCandidates {
  /** The owner's memories: those that hold, or begin later. */
  readonly records: readonly MemoryRecord[];
  /** Likeness to the message by id, where the store told one: greater than 0. */
  readonly scores: ReadonlyMap<string, number>;
}

/** What a message calls for. */
export interface MessageToRecallFor {
  readonly text: string;
  /** Occasions by the meaning of the whole message, the nearest first; null where there is no vector to tell them. */
  readonly meaning: MeantOccasions | null;
  readonly now: Date;
}

/** What a message means, as its vector tells it. */
export interface MeantOccasions {
  /** As near to an occasion's anchors as to be sure. */
  readonly sure: readonly string[];
  /** Near enough where its words say nothing. */
  readonly likely: readonly string[];
  /** It is nearest to what no memory has a part in. */
  readonly elsewhere: boolean;
  /** It is nearest to idle talk. */
  readonly idle: boolean;
}

/** How a domain and a deployment have it. */
export interface RecallRules {
  readonly words: RecallWords;
  readonly party: RecallParty;
  readonly categories: readonly Category[];
  readonly ranking: Ranking;
  /** Soft memories whose own occasion isn't known, at most; and no more than a few of them where the message's isn't. */
  readonly standing: number;
}

export interface RecallDecision {
  /** What must hold first, then best first. */
  readonly given: readonly { readonly record: MemoryRecord; readonly why: RecallReason }[];
  /** Memories that were not given, by reason; only reasons that any has. */
  readonly held_back: Readonly<Partial<Record<HeldBackReason, number>>>;
}

/** Of tastes in general, so many as are most like what is asked for. */
const MOST_ALIKE = 2;
/** What is like the message is among as many of all memories; and what shares no more than a word with it among fewer. */
const ALIKE_AMONG = 5;
const WORD_AMONG = 2;
/** And what a single word of it is all that tells an occasion of, among more. */
export const NAMED_AMONG = 10;
/** From here on a memory that is the most like, by so much, is given for that alone. */
const LIKE = 0.3;
const STANDS_OUT = 0.1;
/** Soft memories for one of the message's occasions, at most; and where it is asked what somebody would like. */
const PER_OCCASION = 3;
const TASTES = 4;
/** Soft memories where nothing tells the occasion, at most: what the guest is known for, not all of it. */
const UNTOLD = 4;
/** What is for some months is asked about at any time. */
const NO_MONTHS: ReadonlySet<number> = new Set();

/**
 * Which memories a message is given. The guest's own needs at every message that isn't idle; a companion's where they come or may come, and
 * it isn't told what for, or is for what they can concern; of what is soft what the occasion and the party call for, and what shares a
 * telling word with it. Pure. What a booking must mind is not decided here: its gate reads all needs.
 */
export function decideRecall(candidates: RecallCandidates, message: MessageToRecallFor, rules: RecallRules): RecallDecision {
  const { now } = message;
  const { words } = rules;
  const said = words.ofMessage(message.text);
  const records = candidates.records.filter((record) => isAtHand(record, now));
  const party = rules.party.of(said.words, records);
  const isNobodyNamed = !records.some(({ subject }) => subject !== "self" && party.coming(subject) === "comes");
  const told = words.counting(said.isDecided ? said.occasions : new Set([...said.occasions, ...(message.meaning?.sure ?? [])]));
  // A day of the week says when, and nothing of what for.
  const isDayAlone = !said.isDecided && [...told].every((occasion) => occasion === WHEN);
  const likely = new Set(message.meaning?.likely);
  const meant = isDayAlone ? words.counting(new Set([...told, ...likely])) : told;
  const things = words.askedOf(meant);
  const thingsTold = words.thingsOf(told);
  // "Book Saturday" may be for anything; who asks for a time, or seems to speak of payment alone, asks for no more.
  const isAnyMeant = told.size === 0 ? likely.size === 0 || words.thingsOf(likely).length > 0 : isDayAlone && said.weekdays.size > 0;
  const isElsewhere = (said.elsewhere !== "no" && meant.size === 0) || (message.meaning?.elsewhere === true && thingsTold.length === 0);
  const asksNothing = said.elsewhere === "decided" ? meant.size === 0 : isElsewhere && isNobodyNamed;
  const isIdle = said.isIdle || (said.mayBeIdle && isNobodyNamed && message.meaning?.idle === true);
  if (isIdle || asksNothing) return { given: [], held_back: counted(records.map(() => "idle")) };

  const readOf = (record: MemoryRecord) => words.ofMemory(record, categoryOf(rules.categories, record.category));
  const given = new Map<MemoryRecord, RecallReason>();
  const held = new Map<MemoryRecord, HeldBackReason>();
  for (const record of records.filter(({ strength }) => strength === "hard").sort(byStated))
    if (record.subject === "self") given.set(record, "own_need");
    else if (party.coming(record.subject) === "stays") held.set(record, "not_coming");
    else if (isCalledFor(record)) given.set(record, "companion_need");
    else held.set(record, "occasion");

  const soft = records.filter(({ strength }) => strength === "soft");
  const outdated = outdatedIn(records, rules.categories);
  // Where no place is named, it is where the guest lives.
  const residences = residencesIn(records, rules.categories);
  const here = said.places.length > 0 ? [] : residences.flatMap((record) => readOf(record).words);
  const placesMeant = new Set([...said.words, ...here]);
  // Where nothing tells what is alike, a word that also names an occasion is the only one that does.
  const mayTell = candidates.scores.size === 0 ? said.content : said.telling;
  const telling = tellingWordsOf(new Set(mayTell.filter((word) => !party.words.has(word))), soft.map(readOf));
  // What names a thing or a time that is remembered is about that, whatever the occasion.
  const isNamed = meant.size === 0 && (telling.length > 0 || soft.some((record) => sharesDay(readOf(record), said)));
  const byScore = [...candidates.scores].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const nearest = (among: number) => new Set(byScore.slice(0, among).map(([id]) => id));
  const [alike, alikeByWord, alikeAndNamed] = [nearest(ALIKE_AMONG), nearest(WORD_AMONG), nearest(NAMED_AMONG)];
  // Of fewer, what isn't among them may be no less like the message than they are.
  const isLikenessFull = byScore.length >= NAMED_AMONG;
  const chosen: Chosen[] = [];
  for (const record of soft) {
    const judged = outdated.has(record) ? "outdated" : judge(record);
    if (typeof judged === "string") held.set(record, judged);
    else chosen.push(judged);
  }
  const likeness = ({ id }: MemoryRecord) => (alike.has(id) ? (candidates.scores.get(id) ?? 0) : 0);
  const order = (record: MemoryRecord) => 2 * likeness(record) + weight(record, now, rules.ranking);
  const kept = meant.size === 0 ? bestOfAll(chosen, order) : bestOfEach(withoutUnclear(chosen), order);
  for (const { record, why } of kept) given.set(record, why === "alike" ? "likeness" : why);
  for (const { record } of chosen) if (!given.has(record)) held.set(record, "limit");
  return {
    given: [...given].map(([record, why]) => ({ record, why })),
    held_back: counted(held.values()),
  };

  /** Whether a need is called for whose companion comes, or may come: where it isn't told what for, or is for what it can concern. */
  function isCalledFor(record: MemoryRecord): boolean {
    const { occasions } = readOf(record);
    if (occasions === null) return true;
    if (thingsTold.length > 0) return thingsTold.some((thing) => occasions.has(thing));
    return (
      isAnyMeant || party.together || party.coming(record.subject) === "comes" || [...told, ...likely].some((how) => occasions.has(how))
    );
  }

  function judge(record: MemoryRecord): Chosen | HeldBackReason {
    const as = (why: Chosen["why"], occasions: readonly string[] = []): Chosen => ({ record, why, occasions });
    const coming: Coming | "self" = record.subject === "self" ? "self" : party.coming(record.subject);
    const category = categoryOf(rules.categories, record.category);
    const its = readOf(record);
    const isWordShared = (byScore.length === 0 || alikeByWord.has(record.id)) && telling.some((word) => holds(its, word));
    const shared = isWordShared || sharesDay(its, said);
    if (coming === "stays") return "not_coming";
    const apart = words.differencesOf(its, { things, words: placesMeant, weekdays: said.weekdays, months: NO_MONTHS });
    if (apart.has("weekdays") || (apart.has("words") && !isAnywhere(record))) return "occasion";
    // What somebody is fond of matters where it is asked what they would like, whatever else its words are for.
    if (coming === "comes" && [...meant].some((occasion) => words.asksForTaste(occasion))) return as("party");
    if (isNamed && coming !== "comes") return shared ? as("likeness") : "occasion";
    // Of somebody who may not come a day that suits them tells nothing.
    if (coming === "untold") return isWordShared ? as("likeness") : meant.size === 0 ? as("standing") : "not_coming";
    if (coming === "self" && its.occasions === null && party.speaksOf(its.words)) return as("party");
    if (meant.size === 0) return as(coming === "comes" ? "party" : "standing");
    const occasions = apart.has("things") ? [] : [...meant].filter((each) => its.occasions?.has(each) && !isOnItsDays(record, its, each));
    const isUnlike = coming === "self" && isNamedInPassing(record) && !isAlike(record);
    if (occasions.length > 0 && !isTasteOfOthers(coming, occasions) && !isUnlike)
      return as(coming === "comes" ? "party" : "occasion", occasions);
    if (its.occasions === null && (coming === "comes" || category?.occasions === undefined))
      return as(coming === "comes" ? "party" : "standing");
    if (shared || isMostLike(record)) return as("likeness");
    return alike.has(record.id) && [...meant].some((occasion) => its.alike.has(occasion)) ? as("alike") : "occasion";
  }

  /** Among many like the message, or with a word of it; true where nothing tells what is like it. */
  function isAlike(record: MemoryRecord): boolean {
    return byScore.length === 0 || alikeAndNamed.has(record.id) || said.content.some((word) => holds(readOf(record), word));
  }

  /** All that tells its occasion is a word among others: "runs marathons for fun" is for no concert unless it is like the message. */
  function isNamedInPassing(record: MemoryRecord): boolean {
    const { at, alike } = categoryOf(rules.categories, record.category)?.occasions ?? {};
    return at === undefined && alike === undefined && !hasFixed(record) && !readOf(record).isMostlyNamed;
  }

  /** So like the message as little else is, whatever its words are for: "my puppy" a small dog. */
  function isMostLike(record: MemoryRecord): boolean {
    const [[best, score] = [null, 0], [, next] = [null, 0]] = byScore;
    const { at, residence } = categoryOf(rules.categories, record.category)?.occasions ?? {};
    return best === record.id && score >= Math.max(LIKE, next + STANDS_OUT) && at === undefined && residence === undefined;
  }

  /** It would be given for what the user likes, where it is asked what others like. */
  function isTasteOfOthers(coming: Coming | "self", occasions: readonly string[]): boolean {
    return coming === "self" && !isNobodyNamed && occasions.every((occasion) => words.asksForTaste(occasion));
  }

  /** A place in it is where the user lives. What is for a time is for wherever they are then, where the message names no place. */
  function isAnywhere(record: MemoryRecord): boolean {
    return residences.includes(record) || (record.valid_until !== null && said.places.length === 0);
  }

  function hasFixed({ category, aspect }: MemoryRecord): boolean {
    return categoryOf(rules.categories, category)?.fixed.includes(aspect) === true;
  }

  /** Of a category that has fixed aspects alone, what has none of them and doesn't name the occasion stands back beside what has one. */
  function withoutUnclear(from: readonly Chosen[]): readonly Chosen[] {
    const isClosed = ({ category }: MemoryRecord) => categoryOf(rules.categories, category)?.open === null;
    const clear = new Set(from.flatMap(({ record }) => (hasFixed(record) ? [record.category] : [])));
    const isUnclear = ({ record, occasions }: Chosen) =>
      isClosed(record) && !hasFixed(record) && !occasions.some((occasion) => readOf(record).named.has(occasion));
    return from.filter((each) => each.why !== "occasion" || !isUnclear(each) || !clear.has(each.record.category));
  }

  /** What is about days of the week, or months, is for them, whatever else the message is about; and for who asks for a time alone. */
  function isOnItsDays(record: MemoryRecord, its: MemoryOccasions, occasion: string): boolean {
    const isTimeAsked = said.weekdays.size + said.months.size === 0;
    return (
      its.weekdays.size + its.months.size > 0 &&
      !sharesDay(its, said) &&
      !its.named.has(occasion) &&
      !(isTimeAsked && occasion === WHEN && its.months.size === 0 && (!isLikenessFull || isAlike(record)))
    );
  }

  /**
   * Of each occasion as many as fit, first those of one value at a time, which always do, last those that name it in passing; and what
   * came for its words or who comes.
   */
  function bestOfEach(from: readonly Chosen[], rank: (record: MemoryRecord) => number): readonly Chosen[] {
    const left = new Map([...meant].map((occasion) => [occasion, words.asksForTaste(occasion) ? TASTES : PER_OCCASION]));
    let standing = rules.standing;
    let most = MOST_ALIKE;
    const best = [...from].sort((a, b) => rank(b.record) - rank(a.record) || (a.record.id < b.record.id ? -1 : 1));
    const place = ({ record }: Chosen) => (hasFixed(record) ? 0 : isNamedInPassing(record) && !alike.has(record.id) ? 2 : 1);
    return [0, 1, 2]
      .flatMap((each) => best.filter((one) => place(one) === each))
      .filter(({ record, why, occasions }) => {
        if (why === "likeness" || why === "party") return true;
        if (why === "standing") return standing-- > 0;
        if (why === "alike") return most-- > 0;
        const open = occasions.find((occasion) => (left.get(occasion) ?? 0) > 0);
        if (open !== undefined) left.set(open, (left.get(open) ?? 0) - 1);
        return open !== undefined || hasFixed(record);
      });
  }

  /** Where the occasion isn't known: who comes, what is alike, and of each category the best in turn. */
  function bestOfAll(from: readonly Chosen[], rank: (record: MemoryRecord) => number): readonly Chosen[] {
    const standing = new Set(
      topStanding(
        from.filter(({ why }) => why === "standing").map(({ record }) => record),
        Math.min(rules.standing, UNTOLD),
        now,
        rules.ranking,
      ),
    );
    return [...from]
      .filter(({ record, why }) => why !== "standing" || standing.has(record))
      .sort((a, b) => rank(b.record) - rank(a.record));
  }
}

interface Chosen {
  readonly record: MemoryRecord;
  /** `alike`: it matters as one of those most like the message. */
  readonly why: RecallReason | "alike";
  /** Of the message's, those at which it matters. Empty: it is there for another reason. */
  readonly occasions: readonly string[];
}

/** Holds, or is told before it begins: what must hold, and what is for a time. */
export function isAtHand(record: MemoryRecord, now: Date): boolean {
  if (record.type === "narrative" || record.type === "episodic" || record.type === "summary") return false;
  return holdsAt(record, now) || (beginsAfter(record, now) && (record.strength === "hard" || record.valid_until !== null));
}

/** Where the user lives; where nothing says that it is that, what was stated by hand of a place, without an aspect, may be. */
function residencesIn(records: readonly MemoryRecord[], categories: readonly Category[]): readonly MemoryRecord[] {
  const of = ({ category }: MemoryRecord) => categoryOf(categories, category)?.occasions?.residence;
  const own = records.filter((record) => record.subject === "self" && of(record) !== undefined);
  const told = own.filter((record) => record.aspect === of(record));
  return told.length > 0 ? told : own.filter(({ aspect }) => aspect === "");
}

/** Soft ones beside a later one, or one that must hold, of an aspect that has one value at a time. */
function outdatedIn(records: readonly MemoryRecord[], categories: readonly Category[]): ReadonlySet<MemoryRecord> {
  const last = new Map<string, MemoryRecord>();
  const outdated = new Set<MemoryRecord>();
  for (const record of records) {
    if (record.aspect === "" || record.valid_until !== null) continue;
    if (!categoryOf(categories, record.category)?.fixed.includes(record.aspect)) continue;
    const key = JSON.stringify([record.subject, record.category, record.aspect, record.condition]);
    const before = last.get(key);
    const wins = before === undefined || (before.strength === record.strength ? byStated(before, record) < 0 : record.strength === "hard");
    if (wins) last.set(key, record);
    const loser = wins ? before : record;
    if (loser?.strength === "soft") outdated.add(loser);
  }
  return outdated;
}

function sharesDay(its: MemoryOccasions, said: Pick<MemoryOccasions, "weekdays" | "months">): boolean {
  return [...its.weekdays].some((day) => said.weekdays.has(day)) || [...its.months].some((month) => said.months.has(month));
}

function counted(reasons: Iterable<HeldBackReason>): Partial<Record<HeldBackReason, number>> {
  const counts: Partial<Record<HeldBackReason, number>> = {};
  for (const reason of reasons) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
