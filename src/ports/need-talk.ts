import type { DomainWords } from "./offline-script.js";

/**
 * How guests speak of what must hold, in every language that the domain claims: what tells a need that is told from one that is only
 * spoken of. Words and short phrases, signs too ("🚫"); none of them is looked for across a mark that parts clauses.
 */
export interface NeedTalk {
  /** What names needs, and what must hold and is none of the domain's needs (`other`). */
  readonly words: DomainWords["needs"];
  /** By which a thing is kept away from somebody, and which are no statement where they are denied: "allergic", "intolerance". */
  readonly harm: readonly string[];
  /** The same, as a denial themselves: "no", "without", "can't have". */
  readonly avoid: readonly string[];
  /** The same, where the thing stands before it: "out of the question", "don't get along". */
  readonly behind: readonly string[];
  /** What denies a need, or a harm, a few words before it: "not", "never". */
  readonly not: readonly string[];
  /** What somebody can't do with what a need is named by, which denies no need: "peut pas", "don't climb". */
  readonly unable: readonly string[];
  /** What says that it is over: "used to". */
  readonly over: readonly string[];
  /** What a guest says of themselves or asks for: of a question only one with such a word tells of a need ("anything without nuts?"). */
  readonly own: readonly string[];
  /** How a question begins, also one that ends without its mark: "which", "do they". */
  readonly asks: readonly string[];
  /** Who is none of the party, and what has needs of its own: "neighbour", "restaurant". */
  readonly others: readonly string[];
  /** What only supposes something: "what if", "imagine". */
  readonly supposed: readonly string[];
  /** What leads to text of others that has no marks around it: "translate". What follows tells of nobody's needs. */
  readonly brings: readonly string[];
  /** Who comes along, the relation first, then what else it goes by. */
  readonly relations: readonly (readonly string[])[];
  /** What is none of the domain's needs and is to be avoided, by its word: "No {word}". */
  readonly avoided: string;
}
