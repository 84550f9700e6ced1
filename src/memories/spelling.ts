import { type Category, categoryOf } from "../domain/categories.js";
import { normalised } from "../domain/folded-text.js";
import { nearestName } from "../platform/nearest-name.js";

/** Where everything goes that fits no category of the table. */
const REST = "other";

/** The name of the table that is meant: itself, the nearest in spelling, else `other`. */
export function categorySpelling(name: string, categories: readonly Category[]): string {
  return nearestCategory(name, categories) ?? REST;
}

/** Undefined where none is near. */
export function nearestCategory(name: string, categories: readonly Category[]): string | undefined {
  return nearestName(
    name,
    categories.map((category) => category.name),
    normalised,
  );
}

/**
 * The category that is asked for: as some memory has it, so that one of an earlier table is found, else the name of the table that is
 * meant. One that is neither stays as it is, and finds nothing.
 */
export function askedCategory(name: string, categories: readonly Category[], kept: Iterable<{ readonly category: string }>): string {
  const meant = nearestCategory(name, categories);
  if (meant === undefined || meant === name) return name;
  for (const { category } of kept) if (category === name) return name;
  return meant;
}

/**
 * The aspect as the table spells it, else as it was said. A category that is about one thing only names it by itself: a party size has no
 * other aspect than its size.
 */
export function aspectSpelling(aspect: string, categoryName: string, categories: readonly Category[]): string {
  const category = categoryOf(categories, categoryName);
  if (aspect.trim() === "") return category?.open === null && category.fixed.length === 1 ? (category.fixed[0] ?? "") : "";
  return nearestName(aspect, category?.fixed ?? [], normalised) ?? aspect.trim();
}

/** True for an aspect that holds one value at a time. */
export function isSingleValued(record: { readonly category: string; readonly aspect: string }, categories: readonly Category[]): boolean {
  const aspect = normalised(record.aspect);
  return aspect !== "" && (categoryOf(categories, record.category)?.fixed ?? []).some((fixed) => normalised(fixed) === aspect);
}
