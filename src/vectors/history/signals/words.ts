import { wordLists } from "../../../platform/word-list.js";

/** Words by which a question shows what it asks for. They only order what was found; nothing is decided by them. */
export const WORDS = wordLists(new URL("./words.json", import.meta.url));
