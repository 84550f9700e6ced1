import type { RecallTable } from "maitred";
import { relationsOfGuests } from "maitred/domain";
import table from "./data/recall.json" with { type: "json" };

const { relations, children, child, groups, not_family, possessives } = relationsOfGuests;

/**
 * What tells the concierge which of a guest's memories a message calls for: in English, German, French, Spanish, Italian, Portuguese and
 * Dutch.
 */
export const CONCIERGE_RECALL: RecallTable = {
  ...table,
  party: {
    ...table.party,
    relations,
    children: { ...table.party.children, "": children },
    child,
    groups,
    not_family,
    possessives,
  },
};
