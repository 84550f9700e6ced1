import { partsOf } from "./party-words.js";
import { beginsWith, folded, phrase, says, saysOnly } from "./phrases.js";

/**
 * What a guest's own words say to a question. Only what is certain counts: whoever says anything beside it has not agreed, and is asked
 * again.
 */
export interface Reply {
  /** Agrees, and says nothing else. */
  readonly yes: boolean;
  /** A yes that says itself what to do: "book it". It needs no question just before it. */
  readonly order: boolean;
  readonly no: boolean;
  /** A yes with a condition or a no in it ("yes, but not the peanuts", "book it if it is vegan"): neither of the two, and asked again. */
  readonly partly: boolean;
  /** Tells in so many words to book in spite of what stands against it: more than a yes. */
  readonly override: boolean;
  /** Says that there is nothing to look out for. */
  readonly nothingToMind: boolean;
}

const MAX_WORDS = 25;

export function readReply(text: string): Reply {
  const plain = !text.includes("?") && text.split(/\s+/u).length <= MAX_WORDS;
  const yes = plain && says(text, "yes", "order") && saysOnly(text, "yes", "order", "polite");
  const override = plain && says(text, "override") && saysOnly(text, "override", "yes", "concedes", "polite");
  const nothingToMind = plain && says(text, "nothing_to_mind") && saysOnly(text, "nothing_to_mind", "beside_nothing", "order", "polite");
  const unmixed = yes || override || nothingToMind;
  const partly =
    plain &&
    !unmixed &&
    ((beginsWith(text, "yes") && says(text, "conditions", "no")) || (says(text, "order") && says(text, "conditions") && !says(text, "no")));
  const no = !override && !nothingToMind && !partly && says(text.replace(/\b(?:no problem|no doubt|why not|not at all)\b/giu, " "), "no");
  return { yes, order: yes && says(text, "order"), no, partly, override, nothingToMind };
}

/** Agrees that something be kept, and says nothing else: "keep that", "yes, that's right". An answer to nothing but such a question. */
export function agreesToKeep(text: string): boolean {
  return !text.includes("?") && says(text, "keeping") && saysOnly(text, "keeping", "yes", "polite", "beside_keeping");
}

/** Whether the words speak of a cancellation at all. */
export function speaksOfCancelling(text: string): boolean {
  return says(text, "cancel", "cancelling", "cancelled", "not_cancel");
}

const PATTERN_OF_CANCELLING = `(?:\\p{L}')?(?:${phrase("cancel", "cancelling", "cancelled").source})`;
/** "I don't want to cancel", "ne pas l'annuler". */
const DENIED = new RegExp(
  `(?:${phrase("denies").source})(?:\\s+(?:${phrase("beside_denying").source})){0,5}\\s+${PATTERN_OF_CANCELLING}`,
  "iu",
);
/** "N'annule pas le concert", "storniere das nicht". */
const DENIED_BEHIND = new RegExp(`${PATTERN_OF_CANCELLING}\\s+(?:${phrase("denies_behind").source})`, "iu");
const DENIED_AT_THE_END = new RegExp(`(?:${phrase("denies_behind").source})[^\\p{L}\\p{N}]*$`, "iu");

/** Whether all that a message says of a cancellation is that there is none: "don't cancel it", "I didn't cancel". */
export function deniesCancelling(text: string): boolean {
  const speaking = partsOf(text).filter(speaksOfCancelling);
  return speaking.length > 0 && speaking.every(isDenial);
}

/** Denies a cancellation, and says nothing else: "no, please don't cancel it". */
export function onlyDeniesCancelling(text: string): boolean {
  const others = partsOf(text).filter((part) => !speaksOfCancelling(part));
  return !text.includes("?") && deniesCancelling(text) && others.every((part) => saysOnly(part, "no", "yes", "polite"));
}

function isDenial(part: string): boolean {
  const words = folded(part);
  return says(part, "not_cancel") || [DENIED, DENIED_BEHIND, DENIED_AT_THE_END].some((pattern) => pattern.test(words));
}

/** Whether all that a message says of a cancellation is that it has happened: "my flight was cancelled", "my dentist had to cancel". */
export function reportsCancelling(text: string): boolean {
  return speaksOfCancelling(text) && !says(besidesReports(text), "cancel", "cancelling", "not_cancel");
}

/** Without their accents they are orders: "annulé", "cancelé". */
const ACCENTED_REPORT = /(?<!\p{L})(?:annul|cancel)é(?!\p{L})/giu;

function besidesReports(text: string): string {
  return folded(text.normalize("NFC").replace(ACCENTED_REPORT, " ")).split(phrase("cancelled")).join(" ");
}

/** Whether the guest's own words ask for a cancellation: not what it would cost, nor whether they may, nor whether there was one. */
export function asksToCancel(text: string): boolean {
  return speaksOfCancelling(text) && !deniesCancelling(text) && !reportsCancelling(text) && !says(text, "about_cancelling");
}

/**
 * Asks for a cancellation, and says nothing else: "cancel it please". `names`: of what is to be cancelled, which may stand in it, behind a
 * no to something else: "no, cancel my tickets for Night Shift Trio". Default none.
 */
export function asksOnlyToCancel(text: string, names: readonly string[] = []): boolean {
  if (text.includes("?") || !asksToCancel(text)) return false;
  if (names.length === 0) return saysOnly(text, "cancel", "yes", "polite", "beside_cancelling");
  const words = names.reduce(withoutName, text).replace(LEADING_NO, "");
  // "Cancel all but …".
  return !says(words, "conditions") && saysOnly(words, "cancel", "yes", "polite", "beside_named");
}

const LEADING_NO = new RegExp(`^\\s*(?:${phrase("plain_no").source})\\s*[,.;:!]`, "iu");

function withoutName(text: string, name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${words.join("[^\\p{L}\\p{N}]+")}(?![\\p{L}\\p{N}])`, "iu"), " ");
}

/** "Cancel my brunch" and "don't cancel it" are no answer; "no, cancel that" is a no to what was shown or asked. */
export function takesBackAnother(text: string): boolean {
  return speaksOfCancelling(text) && (deniesCancelling(text) || !saysOnly(text, "no", "cancel", "polite", "beside_cancelling"));
}
