import { plain } from "../vocabulary.js";

/** The clauses of a message, in small letters and without accents; a conjunction stays at the head of its clause. */
export function clausesOf(text: string): readonly string[] {
  return plain(text.replace(/[\u2018\u2019\u02BC]/g, "'"))
    .split(/[.,;:!()\n\u2013\u2014]+|\s-+\s|\s+(?=(?:and|but|und|aber|et|mais|pero|y|e|mas)\s)/u)
    .map((clause) => clause.replace(/\s+/g, " ").trim())
    .filter((clause) => clause !== "");
}
