import { phrase, says, without } from "../phrases.js";
import { clausesOf } from "./clauses.js";

/**
 * Whether a guest tells in so many words to make the booking that was stopped, in spite of what stands against it. Only what is certain
 * counts: an order or a yes, an "in spite of it", and no clause beside them that doubts, refuses or wants something else.
 */
export function saysOverride(text: string): boolean {
  if (text.includes("?")) return false;
  const kinds = clausesOf(text).map(kindOf);
  if (kinds.includes("blocks")) return false;
  if (kinds.includes("override")) return true;
  if (kinds.includes("other")) return false;
  // "Anyway, yes" only goes on; "yes, even so" is meant.
  const agreed = kinds.findIndex((kind) => kind === "order" || kind === "assent");
  return agreed !== -1 && kinds.some((kind, at) => kind === "despite" || (kind === "spite" && (at > agreed || kinds[agreed] === "order")));
}

type Kind = "override" | "order" | "assent" | "spite" | "despite" | "polite" | "blocks" | "other";

function kindOf(whole: string): Kind {
  if (phrase("concedes", { start: true }).test(whole)) return "polite";
  // "Despite the stairs": whatever follows belongs to it.
  const at = whole.search(phrase("despite"));
  const clause = at === -1 ? whole : whole.slice(0, at);
  if (without(clause, "order", "assent", "spite", "spite_order", "polite") !== "")
    return says(clause, "no", "doubts") || /n't\b/u.test(clause) ? "blocks" : "other";
  const orders = says(clause, "order");
  const spites = at !== -1 || says(clause, "spite");
  if (says(clause, "spite_order") || ((orders || says(clause, "assent")) && spites)) return "override";
  if (orders) return "order";
  if (at !== -1) return "despite";
  if (spites) return says(clause, "thanks") ? "polite" : "spite";
  return says(clause, "assent") ? "assent" : "polite";
}
