import type { MemoryLine, ScriptCall, ScriptView } from "../../offline-script.js";
import { type City, type Diet, type Genre, type Kind, kindOf, plain } from "../vocabulary.js";
import { type Days, daysIn } from "./dates.js";
import { contentWords } from "./facts.js";
import { cityIn, dietIn, genresIn, kindIn, partyIn, priceIn, wantsStepFree } from "./words.js";

/** What the message itself asks for. */
export interface Wish {
  readonly genres: readonly Genre[];
  readonly kind: Kind | undefined;
  readonly city: City | undefined;
  readonly days: Days | undefined;
  readonly maxPrice: number | undefined;
  readonly party: number | undefined;
  readonly stepFree: boolean;
  readonly diet: Diet | undefined;
  /** Words that mean nothing else: a name, a title. The empty string where there are none. */
  readonly text: string;
}

/** Words around a request that name nothing in a catalogue. */
const AROUND = new Set(
  "hi hello hey dear thanks thank anything anybody something someone nothing everything good great nice fun interesting cool decent best top lovely ideas idea suggestions suggestion suggest recommend recommendation recommendations options option find search look looking show list give get see seeing hear hearing watch watching listen go going out come coming want wants wanted like love need needs prefer fancy feel mood wish happening happens playing plays play played perform performs performing performance performances on tickets ticket seats seat places place people person event events evening evenings night nights day days date time times around near nearby town city here one ones some more other others another please book booking reserve buy take make arrange plan planning plans let let's us me we i'm im i'd id we'd we're were you'd could would should can might maybe perhaps really also too very quite just only then now soon later early late next coming upcoming this that these those weekend week month today tonight tomorrow morning afternoon monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december under below over above at most max maximum up less than more cheaper cheap affordable euro euros eur budget price priced cost costs spend two three four five six seven eight nine ten couple pair party group kids children child family friend friends wife husband partner mother father mom mum dad sister brother son daughter parents colleague colleagues girlfriend boyfriend visiting visit visitor step free wheelchair menu menus table tables yes no ok okay hmm else stalls circle gallery section sections between from until till accessible stairs without access concert concerts gig gigs show shows live music theatre theater restaurant restaurants dinner lunch eat eating dining food match matches game games sport sports stage sort kind type style all each per head half first second third last whole weekdays available availability left still sold is are there what's whats which where when who how much many does do did has have any no not".split(
    " ",
  ),
);

export function wishIn(view: ScriptView): Wish {
  const { message } = view;
  const dated = daysIn(message, view.now, view.timeZone);
  const genres = genresIn(message);
  return {
    genres,
    kind: kindIn(message),
    city: cityIn(message),
    days: dated?.days,
    maxPrice: priceIn(message),
    party: partyIn(message),
    stepFree: wantsStepFree(message),
    diet: dietIn(message),
    text: nameIn(dated === undefined ? message : message.replace(dated.words, " ")),
  };
}

export function isEmpty(wish: Wish): boolean {
  const { genres, kind, city, days, maxPrice, stepFree, diet } = wish;
  return (
    genres.length === 0 &&
    kind === undefined &&
    city === undefined &&
    days === undefined &&
    maxPrice === undefined &&
    !stepFree &&
    diet === undefined
  );
}

/** What a search takes of a name, in characters. */
const MAX_NAME = 200;

/** What is left of a message when every word with another meaning is taken out: at most four words, in order. */
function nameIn(text: string): string {
  const left = contentWords(text).filter((word) => {
    if (AROUND.has(word) || /^\d/.test(word)) return false;
    return genresIn(word).length === 0 && kindIn(word) === undefined && cityIn(word) === undefined && dietIn(word) === undefined;
  });
  return left.length <= 4 ? left.join(" ").slice(0, MAX_NAME) : "";
}

/** What memory adds where the message says nothing, each with the memory it comes from. */
export interface Habits {
  readonly genres: readonly { readonly genre: Genre; readonly memory: MemoryLine }[];
  readonly city: { readonly city: City; readonly memory: MemoryLine } | undefined;
  readonly maxPrice: { readonly euros: number; readonly memory: MemoryLine } | undefined;
  readonly party: { readonly size: number; readonly memory: MemoryLine } | undefined;
  readonly stepFree: MemoryLine | undefined;
  readonly diet: { readonly diet: Diet; readonly memory: MemoryLine } | undefined;
}

const DISLIKES =
  /\b(?:dislikes?|hates?|avoids?|can't stand|does ?n.t like|doesn't (?:like|enjoy)|not (?:a fan|keen|interested)|no longer|never|no more|bor(?:es?|ed|ing)|leaves? (?:\w+ )?cold|(?:go(?:ne|es|ing)?|went) off|(?:had|have|has) (?:\w+ )?(?:it|enough)|tired of|sick of|fed up|deal.?breaker|nothing for|cup of tea|outgr\w+|lost (?:interest|the taste))\b/i;

export function habitsOf(memories: readonly MemoryLine[]): Habits {
  const own = memories.filter((memory) => memory.subject === "self" && !DISLIKES.test(memory.text));
  const first = <T>(pick: (memory: MemoryLine) => T | undefined): T | undefined => {
    for (const memory of own) {
      const found = pick(memory);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const is = (memory: MemoryLine, category: string) => memory.category === category || memory.category === "";
  return {
    genres: own.filter((memory) => is(memory, "genre")).flatMap((memory) => genresIn(memory.text).map((genre) => ({ genre, memory }))),
    city: first((memory) => {
      const city =
        is(memory, "location") && /\b(?:lives?|based|home|resides?|stays?)\b/i.test(memory.text) ? cityIn(memory.text) : undefined;
      return city === undefined ? undefined : { city, memory };
    }),
    maxPrice: first((memory) => {
      const euros = is(memory, "budget") && !/\b(?:meal|room|night)\b/i.test(memory.text) ? priceIn(memory.text) : undefined;
      return euros === undefined ? undefined : { euros, memory };
    }),
    party: first((memory) => {
      const size = is(memory, "party_size")
        ? (partyIn(memory.text) ?? (memory.category === "party_size" ? firstNumber(memory.text) : undefined))
        : undefined;
      return size === undefined ? undefined : { size, memory };
    }),
    stepFree: first((memory) => (is(memory, "accessibility") && wantsStepFree(memory.text) ? memory : undefined)),
    diet: first((memory) => {
      const diet = is(memory, "dietary") ? dietIn(memory.text) : undefined;
      return diet === undefined ? undefined : { diet, memory };
    }),
  };
}

function firstNumber(text: string): number | undefined {
  const digits = /\b([1-9]\d?)\b/.exec(plain(text))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** One try of a search: its calls, and which memories shaped it. */
export interface Attempt {
  readonly calls: readonly ScriptCall[];
  readonly used: readonly MemoryLine[];
}

/** Searches in the order in which they are tried: as asked with all habits, without the name, without habits that only narrow. */
export function attemptsFor(wish: Wish, habits: Habits): readonly Attempt[] {
  const tries = [attempt(wish, habits, true)];
  if (wish.text !== "" && !isEmpty(wish)) tries.push(attempt({ ...wish, text: "" }, habits, true));
  const unnamed = { ...wish, text: isEmpty(wish) ? wish.text : "" };
  tries.push(attempt(unnamed, habits, false));
  const seen = new Set<string>();
  return tries.filter(({ calls }) => {
    const key = JSON.stringify(calls);
    return seen.has(key) ? false : seen.add(key);
  });
}

function attempt(wish: Wish, habits: Habits, narrow: boolean): Attempt {
  const used: MemoryLine[] = [];
  const use = <T extends { readonly memory: MemoryLine }>(habit: T | undefined): T | undefined => {
    if (habit !== undefined && !used.includes(habit.memory)) used.push(habit.memory);
    return habit;
  };
  const named = wish.text !== "";
  // A name or a genre that was asked for is not narrowed by taste.
  const taste = narrow && !named && wish.genres.length === 0 && wish.diet === undefined;
  const liked = taste ? habits.genres.filter(({ genre }) => wish.kind === undefined || kindOf(genre) === wish.kind).slice(0, 3) : [];
  for (const habit of liked) use(habit);
  const genres = wish.genres.length > 0 ? wish.genres : liked.map(({ genre }) => genre);
  const city = wish.city ?? (narrow && !named ? use(habits.city)?.city : undefined);
  const maxPrice = wish.maxPrice ?? (narrow && !named ? use(habits.maxPrice)?.euros : undefined);
  const party = wish.party ?? use(habits.party)?.size;
  const stepFree = wish.stepFree ? "only" : habits.stepFree === undefined ? undefined : "first";
  if (stepFree === "first" && habits.stepFree !== undefined) use({ memory: habits.stepFree });
  const dining = wish.kind === "dining" || (genres.length > 0 && genres.every((genre) => kindOf(genre) === "dining"));
  const diet = wish.diet ?? (narrow && dining ? use(habits.diet)?.diet : undefined);
  const shared = {
    ...(named && { text: wish.text }),
    ...(wish.kind !== undefined && { kind: wish.kind }),
    ...(city !== undefined && { city }),
    ...(wish.days !== undefined && { from: wish.days.from, to: wish.days.to }),
    ...(maxPrice !== undefined && { max_price_eur: maxPrice }),
    ...(party !== undefined && party <= 20 && { party_size: party }),
    ...(stepFree !== undefined && { step_free: stepFree }),
    ...(diet !== undefined && { diet }),
  };
  const calls = (genres.length === 0 ? [undefined] : genres).map((genre) => ({
    name: "search_events",
    // "A jazz concert": the genre says the kind, and says it better.
    arguments: genre === undefined ? shared : { ...withoutKind(shared), genre },
  }));
  return { calls, used };
}

function withoutKind<T extends { readonly kind?: Kind }>({ kind: _, ...rest }: T): Omit<T, "kind"> {
  return rest;
}
