import { folded } from "../../platform/phrase-list.js";
import type { Clause } from "./clauses.js";
import type { ReadClause } from "./draft.js";
import type { Language } from "./language.js";
import { type Who, whoIn } from "./who.js";

/** "With Ana", "Theo (4)". */
const CALLED = /\b(?:with|mit|avec|con|met)\s+(?<with>\p{Lu}\p{Ll}+)|(?<aged>\p{Lu}\p{Ll}+)\s\(\d{1,2}\)/gu;

/** What was said before a clause: who was named last, and whether the guest speaks of themselves. */
export class Story {
  /** The guest asked to be remembered: what follows is meant to last. */
  standing = false;
  #companion: Extract<Who, { kind: "companion" }> | null = null;
  #before: Who = { kind: "nobody" };
  readonly #names = new Map<string, string>();

  constructor(text: string) {
    for (const { groups } of text.matchAll(CALLED)) {
      const name = groups?.with ?? groups?.aged ?? "";
      this.#names.set(folded(name), name);
    }
  }

  endSentence(): void {
    this.#before = { kind: "nobody" };
  }

  /** Null where a clause tells nothing of the guest or theirs. */
  next(clause: Clause, language: Language, how: Omit<ReadClause, "clause" | "language" | "who">): ReadClause | null {
    const { words } = clause;
    const named = whoIn(clause, language, this.#before.kind === "self");
    const called = words.map((word) => this.#names.get(word)).find((each) => each !== undefined);
    if (called !== undefined && named.kind !== "companion") this.#companion = { kind: "companion", relation: called, name: null };
    const who = named.kind === "pronoun" ? (this.#companion ?? { kind: "other" as const }) : named;
    if (named.kind === "companion") {
      this.#companion = named;
      if (named.name !== null) this.#names.set(folded(named.name), named.name);
    }
    const before = this.#before;
    this.#before = who;
    if (language.past.in(words) !== -1 || (language.would.in(words) !== -1 && !how.standing)) return null;
    // Of a question only what is told beside it: "…, my wife is allergic to nuts?"
    if (how.asks && (clause.index === 0 || who.kind === "nobody" || who.kind === "other")) return null;
    // "… and hates garlic" goes on about the one before.
    const meant = who.kind === "nobody" && (before.kind === "companion" || before.kind === "other") ? before : who;
    return { clause, language, who: meant, ...how };
  }
}
