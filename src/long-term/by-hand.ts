import { AppError } from "../errors.js";
import { type NewStatement, type Statement, statementSchema } from "../long-term.js";
import { type Category, categoryOf } from "./categories.js";
import { steeringOf } from "./promotable/instructions.js";
import { holdsSecret } from "./promotable/secrets.js";

export interface ByHand {
  readonly statement: Statement;
  /** It tells the assistant what to do: kept and shown, and not used before the user approves it. */
  readonly review: boolean;
}

/**
 * A statement that the user adds by hand. Strength and type that are left out are the category's own, so that an allergy holds without a
 * word about it. @throws MEMORY_REFUSED for a secret
 */
export function byHand(said: NewStatement, categories: readonly Category[]): ByHand {
  refuseSecret(said);
  const category = categoryOf(categories, said.category);
  const strength = said.strength ?? category?.strength ?? "soft";
  const type = said.type ?? (strength === category?.strength ? category.type : strength === "hard" ? "constraint" : "preference");
  return { statement: statementSchema.parse({ ...said, type, strength }), review: steers(said) };
}

/** An edit changes what is used already: there is no review for it. @throws MEMORY_REFUSED for a secret or an instruction */
export function refuseUnfit(edited: Wording): void {
  refuseSecret(edited);
  if (steers(edited)) throw new AppError("MEMORY_REFUSED", { detail: "It tells the assistant what to do." });
}

type Wording = { readonly [K in "text" | "aspect" | "subject" | "tags"]?: NewStatement[K] };

function refuseSecret(said: Wording): void {
  if (holdsSecret(wordsOf(said))) throw new AppError("MEMORY_REFUSED", { detail: "It holds a password, a card number or another secret." });
}

function steers(said: Wording): boolean {
  return steeringOf(wordsOf(said)) === "refused";
}

function wordsOf({ text = "", aspect = "", subject = "", tags = [] }: Wording): string {
  return [text, aspect, subject, ...tags].filter((words) => words !== "").join(" | ");
}
