import type { RecallTable } from "../domain/recall-table.js";
import talk from "./recall-talk.json" with { type: "json" };
import relationsOfGuests from "./relations.json" with { type: "json" };

const { children, several, ambiguous, ...people } = relationsOfGuests;

/**
 * What calls for memories, by the occasions of a domain; the rest is how guests speak, whatever it books: idle talk, who comes along, what
 * no memory has a part in. In English, German, French, Spanish, Italian, Portuguese, Dutch and Japanese.
 */
export function recallTableOf(occasions: RecallTable["occasions"]): RecallTable {
  const party = { ...talk.party, ...people, children: { ...talk.party.children, "": children }, loose: [...several, ...ambiguous] };
  return { ...talk, occasions, party };
}
