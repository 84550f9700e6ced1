import type { MemoryCommand, ScriptView } from "../../ports/offline-script.js";
import { phrase, says } from "../phrases.js";
import { awaitsQuantity, focus, justShowedOne, lastBookings, lastList, offeredCancellation, openQuote } from "../stand-in/past.js";
import { plain } from "../vocabulary.js";
import { type MemoryChoice, memoryChoice } from "./memory-choice.js";
import { staysBehind } from "./party-words.js";
import { readReply, speaksOfCancelling } from "./reply.js";
import { type SettledAnswer, settledBy } from "./settle.js";
import { isEmpty, type Wish } from "./wish.js";
import { ordinalIn, partyIn, pointsBack } from "./words.js";

type AnswerKind = "answer_quote" | "decline_quote" | "confirm_cancel" | "decline_cancel";
export type Intent =
  | { readonly kind: "command"; readonly command: MemoryCommand }
  | { readonly kind: "choose_memory"; readonly choice: MemoryChoice }
  | { readonly kind: "settle"; readonly answers: readonly SettledAnswer[] }
  | { readonly kind: AnswerKind }
  | { readonly kind: "cancel" | "list_bookings" | "book" | "details" | "search" | "fact" | "statement" | "thanks" | "greeting" | "help" };

/** "By the way, I …": how things are. */
const LEAD = () => new RegExp(`^(?:(?:${phrase("lead").source}),?\\s*)*`, "iu");
const beginsWith = (words: string, name: "states" | "request" | "asking" | "greeting" | "thanking") =>
  phrase(name, { start: true }).test(words);
const tells = (words: string) => beginsWith(words.replace(LEAD(), ""), "states");
/** Says how things are or usually are, and asks for nothing: the verb is near the head. */
const tellsHabit = (words: string) =>
  says(words.replace(LEAD(), "").split(/\s+/).slice(0, 4).join(" "), "habit") || /^(?:i'm|we're|i've|we've|my|our)\b/.test(words);
const countOf = (words: string) => words.split(/\s+/).length;

/** What the guest wants in this turn, from their message and what the window holds. */
export function intentOf(view: ScriptView, wish: Wish): Intent {
  const settled = settledBy(view);
  if (settled.length > 0) return { kind: "settle", answers: settled };
  const [command = confirmedForgetting(view)] = view.commands;
  if (command === undefined) return requestIn(view, wish, view.message);
  if (command.kind !== "do_not_remember") return { kind: "command", command };
  // What is not to be kept may ask for something all the same.
  const rest = view.request;
  const request = rest === "" ? undefined : requestIn(view, wish, rest);
  const asks = request !== undefined && !NO_REQUEST.has(request.kind) && (request.kind !== "search" || !isEmpty(wish));
  return asks ? request : { kind: "command", command };
}

/** A plain yes to whether everything is to be forgotten. */
function confirmedForgetting(view: ScriptView): MemoryCommand | undefined {
  const asked = view.window.at(-1)?.observations.some(({ name, output }) => name === "forget" && isAskFirst(output));
  const { yes, no } = readReply(view.message);
  return asked === true && yes && !no && view.message.trim().split(/\s+/).length <= MAX_YES_WORDS ? { kind: "forget_all" } : undefined;
}

const MAX_YES_WORDS = 6;

function isAskFirst(output: unknown): boolean {
  return typeof output === "object" && output !== null && "status" in output && output.status === "ask_first";
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
  if (says(words, "bookings") && !/\bmake (?:my|our) (?:booking|reservation)\b/.test(words)) return { kind: "list_bookings" };

  const listed = lastList(view).length > 0 || focus(view) !== undefined;
  const refers = listed && (ordinalIn(words) !== undefined || pointsBack(words));
  const asks = /\?\s*$/.test(words) || beginsWith(words, "asking");
  const states = tells(words) && !says(words, "wants") && !asks;
  // A statement and a request in one message: the request is what is to be done.
  const requests = states && splitRequest(words);
  if (states && !requests && tellsHabit(words) && ordinalIn(words) === undefined) return { kind: "statement" };
  if (
    says(words, "book") &&
    !/\b(?:did|have|had) (?:i|we) (?:book|reserve|buy)/.test(words) &&
    (refers || !/^(?:what|which|where|how much)\b/.test(words))
  )
    return { kind: "book" };
  if (refers && asks && says(words, "details")) return { kind: "details" };
  if (refers && ordinalIn(words) !== undefined) return { kind: partyIn(words) === undefined ? "details" : "book" };
  if (refers && says(words, "more")) return { kind: "details" };
  if (beginsWith(words, "greeting") && isEmpty(wish) && countOf(words) <= 4) return { kind: "greeting" };
  if (says(words, "help") || words.startsWith("help")) return { kind: "help" };
  if (
    asks &&
    says(words, "about_self") &&
    !/\b(?:can|could|should|shall) (?:i|we)\b/.test(words) &&
    (isEmpty(wish) || says(words, "looks_back"))
  )
    return { kind: "fact" };
  if (!states && (!isEmpty(wish) || says(words, "searching"))) return { kind: "search" };
  if (requests) return { kind: "search" };
  if (states) return { kind: "statement" };
  if (/^(?:yes|yep|yeah|sure|no|nope)\W*(?:please|thanks|thank you)?\W*$/.test(words)) return { kind: "help" };
  if (beginsWith(words, "thanking")) return { kind: "thanks" };
  if (beginsWith(words, "greeting")) return { kind: "greeting" };
  if (asks) return { kind: "fact" };
  return wish.text === "" ? { kind: "help" } : { kind: "search" };
}

/** What the guest says to the question that is open, if they speak to it. */
function answerTo(view: ScriptView, words: string): AnswerKind | "book" | "cancel" | undefined {
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
    if (seats !== undefined && seats !== quote.quantity && ordinalIn(words) === undefined && countOf(words) <= 10) return "answer_quote";
    if (quote.companions.some((name) => staysBehind(name, words))) return "answer_quote";
    if (/\b(?:total|altogether|in all|all together)\b/.test(words)) return "answer_quote";
    if (reply.override || reply.yes || (reply.nothingToMind && quote.status === "stopped")) return "answer_quote";
    if (reply.no && countOf(words) <= 10) return "decline_quote";
  }
  if (quote === undefined && reply.yes && justShowedOne(view) && countOf(words) <= 6 && !/^(?:great|perfect|ok|okay)\W*$/.test(words))
    return "book";
  if (awaitsQuantity(view) !== undefined && partyIn(words) !== undefined && countOf(words) <= 8) return "book";
  return undefined;
}

/** Whether another part of the message asks for something: a sentence of its own, or an order after a comma. */
function splitRequest(words: string): boolean {
  const sentences = words.split(/[.!;]\s+/);
  if (sentences.some((part) => !tells(part) && says(part, "searching", "book") && countOf(part) > 1)) return true;
  const parts = words.split(/,\s*(?:so |and |please |then )*/).slice(1);
  return parts.some((part) => beginsWith(part, "request"));
}
