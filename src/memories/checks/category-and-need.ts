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

/** The domain's need that is meant, allowing for its spelling. Null where it is none of them. */
export function knownNeed(said: string | null, needs: readonly Need[]): string | null {
  if (said === null) return null;
  const name = folded(said.slice(0, 64));
  return needs.find((need) => folded(need.name) === name)?.name ?? null;
}
