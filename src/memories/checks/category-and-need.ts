import { type Category, categoryOf } from "../../domain/categories.js";
import { editDistance } from "../../platform/edit-distance.js";
import type { Need } from "../../ports/agent.js";
import { folded } from "./folded-text.js";
import { isFormOf, wordsOf } from "./words.js";

/** The category of the table that is meant: by its name, a misspelling of it, or the words of its description. Else `other`. */
export function nearestCategory(said: string, categories: readonly Category[]): string {
  const name = folded(said.slice(0, 64));
  const exact = categories.find((category) => folded(category.name) === name) ?? categories.find(({ name: other }) => isNear(name, other));
  if (exact !== undefined) return exact.name;
  const words = wordsOf(name).map((word) => word.text);
  const described = categories.find(
    (category) => words.length > 0 && wordsOf(category.description).some((word) => words.some((one) => isFormOf(word.text, one))),
  );
  return (described ?? categoryOf(categories, "other") ?? categories[0])?.name ?? "other";
}

function isNear(said: string, name: string): boolean {
  const wanted = folded(name);
  if (said.length < 4) return false;
  return editDistance(said, wanted, 2) <= 2 || wordsOf(said).some((word) => isFormOf(word.text, wanted));
}

/** The domain's need that is meant: by its name, another spelling of the domain's table, or a slip of a letter. Null where it is none. */
export function knownNeed(said: string | null, needs: readonly Need[]): string | null {
  if (said === null) return null;
  const name = folded(said.slice(0, 64));
  const names = spellingsOf(needs);
  const exact = names.get(name);
  if (exact !== undefined || name.length < MIN_SLIP_LETTERS) return exact ?? null;
  for (const [spelling, need] of names) if (isSlip(name, spelling)) return need;
  return null;
}

/** Folded once for a domain: they are asked for again and again. */
const FOLDED = new WeakMap<readonly Need[], ReadonlyMap<string, string>>();

/** Spelling → the need's name; a need's own name before what others are also called. */
function spellingsOf(needs: readonly Need[]): ReadonlyMap<string, string> {
  const known = FOLDED.get(needs);
  if (known !== undefined) return known;
  const also = needs.flatMap(({ name, spellings = [] }) => spellings.map((spelling) => [folded(spelling), name] as const));
  const names = new Map([...also, ...needs.map(({ name }) => [folded(name), name] as const)]);
  FOLDED.set(needs, names);
  return names;
}

/** In a short name a letter makes another word. */
const MIN_SLIP_LETTERS = 8;

function isSlip(said: string, spelling: string): boolean {
  return said[0] === spelling[0] && editDistance(said, spelling, 1) <= 1;
}
