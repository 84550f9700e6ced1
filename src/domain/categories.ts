import { z } from "zod";
import type { StatedType } from "./memory.js";
import type { Owner } from "./owner.js";
import type { CategoryOccasions } from "./recall-table.js";

/**
 * What is remembered about a user, by category: one row of the table that a domain or a deployment (`parseCategories`) has.
 *
 * `aspect` says what a statement is about within its category; a new soft statement supersedes the old one on the same
 * (subject, category, aspect), so the aspect decides what can stand side by side:
 * - `fixed` aspects hold one value at a time: a new row, party size, budget or diet replaces the old one;
 * - `open` categories name the thing itself: "jazz" and "opera" are two aspects of genre and coexist, while
 *   "no more jazz" is about "jazz" and replaces what was said about it.
 */
export interface Category {
  readonly name: string;
  /** One line, for the extraction prompt and for clients. */
  readonly description: string;
  /** The type of its statements where nothing else is said. */
  readonly type: StatedType;
  /** `hard`: must hold when something is booked, whatever the query; never decays. */
  readonly strength: "hard" | "soft";
  /** The aspects that hold one value at a time. */
  readonly fixed: readonly string[];
  /** How the aspect of everything else is named; null where only the fixed ones are meant. */
  readonly open: string | null;
  /** When its statements matter, by the occasions of the domain's table. Default: at those that a statement's own words name. */
  readonly occasions?: CategoryOccasions | undefined;
}

/** A row, in short. */
export function category(
  name: string,
  description: string,
  type: StatedType,
  strength: "hard" | "soft",
  fixed: readonly string[],
  open: string | null = null,
  occasions?: CategoryOccasions,
): Category {
  return { name, description, type, strength, fixed, open, ...(occasions && { occasions }) };
}

/** For a domain that has no table of its own. */
export const DEFAULT_CATEGORIES: readonly Category[] = [
  category("preference", "likes and dislikes of any kind", "preference", "soft", [], "what is liked or disliked"),
  category("budget", "what it may cost", "preference", "soft", ["budget"]),
  category("schedule", "days and times that suit or don't", "preference", "soft", ["days", "time of day"], "the day or time"),
  category("location", "home, and where or how far to go", "fact", "soft", ["home", "area", "distance"]),
  category("dietary", "diets, allergies, intolerances, religious food rules", "constraint", "hard", ["diet"], "the substance"),
  category("accessibility", "what access, hearing, sight or mobility ask for", "constraint", "hard", [], "the need"),
  category("companions", "people that matter to the user", "fact", "soft", [], "the relation or name"),
  category("communication", "language, channel, form of address, style", "procedural", "soft", ["language", "channel", "name", "style"]),
  category("other", "anything else of lasting use", "fact", "soft", [], "what it is about"),
];

const occasionNames = z.array(z.string().min(1).max(64)).optional();

/** A table as a deployment gives it. It must hold `other`, where a category that is not in the table goes. */
export const categoriesSchema = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
      description: z.string().min(1).max(200),
      type: z.enum(["preference", "fact", "constraint", "episodic", "procedural"]).default("preference"),
      strength: z.enum(["hard", "soft"]).default("soft"),
      fixed: z.array(z.string().min(1).max(64)).default([]),
      open: z.string().min(1).max(64).nullable().default(null),
      occasions: z
        .strictObject({
          at: occasionNames,
          hard: occasionNames,
          named: occasionNames,
          alike: occasionNames,
          placed: z.boolean().optional(),
          residence: z.string().min(1).max(64).optional(),
        })
        .optional(),
    }),
  )
  .min(1)
  .max(50)
  .refine((list) => new Set(list.map((entry) => entry.name)).size === list.length, "a category's name is there once")
  .refine((list) => list.some((entry) => entry.name === "other"), "one category is `other`");

/** A deployment's own table, by {@link categoriesSchema}. @throws ZodError */
export function parseCategories(value: unknown): readonly Category[] {
  return categoriesSchema.parse(value);
}

/** Whose memories have which table. Pure: the same owner's is the same for as long as a process runs. */
export type CategoriesOf = (owner: Owner) => readonly Category[];

export function categoryOf(categories: readonly Category[], name: string): Category | undefined {
  return categories.find((entry) => entry.name === name);
}
