import type * as Chrono from "chrono-node";
import { loadedLater } from "../loaded-later.js";

/** What reads dates in sentences, of several languages. Its expressions are compiled with the first sentence or two. */
export const dateReader = loadedLater<typeof Chrono>("chrono-node", ({ parse }) => [
  parse("from 3 May until Friday"),
  parse("tonight at 8"),
]);
