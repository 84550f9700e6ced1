import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { IdempotencyEntry, SessionIndex } from "../../ports/session-store.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { jsonOf } from "../stored-rows.js";
import { type ActivityRow, IDEMPOTENCY_MS } from "./index-write.js";
import { activitiesOf, activityOf, REQUESTS, requestKey, TRASH } from "./keys.js";
import { ownerPages } from "./owners.js";
import { emptyTrash } from "./trash.js";

/** Old requests looked for in a partition at once, from anywhere in it on. */
const REQUESTS_LOOKED_AT = 40;
/** Positions kept, each of a page's last session. */
const POSITIONS = 200;

/** So far writers' clocks may be from the engine's, in milliseconds. */
const CLOCKS_MS = 60 * 60 * 1000;

interface Candidate {
  readonly owner: Owner;
  readonly id: string;
  readonly sinceMs: number;
}

/** Sessions whose time may have come, found by going through all owners' lists; what is out of date there goes by the way. */
export class ExpiringSessions {
  readonly #engine: StateEngine;
  readonly #positions = new LRUCache<string, number>({ max: POSITIONS });

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** Oldest first. Behind the session `after`, where it was found here before. */
  async find(query: Parameters<SessionIndex["expiring"]>[0]): Promise<readonly Candidate[]> {
    const { status, inactiveSince, expiresBefore, limit, after } = query;
    const [inactiveMs, expiresMs] = [Date.parse(inactiveSince), Date.parse(expiresBefore)];
    const sinceMs = after === undefined ? undefined : this.#positions.get(after);
    const position = after === undefined || sinceMs === undefined ? null : { id: after, sinceMs };
    let found: Candidate[] = [];
    for await (const page of ownerPages(this.#engine))
      for (const { partition, owner } of page) {
        for (const [id, row] of await this.#activities(partition, activitiesOf(status))) {
          const isDue = row.sinceMs < inactiveMs || (row.expiresMs !== null && row.expiresMs < expiresMs);
          const candidate = { owner, id, sinceMs: row.sinceMs };
          if (isDue && (position === null || byAge(candidate, position) > 0)) found.push(candidate);
        }
        if (found.length > 2 * limit) found = found.sort(byAge).slice(0, limit);
      }
    const oldest = found.sort(byAge).slice(0, limit);
    for (const { id, sinceMs: at } of oldest) this.#positions.set(id, at);
    return oldest;
  }

  async #activities(partition: string, prefix: string): Promise<readonly (readonly [string, ActivityRow])[]> {
    const somewhere = { ...prefixRange(REQUESTS), from: requestKey(String(Math.random())), limit: REQUESTS_LOOKED_AT };
    const query = { ranges: [prefixRange(prefix), { ...prefixRange(TRASH), limit: 1 }, somewhere] };
    const { ranges, nowMs } = await this.#engine.read(partition, query);
    const [activities = [], trash = [], requests = []] = ranges;
    if (trash.length > 0) await emptyTrash(this.#engine, partition);
    const old = requests.filter((row) => Date.parse(jsonOf<IdempotencyEntry>(row).at) < nowMs - IDEMPOTENCY_MS - CLOCKS_MS);
    const checks = old.map(({ key, version }) => ({ key, version }));
    if (checks.length > 0) await committed(this.#engine, partition, { checks, deletes: checks.map(({ key }) => key) });
    return activities.map((row) => [activityOf(row.key).id, jsonOf<ActivityRow>(row)] as const);
  }
}

function byAge(a: Pick<Candidate, "id" | "sinceMs">, b: Pick<Candidate, "id" | "sinceMs">): number {
  return a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
