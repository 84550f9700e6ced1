import type { DomainToOpen } from "maitred";
import { needTalkOf } from "maitred/domain";
import { BUDGET } from "./budget.js";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import { STATED_NEEDS } from "./need-check.js";
import { openConcierge } from "./open-concierge.js";
import { CONCIERGE_RECALL } from "./recall-table.js";
import { CONCIERGE_WORDS } from "./words.js";

/** The example product: concerts, theatre, sport and dining in a few cities, with bookings that the gate holds. */
export const concierge: DomainToOpen = {
  categories: CONCIERGE_CATEGORIES,
  recall: CONCIERGE_RECALL,
  needs: STATED_NEEDS,
  limits: [BUDGET],
  needTalk: needTalkOf(CONCIERGE_WORDS.needs),
  open: openConcierge,
};
