import type { Statement } from "../../long-term.js";

/** What one clause says, before subject, scope and quote are added. */
export interface Draft {
  readonly category: string;
  readonly aspect: string;
  /** Third person without a subject, as it is said of a guest: "Prefers jazz concerts". */
  readonly text: string;
  readonly strength?: "hard";
  readonly type?: Statement["type"];
  readonly entities?: readonly string[];
  /** Aspects of the same category that the clause says no longer hold. */
  readonly replaces?: readonly string[];
  /** Where the shape itself knows whom it is about. Default: the clause's subject. */
  readonly subject?: string;
}

/** A clause made plain: contractions written out, "we" as "I", adverbs and courtesy taken off. */
export interface PlainClause {
  /** With the capitals of the message. */
  readonly text: string;
  /** "usually", "always", "tend to" … was said. */
  readonly usual: boolean;
  /** "now", "these days", "any more" … was said. */
  readonly changed: boolean;
  /** A reason stands before it: "…, so no rooms on the street". */
  readonly reasoned: boolean;
  /** The clause is about this trip alone, or up to a day. */
  readonly passing: boolean;
}

export type Shape = (clause: PlainClause) => readonly Draft[];

/** A shape of one pattern: tried on the plain clause, case ignored. */
export function shape(
  pattern: RegExp,
  make: (match: Record<string, string>, clause: PlainClause) => Draft | readonly Draft[] | null,
): Shape {
  return (clause) => {
    const match = pattern.exec(clause.text);
    if (match === null) return [];
    const groups: Record<string, string> = {};
    for (const [name, value] of Object.entries(match.groups ?? {})) groups[name] = value?.trim() ?? "";
    const made = make(groups, clause);
    return made === null ? [] : Array.isArray(made) ? (made as readonly Draft[]) : [made as Draft];
  };
}

export function need(category: "dietary" | "accessibility", aspect: string, text: string): Draft {
  return { category, aspect, text, strength: "hard", type: "constraint" };
}

/** "peanuts, soy and latex" → its items. */
export function itemsOf(list: string): string[] {
  return list
    .split(/\s*,\s*(?:and |or )?|\s+(?:and|or|as well as|plus|und|oder|sowie|et|ou|y|e|o|u|ni|noch)\s+/iu)
    .map((item) => item.replace(/^(?:all |any |most |both |every kind of |all kinds of |the |a |an |some |also |to )+/iu, "").trim())
    .filter((item) => item !== "");
}
