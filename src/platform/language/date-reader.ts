import type * as Chrono from "chrono-node";
import { loadedLater } from "../loaded-later.js";

/** What reads dates in sentences, of several languages. */
export const dateReader = loadedLater<typeof Chrono>("chrono-node");
