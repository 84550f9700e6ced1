import { wordsOf } from "../../domain/compared-words.js";
import { folded } from "../../domain/folded-text.js";
import { needsNamedIn } from "../../languages/need-talk.js";
import { contentWordsOf } from "../../platform/language/stop-words.js";
import type { Need } from "../../ports/agent.js";
import type { ProposedOperation } from "../../ports/extraction.js";
import { knownNeed } from "./category-and-need.js";
import { isNamedIn, SaidWords } from "./said-words.js";

const MAX_TEXT_CHARS = 500;

/**
 * The second witness for what must hold: whether what was said bears out the text and the need that a model made of it. The need's own
 * words do, in any language that the domain has them in; else the thing that it is about, where its text is about that too, or most of
 * the text's words. What was said of another need never does: "I am vegetarian" is not "is vegan". `unclear`: the words tell neither.
 */
export function borneOutByWords(
  { text, about, need }: Pick<ProposedOperation, "text" | "about" | "need">,
  said: readonly string[],
  needs: readonly Need[],
): "yes" | "no" | "unclear" {
  const claimed = needsClaimed({ text, need }, needs);
  const named = new Set(said.flatMap((one) => [...needsNamedIn(one, needs)]));
  if ([...claimed].some((name) => named.has(name))) return "yes";
  if (claimed.size > 0 && named.size > 0) return "no";
  const words = said.map((one) => new SaidWords(one));
  // A proposal without a text is kept in the quote's own words.
  const mayBeItsOwn = text.trim() === "" && [...claimed].every((name) => !hasWords(name, needs));
  const own = new SaidWords(mayBeItsOwn ? said.join(" ") : text.slice(0, MAX_TEXT_CHARS));
  if (about.trim() !== "" && isNamedIn(about, own) && words.some((one) => isNamedIn(about, one))) return "yes";
  return text.trim() !== "" && words.some((one) => isNamedIn(text, one)) ? "yes" : "unclear";
}

/** The need that a model names, or those whose words its text holds. */
function needsClaimed({ text, need }: Pick<ProposedOperation, "text" | "need">, needs: readonly Need[]): ReadonlySet<string> {
  const known = knownNeed(need, needs);
  return known === null ? needsNamedIn(text, needs) : new Set([known]);
}

/** Of the letters of a text's words that tell something, so many must stand in what was said. */
const PART_SHARED = 1 / 5;

/**
 * What a proposal without `about` is about, where it claims none of the domain's needs, whose own words would have to be there: what its
 * text shares with what was said; the empty string where that is little.
 */
export function sharedThing(
  { text, need }: Pick<ProposedOperation, "text" | "need">,
  said: readonly string[],
  needs: readonly Need[],
): string {
  if (needsClaimed({ text, need }, needs).size > 0) return "";
  const content = contentWordsOf(wordsOf(folded(text.slice(0, MAX_TEXT_CHARS))).map((each) => each.text)).map(({ word }) => word);
  const words = said.map((one) => new SaidWords(one));
  const shared = content.filter((word) => words.some((one) => isNamedIn(word, one)));
  return shared.join("").length < content.join("").length * PART_SHARED ? "" : shared.join(" ");
}

/** Whether words of the need that a proposal claims stand in what was said. */
export function namesNeedOf(proposal: Pick<ProposedOperation, "text" | "need">, said: readonly string[], needs: readonly Need[]): boolean {
  const claimed = needsClaimed(proposal, needs);
  return said.some((one) => [...needsNamedIn(one, needs)].some((name) => claimed.has(name)));
}

function hasWords(name: string, needs: readonly Need[]): boolean {
  const { words = [], spellings = [] } = needs.find((need) => need.name === name) ?? {};
  return words.length + spellings.length > 0;
}
