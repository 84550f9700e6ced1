import { NUMBER_WORDS } from "../number-words.js";
import { phrase, says } from "../phrases.js";
import { saysNothingToMind } from "./nothing-to-mind.js";
import { saysOverride } from "./override.js";

/**
 * What a guest's own words say to a question about a booking. Conservative: whoever hesitates, changes something or asks has not agreed.
 */
export interface Reply {
  /** Agrees, and to nothing else than what was asked. */
  readonly yes: boolean;
  /** A yes that says itself what to do: "book it". It needs no question just before it. */
  readonly order: boolean;
  readonly no: boolean;
  /** Tells in so many words to book in spite of what stands against it: more than a yes. */
  readonly override: boolean;
  /** Says that there is nothing to look out for. */
  readonly nothingToMind: boolean;
}

const MAX_WORDS = 25;

/** Tells something that may have to be minded: it is in memory by the next turn, so the yes is asked for again then. */
const TELLS = /\b(?:i|we|he|she|they|(?:my|our) \p{L}+)(?:'m|'re|'s| am| are| is| has| have| needs?| uses?| can't| cannot| must)\b/iu;

export function readReply(text: string): Reply {
  const words = text.normalize("NFKC").replace(/[\u2018\u2019]/g, "'");
  const short = (words.match(/[\p{L}\p{N}']+/gu)?.length ?? 0) <= MAX_WORDS;
  const override = short && saysOverride(words);
  const nothingToMind = short && saysNothingToMind(words);
  // "Yes" at the end of a question still asks: "is it yes or no?"; "yes, can you book it?" agrees.
  const asks = words.includes("?") && !/\b(?:can|could|would|will) you\b/iu.test(words);
  const negates = says(words.replace(new RegExp(phrase("no_refusal"), "giu"), " "), "no");
  const doubts = says(words, "doubts") || TELLS.test(words) || (/n't\b/iu.test(words) && !negates);
  const yes = short && says(words, "yes") && !asks && !negates && !doubts;
  return { yes, order: yes && says(words, "order"), no: negates && !override && !nothingToMind, override, nothingToMind };
}

/** Whether the words speak of a cancellation at all. */
export function speaksOfCancelling(text: string): boolean {
  return says(text, "cancel") && !says(text, "not_cancel");
}

/** Whether the guest's own words ask for a cancellation: not what it would cost, nor whether they may. */
export function asksToCancel(text: string): boolean {
  return speaksOfCancelling(text) && !says(text, "about_cancelling");
}

const DIGITS = /(?<![\d:.,€]\s?)\b(\d{1,2})\b(?!\s*(?:[:.,]\d|o'clock|[ap]\.?m\b|euros?|€|%))/iu;

/** A number of seats that the words name: "yes, three please" does not agree to two. Null where they name none. */
export function seatsNamed(text: string): number | null {
  const digits = DIGITS.exec(text)?.[1];
  if (digits !== undefined) return Number(digits);
  const word = /\b(?:two|three|four|five|six|seven|eight|nine|ten|one(?=\s+(?:ticket|seat|place)))\b/iu.exec(text)?.[0].toLowerCase();
  return word === undefined ? null : (NUMBER_WORDS[word] ?? null);
}
