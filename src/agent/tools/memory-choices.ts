import { LRUCache } from "lru-cache";
import type { ToolContext } from "../../agent.js";
import type { Memory } from "../../long-term.js";
import { overlap } from "./memory-match.js";

/** A choice is made in the next turns, in few words: "the second one", "yes". */
const OPEN_TURNS = 2;
const MAX_CHOICE_WORDS = 15;
/** Where no command of the guest's was found, only an answer that is nothing else. */
const MAX_BARE_WORDS = 5;
const MAX_SESSIONS = 1_000;

interface Offer {
  readonly turn: number;
  readonly messageId: string;
  readonly memories: readonly Memory[];
  readonly asked: boolean;
}

/**
 * Memories that a guest was asked about and may now name by id. Without such a question, and without words of the guest that
 * answer it, an id is no wish of the guest: it could come from a page or a tool's output. Kept in this process only; where it is
 * lost, the question is asked again.
 */
export class MemoryChoices {
  readonly #open = new LRUCache<string, Offer>({ max: MAX_SESSIONS });

  /** `asked`: the guest's own words were found to ask for the change. */
  offer(context: ToolContext, memories: readonly Memory[], asked: boolean): void {
    this.#open.set(keyOf(context), { turn: context.turn, messageId: context.userMessage.id, memories, asked });
  }

  /** The messages that led to this choice: the one that was asked about, and the answer. */
  askedIn(context: ToolContext): readonly string[] {
    const open = this.#open.get(keyOf(context));
    return [...(open === undefined ? [] : [open.messageId]), context.userMessage.id];
  }

  /** Whether the guest was asked about this memory in an earlier turn, and now says that it is the one. */
  mayChoose(context: ToolContext, id: string): boolean {
    const open = this.#open.get(keyOf(context));
    if (open === undefined || open.turn >= context.turn || context.turn - open.turn > OPEN_TURNS) return false;
    const chosen = open.memories.findIndex((memory) => memory.id === id);
    const words = context.userMessage.content.trim();
    if (chosen === -1 || words.split(/\s+/).length > (open.asked ? MAX_CHOICE_WORDS : MAX_BARE_WORDS)) return false;
    return answers(words, open, chosen);
  }
}

function answers(words: string, { memories, asked }: Offer, chosen: number): boolean {
  const place = placeIn(words, memories.length);
  if (place !== null) return place === chosen;
  if (/\?\s*$/.test(words)) return false;
  if (memories.length === 1 && YES.test(words)) return true;
  const shared = memories.map((memory) => overlap(words, memory));
  const best = Math.max(...shared);
  return asked && best > 0 && shared[chosen] === best && shared.filter((each) => each === best).length === 1;
}

const YES =
  /^(?:yes|yep|yeah|sure|correct|exactly|right|that one|this one|that's (?:it|the one)|ja|genau|oui|exactement|sí|si|exacto|sì|certo|esatto)(?!\p{L})/iu;
const PLACES: readonly RegExp[] = [
  /\b(?:first|1st|erste[nrs]?|premi[eè]re?|primer[oa]?|prim[oa])(?!\p{L})/iu,
  /\b(?:second|2nd|zweite[nrs]?|deuxième|seconde?|segund[oa]|second[oa])(?!\p{L})/iu,
  /\b(?:third|3rd|dritte[nrs]?|troisième|tercer[oa]?|terz[oa])(?!\p{L})/iu,
  /\b(?:fourth|4th|vierte[nrs]?|quatrième|cuart[oa]|quart[oa])(?!\p{L})/iu,
  /\b(?:fifth|5th|fünfte[nrs]?|cinquième|quint[oa])(?!\p{L})/iu,
];
const LAST = /\b(?:last|letzte[nrs]?|dernière?|últim[oa]|ultim[oa])(?!\p{L})/iu;

/** The place in the list that the words name, from 0; null where they name none. */
function placeIn(words: string, count: number): number | null {
  const digit = /^\W*(?:number|no\.?|nr\.?|#)?\s*(\d{1,2})\W*$/iu.exec(words)?.[1];
  if (digit !== undefined) return Number(digit) - 1;
  if (LAST.test(words)) return count - 1;
  const place = PLACES.findIndex((pattern) => pattern.test(words));
  return place === -1 ? null : place;
}

function keyOf(context: ToolContext): string {
  return JSON.stringify([context.owner, context.sessionId]);
}
