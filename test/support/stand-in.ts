import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { CONCIERGE_WORDS } from "../../packages/concierge/src/words.js";
import type { SentenceJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import { OfflineReader } from "../../packages/offline/src/offline-reader.js";
import type { Need } from "../../src/ports/agent.js";
import type { GiveWay } from "../../src/ports/give-way.js";

/** Every need that the concierge's words name. */
export const NEEDS: readonly Need[] = [...CONCIERGE_NEEDS, { name: "other", description: "other" }];

/** The stand-in that reads messages, with the concierge's words; by rules alone where no judge is given. */
export const standInReader = (judge: SentenceJudge | null = null, giveWay?: GiveWay) =>
  new OfflineReader({ needs: NEEDS, categories: CONCIERGE_CATEGORIES, words: CONCIERGE_WORDS, judge, ...(giveWay && { giveWay }) });
