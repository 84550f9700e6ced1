import { CONCIERGE_CATEGORIES } from "../../src/concierge/categories.js";
import { CONCIERGE_WORDS } from "../../src/concierge/words.js";
import { OfflineReader } from "../../src/offline/offline-reader.js";
import type { Need } from "../../src/ports/agent.js";

/** Every need that the concierge's words name. */
export const NEEDS: readonly Need[] = [...new Set(CONCIERGE_WORDS.needs.map(({ need }) => need))].map((name) => ({
  name,
  description: name,
}));

/** The stand-in that reads messages, with the concierge's words. */
export const standInReader = () => new OfflineReader({ needs: NEEDS, categories: CONCIERGE_CATEGORIES, words: CONCIERGE_WORDS });
