import { ownerHash } from "../../domain/owner.js";
import type { KeptEvent } from "../../ports/event-log.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { optimisticCommit } from "../optimistic-commit.js";
import { FEED, FEED_ROWS, keysOfEvent, placeOf, tenantHashOf } from "./event-keys.js";

/** Events of one commit: each has four keys. */
const PAGE = 25;

/**
 * Drops events that happened before a time: from the front, until there are none among some that follow one another. One that was added
 * late goes when those before it have gone. Returns how many went.
 */
export async function pruneFeed(engine: StateEngine, before: Date): Promise<number> {
  let dropped = 0;
  for (let from = FEED_ROWS; ; ) {
    const query = { ranges: [{ ...prefixRange(FEED_ROWS), from, limit: PAGE }] };
    const page = await optimisticCommit(engine, FEED, query, (read) => {
      const [rows = []] = read.ranges;
      const old = rows.flatMap((row) => {
        const { owner, event } = JSON.parse(row.value) as KeptEvent;
        if (Date.parse(event.timestamp) >= before.getTime()) return [];
        return [{ row, keys: keysOfEvent(event.id, [Number(placeOf(row.key)), ownerHash(owner), tenantHashOf(owner)]) }];
      });
      const last = rows.length === PAGE ? rows.at(-1)?.key : undefined;
      // Who prunes at the same time counts what goes as well.
      const checks = old.map(({ row: { key, version } }) => ({ key, version }));
      return {
        commit: old.length === 0 ? null : { checks, deletes: old.flatMap(({ keys }) => keys) },
        result: { count: old.length, last },
      };
    });
    dropped += page.count;
    if (page.count === 0 || page.last === undefined) return dropped;
    from = page.last;
  }
}
