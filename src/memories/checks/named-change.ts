import type { Span } from "../../domain/compared-words.js";
import type { Memory } from "../../domain/memory.js";
import { needsNamedIn } from "../../languages/need-talk.js";
import type { Need } from "../../ports/agent.js";
import type { ProposedOperation } from "../../ports/extraction.js";
import type { CheckedOperation } from "../checked-operation.js";
import { nameOf } from "../companions.js";
import { isNamedIn, SaidWords } from "./said-words.js";
import { textOutside } from "./spans.js";

/** Sentences end here, in any script; the quote is widened to them. */
const SENTENCE_END = /[.!?。！？؟\n]/u;
/** The quote is widened by so many characters at most. */
const MAX_WIDENED = 300;

/**
 * Whether the guest's own words say which memory an end, a replacement or a forgetting is about: what it is `about` stands in the sentences
 * of the quote, outside of what was brought along, or in the question that they answer.
 */
export function namesTarget(target: Memory, text: string, quote: Span, broughtAlong: readonly Span[], question: string): boolean {
  const said = new SaidWords(`${textOutside(text, widened(text, quote), broughtAlong)} ${question}`);
  if (target.about !== "") return isNamedIn(target.about, said);
  return (target.aspect !== "" && isNamedIn(target.aspect, said)) || isNamedIn(target.text, said);
}

/** Whether what may take a need away is about another one: "I might be allergic to nuts" is no doubt about a wheelchair. */
export function isOfAnotherNeed(
  { about, stance }: Pick<ProposedOperation, "about" | "stance">,
  { need, text }: Memory,
  needs: readonly Need[],
): boolean {
  if (stance === "stated" || need === null || isNamedIn(about, new SaidWords(text))) return false;
  const named = needsNamedIn(about, needs);
  return named.size > 0 && !named.has(need);
}

/** A stretch and the rest of the sentences that it is in. */
export function widened(text: string, { start, end }: Span): Span {
  let [from, to] = [start, end];
  while (from > 0 && start - from < MAX_WIDENED && !SENTENCE_END.test(text[from - 1] ?? "")) from--;
  while (to < text.length && to - end < MAX_WIDENED && !SENTENCE_END.test(text[to] ?? "")) to++;
  return { start: from, end: to };
}

/**
 * A forgetting of all that is about somebody or something, whatever memories these are. Where the guest's own words name neither, all of
 * it waits. Of all about the guest themselves no message disposes by this.
 */
export function forgetsAllAbout(
  { op, stance, subject, about }: ProposedOperation,
  index: number,
  { quote, own }: { readonly quote: string; readonly own: string },
): CheckedOperation | "unknown_target" | "not_stated" {
  if (op !== "forget" || (subject === "self" && about.trim() === "")) return "unknown_target";
  // To forget is told, as an instruction is.
  if ((stance !== "stated" && stance !== "instruction") || !/[\p{L}\p{N}]/u.test(own)) return "not_stated";
  const said = new SaidWords(own);
  const thing = isNamedIn(about, said) ? about.trim() : "";
  const isNamed = thing !== "" || isNamedIn(nameOf(subject) ?? "", said);
  return {
    op,
    index,
    target_id: null,
    all_about: { subject, thing },
    quote,
    statement: null,
    waits: isNamed ? null : "unclear_change",
    brought_along: false,
  };
}
