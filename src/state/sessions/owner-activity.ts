import { type Owner, tenantPrefix } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type { Page } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { OWNER_KEY, ownerOfValue } from "../partition.js";
import { ACTIVITIES, activityOf } from "./keys.js";
import { listLimit } from "./list-cursor.js";

/** Partitions looked at for one page: it may hold less than was asked for. */
const MOST_LOOKED_AT = 1_000;
const PARTITION = /^o:[0-9a-f]{64}$/;

/** Who has sessions, in the engine's order of partitions. @throws INVALID_REQUEST, INVALID_CURSOR */
export async function activeOwners(engine: StateEngine, { tenant, limit, cursor }: OwnersQuery): Promise<Page<OwnerActivity>> {
  const size = listLimit(limit);
  const prefix = tenant === undefined ? "" : tenantPrefix(tenant);
  const data: OwnerActivity[] = [];
  let after = cursor === undefined ? undefined : decoded(cursor);
  for (let looked = 0; looked < MOST_LOOKED_AT; ) {
    const asked = size + 1;
    const page = await engine.partitions({ key: OWNER_KEY, limit: asked, ...(after !== undefined && { after }) });
    for (const { partition, value } of page) {
      if (data.length === size) return { data, nextCursor: after === undefined ? null : encoded(after) };
      after = partition;
      const owner = ownerOfValue(value);
      const activity = owner.startsWith(prefix) ? await activityIn(engine, partition, owner) : null;
      if (activity !== null) data.push(activity);
    }
    looked += page.length;
    if (page.length < asked) return { data, nextCursor: null };
  }
  return { data, nextCursor: after === undefined ? null : encoded(after) };
}

async function activityIn(engine: StateEngine, partition: string, owner: Owner): Promise<OwnerActivity | null> {
  const { ranges } = await engine.read(partition, { ranges: [prefixRange(ACTIVITIES)] });
  const times = (ranges[0] ?? []).map(({ key }) => activityOf(key).updatedAt);
  const lastActiveAt = times.toSorted().at(-1);
  return lastActiveAt === undefined ? null : { owner, sessions: times.length, lastActiveAt };
}

function encoded(partition: string): string {
  return Buffer.from(partition).toString("base64url");
}

function decoded(cursor: string): string {
  const partition = Buffer.from(cursor, "base64url").toString("utf8");
  if (!PARTITION.test(partition)) throw new AppError("INVALID_CURSOR");
  return partition;
}
