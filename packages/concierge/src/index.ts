import type { DomainToOpen } from "maitred";
import { CONCIERGE_CATEGORIES } from "./categories.js";
import { openConcierge } from "./open-concierge.js";
import { CONCIERGE_RECALL } from "./recall-table.js";

/** The example product: concerts, theatre, sport and dining in a few cities, with bookings that the gate holds. */
export const concierge: DomainToOpen = { categories: CONCIERGE_CATEGORIES, recall: CONCIERGE_RECALL, open: openConcierge };
