import { beginsWith, says, saysOnly } from "./phrases.js";

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
  return says(text, "cancel") && !says(text, "not_cancel");
}

/** Whether the guest's own words ask for a cancellation: not what it would cost, nor whether they may. */
export function asksToCancel(text: string): boolean {
  return speaksOfCancelling(text) && !says(text, "about_cancelling");
}

/** Asks for a cancellation, and says nothing else: "cancel it please". */
export function asksOnlyToCancel(text: string): boolean {
  return asksToCancel(text) && saysOnly(text, "cancel", "yes", "polite", "beside_cancelling");
}

/** "Cancel my brunch" names what is to be taken back; "no, cancel that" is a no to what was shown or asked. */
export function takesBackAnother(text: string): boolean {
  return asksToCancel(text) && !saysOnly(text, "no", "cancel", "polite", "beside_cancelling");
}
