import type { Owner } from "../../domain/owner.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type { Page } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { ownersHolding } from "../owners-holding.js";
import { OWNER_KEY } from "../partition.js";
import { ACTIVITIES, activityOf } from "./keys.js";

/** Who has sessions, in the engine's order of partitions. @throws INVALID_REQUEST, INVALID_CURSOR */
export function activeOwners(engine: StateEngine, query: OwnersQuery): Promise<Page<OwnerActivity>> {
  return ownersHolding(engine, OWNER_KEY, query, async (owner: Owner, { partition }) => {
    const { ranges } = await engine.read(partition, { ranges: [prefixRange(ACTIVITIES)] });
    const times = (ranges[0] ?? []).map(({ key }) => activityOf(key).updatedAt);
    const lastActiveAt = times.toSorted().at(-1);
    return lastActiveAt === undefined ? null : { owner, sessions: times.length, lastActiveAt };
  });
}
