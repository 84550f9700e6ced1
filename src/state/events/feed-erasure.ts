import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, ownerHash } from "../../domain/owner.js";
import type { DeadEvent, KeptEvent } from "../../ports/events.js";
import { committed } from "../durable-commit.js";
import { OPERATIONS_AT_ONCE, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { optimisticChange, optimisticCommit, unchanged } from "../optimistic-commit.js";
import { jsonOf, rowPages } from "../stored-rows.js";
import {
  deadIdKey,
  deadRows,
  erasedKey,
  FEED,
  FEED_ROWS,
  keysOfEvent,
  LAST,
  ownerRows,
  placeOf,
  queueRows,
  tenantHashOf,
  waitingKey,
} from "./event-keys.js";
import { waitingChanges, waitingOf } from "./waiting-owners.js";

/** Rows looked at in one step: each has at most four keys that go. */
const PAGE = Math.floor(OPERATIONS_AT_ONCE / 4);
/** Each has two keys that go. */
const DEAD_AT_ONCE = OPERATIONS_AT_ONCE / 2;

/**
 * Drops an owner's events from the feed, also those that wait or were given up, but for those that tell of an erasure; and refuses what is
 * on its way from an outbox that was read before it was emptied for the time `erasures`. Returns how many went from the feed.
 */
export async function eraseFeed(engine: StateEngine, owner: Owner, erasures: number): Promise<number> {
  const hash = ownerHash(owner);
  // Whoever has read the last place before this is refused by it.
  await optimisticChange(engine, FEED, { keys: [LAST, erasedKey(hash)] }, (read) => ({
    checks: unchanged(read, LAST, erasedKey(hash)),
    puts: [
      { key: LAST, value: read.entries.get(LAST)?.value ?? "0" },
      { key: erasedKey(hash), value: String(Math.max(erasures, Number(read.entries.get(erasedKey(hash))?.value ?? 0))) },
    ],
  }));
  const tenant = tenantHashOf(owner);
  const erased = await eraseRows(engine, ownerRows(hash), (row) => {
    const [id, type] = jsonOf<[string, string]>(row);
    return type === "owner.erased" ? [] : keysOfEvent(id, [Number(placeOf(row.key)), hash, tenant]);
  });
  await eraseRows(engine, queueRows(hash), (row) => (jsonOf<OwnerEvent>(row).type === "owner.erased" ? [] : [row.key]));
  await leaveQueue(engine, hash);
  const dead = await deadOf(engine, owner);
  for (let from = 0; from < dead.length; from += DEAD_AT_ONCE) {
    const deletes = dead.slice(from, from + DEAD_AT_ONCE).flatMap(({ key, id }) => [key, deadIdKey(id)]);
    await committed(engine, FEED, { deletes });
  }
  return erased;
}

/** What is left of an owner in the feed, the queue and among what was given up, but for what tells of an erasure. */
export async function feedResidue(engine: StateEngine, owner: Owner): Promise<number> {
  const hash = ownerHash(owner);
  const { ranges } = await engine.read(FEED, { ranges: [prefixRange(ownerRows(hash)), prefixRange(queueRows(hash))] });
  const [own = [], queued = []] = ranges;
  const told = own.filter((row) => jsonOf<[string, string]>(row)[1] !== "owner.erased");
  const waiting = queued.filter((row) => jsonOf<OwnerEvent>(row).type !== "owner.erased");
  return told.length + waiting.length + (await deadOf(engine, owner)).length;
}

/** Returns how many rows went. Who drops some at the same time counts them as well. */
async function eraseRows(
  engine: StateEngine,
  prefix: string,
  keysThatGo: (row: StoredEntry) => readonly string[],
  { endsWhereNoneGoes = false } = {},
): Promise<number> {
  let erased = 0;
  for (let from = prefix; ; ) {
    const query = { ranges: [{ ...prefixRange(prefix), from, limit: PAGE }] };
    const page = await optimisticCommit(engine, FEED, query, (read) => {
      const [rows = []] = read.ranges;
      const gone = rows.map((row) => ({ row, keys: keysThatGo(row) })).filter(({ keys }) => keys.length > 0);
      const last = rows.length === PAGE ? rows.at(-1)?.key : undefined;
      const checks = gone.map(({ row: { key, version } }) => ({ key, version }));
      const commit = gone.length === 0 ? null : { checks, deletes: gone.flatMap(({ keys }) => keys) };
      return { commit, result: { count: gone.length, last } };
    });
    erased += page.count;
    if (page.last === undefined || (endsWhereNoneGoes && page.count === 0)) return erased;
    from = page.last;
  }
}

/** Takes the owner out of those that wait, where nothing of theirs does. */
function leaveQueue(engine: StateEngine, hash: string): Promise<void> {
  const query = { keys: [waitingKey(hash)], ranges: [{ ...prefixRange(queueRows(hash)), limit: 1 }] };
  return optimisticChange(engine, FEED, query, (read) => {
    const before = waitingOf(read, hash);
    const stays = before === null || read.ranges[0]?.length !== 0;
    return stays ? null : { checks: unchanged(read, waitingKey(hash)), ...waitingChanges(hash, before, null) };
  });
}

async function deadOf(engine: StateEngine, owner: Owner): Promise<readonly { readonly key: string; readonly id: string }[]> {
  const found: { key: string; id: string }[] = [];
  for await (const rows of rowPages(engine, FEED, deadRows(tenantHashOf(owner))))
    for (const row of rows) {
      const dead = jsonOf<DeadEvent>(row);
      if (dead.owner === owner && dead.event.type !== "owner.erased") found.push({ key: row.key, id: dead.event.id });
    }
  return found;
}

/**
 * Drops events that happened before a time: from the front, until there are none among some that follow one another. One that was added
 * late goes when those before it have gone. Returns how many went.
 */
export function pruneFeed(engine: StateEngine, before: Date): Promise<number> {
  const keysThatGo = (row: StoredEntry) => {
    const { owner, event } = jsonOf<KeptEvent>(row);
    if (Date.parse(event.timestamp) >= before.getTime()) return [];
    return keysOfEvent(event.id, [Number(placeOf(row.key)), ownerHash(owner), tenantHashOf(owner)]);
  };
  return eraseRows(engine, FEED_ROWS, keysThatGo, { endsWhereNoneGoes: true });
}
