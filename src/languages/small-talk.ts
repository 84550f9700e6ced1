import { phrasesIn } from "../platform/phrase-list.js";
import talk from "./small-talk.json" with { type: "json" };

/** How one language asks, wishes and thanks: by what a message is told that can hold nothing which must be known at once. */
export interface SmallTalk {
  /** Words of thanks, greetings and agreement. */
  readonly idle: readonly string[];
  /** Words for whoever may be told of: the guest, and others. */
  readonly persons: readonly string[];
  /** How persons stand in wishes and requests, which tell nothing of their state: "I'd like", "show us". */
  readonly wishes: readonly string[];
  /** How questions and orders begin. */
  readonly requests: readonly string[];
  /** How an assistant asks what it may do. */
  readonly offers: readonly string[];
  /** Words that may take something back, or ask that it is kept or forgotten. */
  readonly changes: readonly string[];
  /** Words of limits, of what must be, and of health. */
  readonly limits: readonly string[];
  /** Words that are such words in another language, and mean nothing in this one. */
  readonly plain: readonly string[];
}

/** By languages of which all of it is known; under `other` thanks of further ones. */
export const SMALL_TALK: ReadonlyMap<string, SmallTalk> = new Map(
  Object.entries(talk).map(([language, { plain = [], ...lists }]: readonly [string, Lists]) => [
    language,
    {
      idle: phrasesIn(lists.idle),
      persons: phrasesIn(lists.persons),
      wishes: phrasesIn(lists.wishes),
      requests: phrasesIn(lists.requests),
      offers: phrasesIn(lists.offers),
      changes: phrasesIn(lists.changes),
      limits: phrasesIn(lists.limits),
      plain: phrasesIn(plain),
    },
  ]),
);

type Lists = Omit<SmallTalk, "plain"> & { readonly plain?: readonly string[] };
