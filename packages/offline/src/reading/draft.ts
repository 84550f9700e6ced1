import type { Clause } from "./clauses.js";
import type { Language } from "./language.js";
import type { Who } from "./who.js";

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
  /** A rule read all of the clause: no judge is asked about it. Default false. */
  readonly whole?: boolean;
  /** A taste that is told so plainly that it is kept whatever a judge makes of its clause. Default false. */
  readonly plain?: boolean;
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
  /** A pronoun is the companion named last. `nobody` where the clause names none and may still be the guest's. */
  readonly who: Who;
  /** It stands in a question: only what must hold is read. */
  readonly asks: boolean;
  /** What is laughed about may be a joke. */
  readonly laughs: boolean;
  /** "For the future": a wish that is more than one of now. */
  readonly standing: boolean;
  /** How the clause before began that told of things to avoid: "I'm allergic to" of "I'm allergic to nuts, eggs and milk". */
  readonly avoiding: string | null;
}
