import { recallTableOf } from "maitred/domain";
import occasions from "./data/occasions.json" with { type: "json" };

/** What tells the concierge which of a guest's memories a message calls for. */
export const CONCIERGE_RECALL = recallTableOf(occasions);
