import type { MemoryLine, ScriptCall } from "../../ports/offline-script.js";
import { isEmpty, type Wish } from "../script/wish.js";
import { type Kind, kindOf } from "../vocabulary.js";
import type { Habits } from "./habits.js";

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
