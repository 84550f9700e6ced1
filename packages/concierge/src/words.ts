import type { DomainWords } from "maitred";
import { phrasesIn } from "maitred/stand-in";
import lists from "./data/words.json" with { type: "json" };

/** What names the concierge's needs and categories, for the stand-in that reads messages without a model. */
export const CONCIERGE_WORDS: DomainWords = {
  // By "be NEED CATEGORY", what somebody is, has or asks for, and "avoid NEED CATEGORY", what they can't have.
  needs: Object.entries(lists.needs).map(([key, words]) => {
    const [kind, need = "", category = ""] = key.split(" ");
    return { kind: kind === "be" ? "be" : "avoid", need, category, words: phrasesIn(words) };
  }),
  reasons: Object.fromEntries(Object.entries(lists.reasons).map(([need, words]) => [need, phrasesIn(words)])),
  categories: Object.fromEntries(Object.entries(lists.categories).map(([category, words]) => [category, phrasesIn(words)])),
};
