// Over 300 lines: all that is read off words, by one table.
import type { Category } from "../domain/categories.js";
import type { Memory } from "../domain/memory.js";
import type { RecallTable } from "../domain/recall-table.js";
import { monthsIn, weekdaysIn } from "../platform/language/calendar-words.js";
import { contentWordsOf, likelyLanguagesOf } from "../platform/language/stop-words.js";
import { type FoundPhrase, PhraseIndex, plainWords } from "../platform/phrase-index.js";

/** What a message's words tell of the occasion. */
export interface MessageWords {
  readonly words: readonly string[];
  /** Occasions that its words name. Empty: none is named. */
  readonly occasions: ReadonlySet<string>;
  /** They are told by a phrase that means them and nothing else. */
  readonly isDecided: boolean;
  /** It consists of greetings, thanks and the like, or of no word at all. */
  readonly isIdle: boolean;
  /** So does all but a word or two, which name nothing: its meaning tells. */
  readonly mayBeIdle: boolean;
  /** Its words name what no memory has a part in; `decided`: by a phrase that means nothing else. */
  readonly elsewhere: "no" | "named" | "decided";
  /** Words that belong to no list: names, things. */
  readonly telling: readonly string[];
  /** Those, and words of lists: all that are more than grammar. */
  readonly content: readonly string[];
  /** Words of the places that it names as such. */
  readonly places: readonly string[];
  /** 0 (Monday) to 6. */
  readonly weekdays: ReadonlySet<number>;
  /** 0 (January) to 11. */
  readonly months: ReadonlySet<number>;
}

/** When a memory matters. */
export interface MemoryOccasions {
  /** Null where nothing tells. */
  readonly occasions: ReadonlySet<string> | null;
  /** Those that its own words name, of what its category has for them. */
  readonly named: ReadonlySet<string>;
  /** Occasions at which it matters where it is like the message. */
  readonly alike: ReadonlySet<string>;
  /** At least half of its words name an occasion: "never drives", as against "runs marathons for fun". True where that can't be told. */
  readonly isMostlyNamed: boolean;
  readonly words: readonly string[];
  /** Words of the places that it is for; empty: it is for any. */
  readonly places: readonly string[];
  readonly weekdays: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
}

/** What something is, where and when: what a memory's own words for what it is for are compared with. Empty: it isn't known. */
export interface Occasion {
  readonly things: readonly string[];
  /** Words of where it is, among others. */
  readonly words: ReadonlySet<string>;
  readonly weekdays: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
}

interface Listed {
  readonly kind: "idle" | "beside" | "answer" | "elsewhere" | "said" | "asked" | "decides" | "setting" | "place" | "attitude" | "days";
  /** Null: none, or what no memory has a part in. */
  readonly occasion: string | null;
  /** ISO 639-1. */
  readonly language: string;
  /** Days of the week that it means: of `days`. */
  readonly days?: readonly number[];
}

/** Of a message that names a day it is asked whether the day suits. */
export const WHEN = "when";
/** So many words behind what makes them a time belong to it: "after the late show". */
const SETTING_WORDS = 3;
/** So many words of idle talk are idle with one word beside them that isn't. */
const IDLE_WORDS = 3;
/** And with so many where the message means idle talk. */
const BESIDE_IDLE = 2;

/** A number with a sign that is reckoned with: "15 % of 84". */
const ARITHMETIC = /\d\s?[%×÷*+=^]/u;
const NUMBER = /^\d+$/u;
const CAPITALISED = /\p{Lu}[\p{L}\p{M}]*/gu;

const languageNames = new Intl.DisplayNames(["en"], { type: "language" });

/** Reads occasions off words, by a domain's table. Pure: what was read of a memory is kept with it. */
export class RecallWords {
  readonly #table: RecallTable;
  readonly #index: PhraseIndex<Listed>;
  readonly #needs: PhraseIndex<true>;
  /** Occasions that say what, rather than how. */
  readonly #things: ReadonlySet<string>;
  /** By code, as languages are told by their stop words. */
  readonly #names = new Map<string, string>();
  readonly #read = new WeakMap<Memory, MemoryOccasions>();

  /** @param needs words of the domain's needs: a message that names one is not idle. Default: none */
  constructor(table: RecallTable, needs: readonly string[] = []) {
    this.#table = table;
    this.#needs = new PhraseIndex([[true, needs]]);
    this.#things = new Set(Object.entries(table.occasions).flatMap(([name, { how }]) => (how === true ? [] : [name])));
    const lists = (kind: Listed["kind"], words: RecallTable["setting"] = {}, occasion: string | null = null) =>
      Object.entries(words).map(([language, list]): [Listed, readonly string[]] => [{ kind, occasion, language }, list]);
    const all = [
      ...lists("idle", table.idle.words),
      ...lists("beside", table.idle.beside),
      ...lists("answer", table.idle.answers),
      ...lists("elsewhere", table.elsewhere.words),
      ...lists("asked", table.elsewhere.asked),
      ...lists("decides", table.elsewhere.decides),
      ...lists("setting", table.setting),
      ...lists("place", table.places),
      ...lists("attitude", table.attitudes),
      ...(table.days ?? []).flatMap(({ days, words }) => lists("days", words).map(([label, list]) => [{ ...label, days }, list] as const)),
      ...Object.entries(table.occasions).flatMap(([name, { words, asked, decides }]) => [
        ...lists("said", words, name),
        ...lists("asked", asked, name),
        ...lists("decides", decides, name),
      ]),
    ];
    this.#index = new PhraseIndex(all);
    for (const [{ language }] of all) this.#names.set(language, (languageNames.of(language) ?? language).toLowerCase());
  }

  ofMessage(text: string): MessageWords {
    const words = plainWords(text);
    const found = withoutElsewhere(this.#find(words));
    const decided = found.filter(({ label }) => label.kind === "decides");
    const weekdays = daysIn(words, found);
    const content = contentWordsOf(words);
    const isSum = ARITHMETIC.test(text) && content.every(({ word }) => NUMBER.test(word));
    const named = isSum ? new Set<string>() : decided.length > 0 ? occasionsIn(decided) : withoutSettings(found);
    if (weekdays.size > 0 && WHEN in this.#table.occasions) named.add(WHEN);
    const covered = (...kinds: readonly Listed["kind"][]) =>
      new Set(found.flatMap(({ label, at, length }) => (kinds.includes(label.kind) ? Array.from({ length }, (_, n) => at + n) : [])));
    const [idle, talk, listed] = [
      covered("idle"),
      covered("idle", "beside"),
      covered("idle", "beside", "said", "asked", "elsewhere", "days"),
    ];
    const others = words.length - talk.size;
    // A part of a Japanese word has no length of its own.
    const answers = found.filter(({ label }) => label.kind === "answer");
    const isAnswer =
      answers.some(({ at, length }) => length === 0 || Array.from({ length }, (_, n) => at + n).some((place) => !idle.has(place))) ||
      this.#needs.find(words).length > 0;
    const hasIdleTalk = idle.size > 0 && !isAnswer;
    const elsewhere =
      isSum || decided.some(({ label }) => label.occasion === null)
        ? "decided"
        : found.some(({ label }) => label.kind === "elsewhere" || isAskedElsewhere(label))
          ? "named"
          : "no";
    return {
      words,
      occasions: named,
      isDecided: isSum || decided.length > 0,
      isIdle:
        (words.length === 0 && text.trim() !== "" && !text.includes("?")) ||
        (hasIdleTalk && (others === 0 || (others === 1 && idle.size >= IDLE_WORDS && named.size === 0))),
      mayBeIdle: hasIdleTalk && others <= BESIDE_IDLE && named.size === 0 && !text.includes("?"),
      elsewhere,
      telling: content.filter(({ at, word }) => !listed.has(at) && !isTime(word)).map(({ word }) => word),
      content: content.map(({ word }) => word),
      places: placesIn(text, words, found, this.#languagesOf(words)),
      weekdays,
      months: monthsIn(words),
    };
  }

  /** Of those that a message names, with what they imply, those that count. */
  counting(occasions: ReadonlySet<string>): ReadonlySet<string> {
    const all = new Set([...occasions, ...[...occasions].flatMap((name) => this.#table.occasions[name]?.implies ?? [])]);
    return new Set([...all].filter((name) => !this.#table.occasions[name]?.unless?.some((other) => all.has(other))));
  }

  /** Of these, those that say what rather than how. */
  thingsOf(occasions: ReadonlySet<string>): readonly string[] {
    return [...occasions].filter((name) => this.#things.has(name));
  }

  /** Of these, those that say what; else what those that don't ask for where nothing more is told. */
  askedOf(occasions: ReadonlySet<string>): readonly string[] {
    const things = this.thingsOf(occasions);
    return things.length > 0 ? things : [...occasions].flatMap((name) => this.#table.occasions[name]?.asksFor ?? []);
  }

  asksForTaste(occasion: string): boolean {
    return this.#table.occasions[occasion]?.taste === true;
  }

  /** In what a memory is for something else, by its own words. A place that isn't among the occasion's words is another one. */
  differencesOf({ named, places, weekdays, months }: MemoryOccasions, of: Occasion): ReadonlySet<keyof Occasion> {
    const isApart = <T>(its: Iterable<T>, meant: ReadonlySet<T>) => {
      const all = [...its];
      return all.length > 0 && meant.size > 0 && !all.some((each) => meant.has(each));
    };
    const apart: Readonly<Record<keyof Occasion, boolean>> = {
      things: isApart(this.thingsOf(named), new Set(of.things)),
      words: places.length > 0 && !places.some((place) => of.words.has(place)),
      weekdays: isApart(weekdays, of.weekdays),
      months: isApart(months, of.months),
    };
    return new Set((Object.keys(apart) as (keyof Occasion)[]).filter((part) => apart[part]));
  }

  hasRead(memory: Memory): boolean {
    return this.#read.has(memory);
  }

  ofMemory(memory: Memory, category: Category | undefined): MemoryOccasions {
    const known = this.#read.get(memory);
    if (known !== undefined) return known;
    const words = plainWords(`${memory.text} . ${memory.condition}`);
    const found = this.#find(words);
    // An aspect is a term of the category's, whatever language the text is in.
    const aspect = plainWords(memory.aspect);
    const said = occasionsIn([...found, ...this.#find(aspect)].filter(({ label }) => label.kind === "said"));
    const places = category?.occasions?.placed === true ? placesIn(memory.text, words, found, this.#languagesOf(words)) : [];
    const read = {
      ...this.#occasionsOf(said, category, memory.strength),
      isMostlyNamed: isMostlyNamed(words, found),
      words: [...words, ...aspect],
      places,
      weekdays: daysIn(words, found),
      months: monthsIn(words),
    };
    this.#read.set(memory, read);
    return read;
  }

  /** By the category, narrowed to what the words name; of a category that says nothing, by the words alone. */
  #occasionsOf(
    said: ReadonlySet<string>,
    category: Category | undefined,
    strength: Memory["strength"],
  ): Pick<MemoryOccasions, "occasions" | "named" | "alike"> {
    const none: ReadonlySet<string> = new Set();
    if (category?.occasions === undefined) return { occasions: said.size > 0 ? said : null, named: said, alike: none };
    const { named = [], alike = [] } = category.occasions;
    const at = [...(category.occasions.at ?? []), ...((strength === "hard" && category.occasions.hard) || [])];
    const meant = new Set(named.filter((occasion) => said.has(occasion)));
    const isNarrowed = this.thingsOf(meant).length > 0;
    const occasions = new Set([...at.filter((occasion) => !isNarrowed || !this.#things.has(occasion)), ...meant]);
    return { occasions: occasions.size > 0 ? occasions : null, named: meant, alike: isNarrowed ? none : new Set(alike) };
  }

  /** Phrases of the languages that the words may be in; of any, where those have none: a few words in common tell a language badly. */
  #find(words: readonly string[]): readonly FoundPhrase<Listed>[] {
    const likely = this.#languagesOf(words);
    const found = this.#index.find(words);
    const theirs = found.filter(({ label }) => likely.has(label.language));
    return theirs.length > 0 ? theirs : found;
  }

  /** Of the table's, those that the words may be in; none where it can't be told. */
  #languagesOf(words: readonly string[]): ReadonlySet<string> {
    const likely: ReadonlySet<string> = likelyLanguagesOf(words);
    return new Set([...this.#names].flatMap(([language, name]) => (likely.has(name) ? [language] : [])));
  }
}

function occasionsIn(found: readonly FoundPhrase<Listed>[]): Set<string> {
  return new Set(found.flatMap(({ label }) => label.occasion ?? []));
}

/** Whether at least half of the words that tell what something is about name an occasion; so they do where words aren't spaced. */
function isMostlyNamed(words: readonly string[], found: readonly FoundPhrase<Listed>[]): boolean {
  const naming = found.filter(({ label }) => label.kind === "said");
  const covered = (phrases: readonly FoundPhrase<Listed>[]) =>
    new Set(phrases.flatMap(({ at, length }) => Array.from({ length }, (_, n) => at + n)));
  const [names, attitudes] = [covered(naming), covered(found.filter(({ label }) => label.kind === "attitude"))];
  const about = contentWordsOf(words).filter(({ at }) => names.has(at) || !attitudes.has(at));
  return naming.some(({ at }) => at < 0) || about.filter(({ at }) => names.has(at)).length * 2 >= about.length;
}

/** Without what a question that no memory has a part in names within it: "euros in pounds" is about no price. */
function withoutElsewhere(found: readonly FoundPhrase<Listed>[]): readonly FoundPhrase<Listed>[] {
  const questions = found.filter(({ label }) => isAskedElsewhere(label));
  const isOfOne = ({ at, length }: FoundPhrase<Listed>) => questions.some((each) => at < each.at + each.length && each.at < at + length);
  return questions.length === 0 ? found : found.filter((each) => each.label.occasion === null || !isOfOne(each));
}

function isAskedElsewhere({ kind, occasion }: Listed): boolean {
  return kind === "asked" && occasion === null;
}

/** What is named, without what only says when: "eat after the concert" is about eating. */
function withoutSettings(found: readonly FoundPhrase<Listed>[]): Set<string> {
  const named = found.filter(({ label }) => label.occasion !== null);
  const settings = new Set(
    found
      .filter(({ label }) => label.kind === "setting")
      .flatMap(({ at, length }) => {
        const behind = named.filter((each) => each.at >= at + length && each.at < at + length + SETTING_WORDS);
        const first = Math.min(...behind.map((each) => each.at));
        return behind.filter((each) => each.at === first);
      }),
  );
  const beside = occasionsIn(named.filter((each) => !settings.has(each)));
  return beside.size > 0 ? beside : occasionsIn(named);
}

/** The word behind what stands before places, where it is written as names are, and is neither of an occasion nor a time: "in Row D". */
function placesIn(
  text: string,
  words: readonly string[],
  found: readonly FoundPhrase<Listed>[],
  languages: ReadonlySet<string>,
): readonly string[] {
  const names = new Set(plainWords((text.match(CAPITALISED) ?? []).join(" ")));
  const listed = new Set(found.flatMap(({ label, at }) => (label.occasion === null ? [] : [at])));
  // "A" stands before places in some languages, and is an article in English.
  const mayBeEnglish = languages.size === 0 || languages.has("en");
  return found.flatMap(({ label, at, length }) => {
    const word = words[at + length];
    if (label.kind !== "place" || word === undefined || (mayBeEnglish && words[at]?.length === 1)) return [];
    return names.has(word) && !listed.has(at + length) && !isTime(word) ? [word] : [];
  });
}

/** By name, and by what names several: "weekdays". */
function daysIn(words: readonly string[], found: readonly FoundPhrase<Listed>[]): ReadonlySet<number> {
  return new Set([...weekdaysIn(words), ...found.flatMap(({ label }) => label.days ?? [])]);
}

/** A day of the week or a month: they are compared as such. */
function isTime(word: string): boolean {
  return weekdaysIn([word]).size + monthsIn([word]).size > 0;
}
