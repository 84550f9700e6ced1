import { folded, phraseLists, TALK } from "@maitred/offline";
import lists from "./data/script.json" with { type: "json" };

/** The script's own lists of phrases, and those of all talk. */

export { folded };
export const { phrase, says, beginsWith, saysOnly, wordSet } = phraseLists({ ...TALK, ...lists });
