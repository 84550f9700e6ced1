import { tenantPrefix } from "../../domain/owner.js";
import { SESSION_STATUSES } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { script } from "../../platform/lua-script.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type { Page } from "../../ports/session-store.js";
import { listLimit } from "../sqlite-index/list-cursor.js";
import type { RedisDatabase } from "./database.js";
import { keysOf, type OrderKey } from "./keys.js";
import type { OwnerRegistry } from "./owner-registry.js";

/** Owners that one page looks at: the names of another tenant's have to be looked at too. */
const MAX_LOOKED_AT = 1_000;

const LISTED = SESSION_STATUSES.map((status): OrderKey => `listed:${status}`);

/** How many sessions an owner has, and when anything last happened in one, in milliseconds. */
const ACTIVITY = script(
  ["states", ...LISTED],
  `local last = 0
for _, key in ipairs({ ${LISTED.map((name) => `K['${name}']`).join(", ")} }) do
  local newest = call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if newest[2] then last = math.max(last, tonumber(newest[2])) end
end
return { call('HLEN', K.states), string.format('%.0f', last) }`,
);

/** Owners who have sessions, in the order of their tags; the cursor is the last tag that was looked at. */
export async function ownersPage(
  { database, registry }: { readonly database: RedisDatabase; readonly registry: OwnerRegistry },
  { tenant, limit, cursor = "" }: OwnersQuery,
): Promise<Page<OwnerActivity>> {
  const size = listLimit(limit);
  if (cursor !== "" && !/^[0-9a-f]{32}$/.test(cursor)) throw new AppError("INVALID_CURSOR");
  const prefix = tenant === undefined ? "" : tenantPrefix(tenant);
  const data: OwnerActivity[] = [];
  let looked = 0;
  let last = cursor;
  for await (const { owner, tag } of registry.behind(cursor)) {
    if (data.length === size || looked === MAX_LOOKED_AT) return { data, nextCursor: last };
    looked += 1;
    last = tag;
    if (owner === null || !owner.startsWith(prefix)) continue;
    const reply = await database.run(ACTIVITY, keysOf(database.prefix, tag));
    const [sessions, lastMs] = (reply as readonly (number | string)[]).map(Number);
    if (sessions !== undefined && sessions > 0) data.push({ owner, sessions, lastActiveAt: new Date(lastMs ?? 0).toISOString() });
  }
  return { data, nextCursor: null };
}
