import type { ProposedOperation } from "../../ports/extraction.js";
import type { CheckedOperation } from "../checked-operation.js";
import { nameOf } from "../companions.js";
import { isNamedIn } from "./named-thing.js";
import { SaidWords } from "./said-words.js";

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
