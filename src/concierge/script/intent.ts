import { besidesKeepOut, commandOf, type MemoryCommand } from "../../commands.js";
import type { ScriptView } from "../../offline-script.js";
import { staysBehind } from "../companions.js";
import { readReply, speaksOfCancelling } from "../reply.js";
import { plain } from "../vocabulary.js";
import { type MemoryChoice, memoryChoice } from "./memory-choice.js";
import { awaitsQuantity, focus, justShowedOne, lastBookings, lastList, offeredCancellation, openQuote } from "./past.js";
import { isEmpty, type Wish } from "./wish.js";
import { ordinalIn, partyIn, pointsBack } from "./words.js";

export type Intent =
  | { readonly kind: "command"; readonly command: MemoryCommand }
  | { readonly kind: "choose_memory"; readonly choice: MemoryChoice }
  | { readonly kind: "answer_quote" | "decline_quote" | "change_quote" | "restate_quote" | "confirm_cancel" | "decline_cancel" }
  | { readonly kind: "cancel" | "list_bookings" | "book" | "details" | "search" | "fact" | "statement" | "thanks" | "greeting" | "help" };

const BOOKINGS =
  /\b(?:my|our|any) (?:upcoming |current |existing )?(?:bookings?|reservations?)\b|\b(?:what|which|anything|everything|something)\b.{0,20}\b(?:have i|did i|i have|i've|have we|we've|i) (?:got )?(?:book|reserv)\w*|\b(?:show|list|see|check) (?:me )?(?:all )?(?:my|our) (?:\w+ )?(?:bookings?|reservations?|tickets)\b|\bam i (?:booked|going)\b|\bdo (?:i|we) have (?:any )?(?:\w+ )?(?:bookings?|reservations?|tickets)\b|\bwhat(?:'s| is| do i have| have i got) (?:booked|reserved|coming up for me)\b/;
const BOOK =
  /\b(?:book|reserve|buy|order|purchase|get (?:me|us)|i(?:'ll| will) (?:take|have)|we(?:'ll| will) (?:take|have)|let's (?:take|do|go (?:with|for))|sign (?:me|us) up|grab|secure|put (?:me|us) down|go (?:with|for))\b/;
const DETAILS =
  /\b(?:how much|price|prices|cost|costs|what time|when (?:does|is|do)|start|starts|doors|where is|address|location|venue|step.?free|wheelchair|accessib\w*|stairs|lift|hearing loop|guide dogs?|assistance dogs?|dogs?|menus?|vegetarian|vegan|allerg\w*|gluten|nuts|how many|seats? left|available|availability|sold out|tell me more|more about|details?|sections?|what sort|who plays)\b/;
const QUESTION =
  /\?\s*$|^(?:what|which|who|whom|whose|when|where|why|how|do|does|did|is|are|was|were|have|has|can|could|remind me|tell me)\b/;
const ABOUT_SELF =
  /\b(?:my|our|mine|ours)\b|\b(?:did|do|does|was|were|am|have|had) (?:i|we)\b|\b(?:i|we) (?:say|said|told|tell|mention|mentioned|ask|asked|was|were|had|agreed|wanted|chose|picked)\b|\bremind me\b|\bremember\b/;
const LOOKS_BACK = /\b(?:did|was|were|said|told|mentioned|asked|agreed|chose|picked|remember|remind)\b/;
const GREETING = /^(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings)\b/;
const HELP = /\b(?:help me with|what can you do|what do you do|what can you help|how does this work|who are you)\b|^help\b/;
const SEARCHING =
  /\b(?:find|search|look(?:ing)? for|show me|recommend|suggest\w*|anything|something|what(?:'s| is) on|what can|where can|what could|is there|are there|any|ideas?|options?|in the mood|fancy|feel like|i(?:'d| would) (?:like|love) to (?:see|hear|go|watch|eat)|i want to (?:see|hear|go|watch|eat)|want to (?:see|hear|go|eat)|interested in|how about|what about|looking to|playing|plays?|happening|see|hear|watch)\b/;
const STATES =
  /^(?:(?:by the way|just so you know|fyi|for the record|also|and|please note),?\s*)?(?:i|we|my|our|i'm|i've|we're|we've|i'd|mine)\b/;
const ORDER =
  /^(?:find|search|look|show|book|reserve|suggest|recommend|get|list|what|which|where|any|is there|are there|can you|could you)\b/;
/** Says how things are or usually are, and asks for nothing. */
const HABIT =
  /^(?:(?:by the way|just so you know|fyi|for the record|also|and|please note),?\s*)?(?:(?:i|we) (?:also |really |do |both |still )?(?:usually|always|often|normally|mostly|generally|never|prefer|like|love|hate|dislike|enjoy|need|am|are|have|live|can't|cannot|don't|do not|only|eat|avoid|work|travel)|i'm|we're|i've|we've|my|our)\b/;
const WANTS =
  /\b(?:i(?:'d| would) (?:like|love)|i want|we want|we(?:'d| would) (?:like|love)|i(?:'m| am) looking|we(?:'re| are) looking|i need (?:a|some|two|three|four|\d+) (?:tickets?|seats?|table)|i(?:'m| am) in the mood|i feel like|i fancy|we fancy)\b/;

/** What the guest wants in this turn, from their message and what the window holds. */
export function intentOf(view: ScriptView, wish: Wish): Intent {
  const command = commandOf(view.message);
  if (command === null) return requestIn(view, wish, view.message);
  if (command.kind !== "do_not_remember") return { kind: "command", command };
  // What is not to be kept may ask for something all the same.
  const rest = besidesKeepOut(view.message);
  const request = rest === "" ? undefined : requestIn(view, wish, rest);
  const asks = request !== undefined && !NO_REQUEST.has(request.kind) && (request.kind !== "search" || !isEmpty(wish));
  return asks ? request : { kind: "command", command };
}

const NO_REQUEST: ReadonlySet<Intent["kind"]> = new Set(["statement", "thanks", "greeting", "help"]);

function requestIn(view: ScriptView, wish: Wish, message: string): Intent {
  const words = plain(message)
    .replace(/[\u2018\u2019]/g, "'")
    .trim();
  const choice = memoryChoice(view);
  if (choice !== undefined) return { kind: "choose_memory", choice };
  const waiting = answerTo(view, words);
  if (waiting !== undefined) return { kind: waiting };
  if (speaksOfCancelling(words)) return { kind: "cancel" };
  if (BOOKINGS.test(words) && !/\bmake (?:a|my|our) (?:booking|reservation)\b/.test(words)) return { kind: "list_bookings" };

  const listed = lastList(view).length > 0 || focus(view) !== undefined;
  const refers = listed && (ordinalIn(words) !== undefined || pointsBack(words));
  const asks = QUESTION.test(words);
  const states = STATES.test(words) && !WANTS.test(words) && !asks;
  // A statement and a request in one message: the request is what is to be done.
  const requests = states && splitRequest(words);
  if (states && !requests && HABIT.test(words) && ordinalIn(words) === undefined) return { kind: "statement" };
  if (
    BOOK.test(words) &&
    !/\b(?:did|have|had) (?:i|we) (?:book|reserve|buy)/.test(words) &&
    (refers || !/^(?:what|which|where|how much)\b/.test(words))
  )
    return { kind: "book" };
  if (refers && asks && DETAILS.test(words)) return { kind: "details" };
  if (refers && ordinalIn(words) !== undefined) return { kind: partyIn(words) === undefined ? "details" : "book" };
  if (refers && /\b(?:more about|details?|tell me more)\b/.test(words)) return { kind: "details" };
  if (GREETING.test(words) && isEmpty(wish) && words.split(/\s+/).length <= 4) return { kind: "greeting" };
  if (HELP.test(words)) return { kind: "help" };
  if (asks && ABOUT_SELF.test(words) && !/\b(?:can|could|should|shall) (?:i|we)\b/.test(words) && (isEmpty(wish) || LOOKS_BACK.test(words)))
    return { kind: "fact" };
  if (!states && (!isEmpty(wish) || SEARCHING.test(words))) return { kind: "search" };
  if (requests) return { kind: "search" };
  if (states) return { kind: "statement" };
  if (/^(?:yes|yep|yeah|sure|no|nope)\W*(?:please|thanks|thank you)?\W*$/.test(words)) return { kind: "help" };
  if (/^(?:thanks|thank you|thx|cheers|great|perfect|lovely|wonderful|ok|okay|good|super)\b/.test(words)) return { kind: "thanks" };
  if (GREETING.test(words)) return { kind: "greeting" };
  if (asks) return { kind: "fact" };
  return wish.text === "" ? { kind: "help" } : { kind: "search" };
}

/** What the guest says to the question that is open, if they speak to it. */
function answerTo(
  view: ScriptView,
  words: string,
):
  | "answer_quote"
  | "decline_quote"
  | "change_quote"
  | "restate_quote"
  | "confirm_cancel"
  | "decline_cancel"
  | "book"
  | "cancel"
  | undefined {
  const reply = readReply(words);
  if (offeredCancellation(view) !== undefined) {
    if (reply.yes || speaksOfCancelling(words)) return "confirm_cancel";
    if (reply.no) return "decline_cancel";
  }
  // "Which one is to be cancelled?" was the last question.
  if (lastBookings(view).length > 1 && speaksOfCancelling(view.window.at(-1)?.user ?? "") && ordinalIn(words) !== undefined)
    return "cancel";
  const quote = openQuote(view);
  if (quote !== undefined) {
    const seats = partyIn(words);
    if (seats !== undefined && seats !== quote.quantity && ordinalIn(words) === undefined && words.split(/\s+/).length <= 10)
      return "change_quote";
    if (quote.companions.some((name) => staysBehind(name, words))) return "answer_quote";
    if (/\b(?:total|altogether|in all|all together)\b/.test(words)) return "restate_quote";
    if (reply.override || reply.yes || (reply.nothingToMind && quote.status === "stopped")) return "answer_quote";
    if (reply.no && words.split(/\s+/).length <= 10) return "decline_quote";
  }
  if (
    quote === undefined &&
    reply.yes &&
    justShowedOne(view) &&
    words.split(/\s+/).length <= 6 &&
    !/^(?:great|perfect|ok|okay)\W*$/.test(words)
  )
    return "book";
  if (awaitsQuantity(view) !== undefined && partyIn(words) !== undefined && words.split(/\s+/).length <= 8) return "book";
  return undefined;
}

/** Whether another part of the message asks for something: a sentence of its own, or an order after a comma. */
function splitRequest(words: string): boolean {
  const sentences = words.split(/[.!;]\s+/);
  if (sentences.some((part) => !STATES.test(part) && (SEARCHING.test(part) || BOOK.test(part)) && part.split(/\s+/).length > 1))
    return true;
  return words
    .split(/,\s*(?:so |and |please |then )*/)
    .slice(1)
    .some((part) => ORDER.test(part));
}
