import type { Clause } from "./clauses.js";
import { capital, type EnglishClause, type Who } from "./english-clause.js";
import type { Language } from "./language.js";

/** What one clause says, before it is known whether something like it is remembered already. */
export interface Draft {
  readonly clause: Clause;
  readonly text: string;
  readonly about: string;
  readonly category: string;
  readonly aspect: string;
  readonly condition: string;
  readonly need: string | null;
  readonly hard: boolean;
  readonly subject: string;
  /** How the companion is called, where the clause says so. */
  readonly name: string | null;
  readonly unsure: boolean;
  readonly trip: boolean;
}

/** A clause with all that reading it takes. */
export interface ReadClause {
  readonly clause: Clause;
  readonly language: Language;
  /** English only. */
  readonly parsed: EnglishClause | null;
  /** Resolved: a pronoun is the companion named last. `nobody` where the clause names none and may still be the guest's. */
  readonly who: Exclude<Who, { kind: "pronoun" }>;
  /** It stands in a question: only what must hold is read. */
  readonly asks: boolean;
  readonly laughs: boolean;
  /** What came before told something lasting of the guest, in a message that asks for nothing: this may be one more. */
  readonly goesOn: boolean;
  /** "For the future": a wish that is more than one of now. */
  readonly standing: boolean;
}

/** "Wife Ana is allergic to nuts": a companion's memories name them. */
export function withWhom(who: ReadClause["who"], text: string): string {
  if (who.kind !== "companion") return text;
  const lower = /^\p{Lu}\p{Lu}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
  return `${capital(who.relation)}${who.name === null ? "" : ` ${who.name}`} ${lower}`;
}

export function subjectFor(who: ReadClause["who"]): { readonly subject: string; readonly name: string | null } {
  return who.kind === "companion" ? { subject: `companion:${who.relation}`, name: who.name } : { subject: "self", name: null };
}

/** The clause as it was said, without what leads into it and polite words at its end. */
export function asSaid(text: string): string {
  const from = text.replace(/^(?:(?:and|but|so|because|cos|also|please|pls|just|ok|okay|well|btw|honestly)\s+)+/iu, "");
  return capital(from.replace(/(?:\s+(?:please|pls|lol|haha|tbh|btw|thx|sry))?[\s.!]*$/iu, ""));
}

/** The words of a clause as they stand in it. */
export function rawWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
}
