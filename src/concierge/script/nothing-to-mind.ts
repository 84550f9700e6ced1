import { says, without } from "../phrases.js";
import { clausesOf } from "./clauses.js";

/** Whether a guest says that nobody who comes has a need to mind: every clause has to say so, or be a plain yes, no or thanks. */
export function saysNothingToMind(text: string): boolean {
  const clauses = clausesOf(text);
  if (text.includes("?") || clauses.some((clause) => without(clause, "nothing_to_mind", "nothing", "beside_nothing", "polite") !== ""))
    return false;
  const full = clauses.some((clause) => says(clause, "nothing_to_mind"));
  // A mere "nothing" with thanks is a refusal as well as an answer.
  return full || (clauses.some((clause) => says(clause, "nothing")) && !says(clauses.join(" "), "thanks"));
}
