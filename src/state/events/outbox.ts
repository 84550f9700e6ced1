import type { OwnerEvent } from "../../domain/event.js";
import type { Owner } from "../../domain/owner.js";
import { newId } from "../../platform/ids.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { jsonOf, rowsIn } from "../stored-rows.js";
import { OUTBOX, OUTBOX_ERASED, OUTBOX_ROWS } from "./event-keys.js";

/** Events in one row: some 200 KB. */
const ROW_EVENTS = 500;
/** Rows looked at in one step, and deleted in one commit. */
const ROWS = 90;

/**
 * Puts for the commit of what the events tell of, in the owner's partition: two, unless there are hundreds of events. Call `publish` of the
 * event log behind the commit. None where there are no events.
 */
export function eventPuts(owner: Owner, events: readonly OwnerEvent[]): readonly { readonly key: string; readonly value: string }[] {
  if (events.length === 0) return [];
  const puts = [{ key: OUTBOX, value: JSON.stringify(owner) }];
  for (let from = 0; from < events.length; from += ROW_EVENTS)
    puts.push({ key: `${OUTBOX_ROWS}${newId()}`, value: JSON.stringify(events.slice(from, from + ROW_EVENTS)) });
  return puts;
}

/** Who publishes what a commit has put in an owner's outbox. */
export interface PublishesEvents {
  publish(owner: Owner): void;
}

/** What comes of a commit that brings events, which are published: also where the outcome is not known, as it may have happened. */
export async function publishing<R extends { readonly ok: boolean }>(publish: () => void, written: Promise<R>): Promise<R> {
  try {
    const result = await written;
    if (result.ok) publish();
    return result;
  } catch (error) {
    publish();
    throw error;
  }
}

export interface Outbox {
  readonly owner: Owner;
  /** In the order of the commits that wrote them. */
  readonly events: readonly OwnerEvent[];
  /** How often an erasure had emptied it. */
  readonly erasures: number;
  readonly rows: readonly StoredEntry[];
  /** Version of the key `outbox`. */
  readonly version: number;
  readonly more: boolean;
}

/** Null where there is nothing to publish. */
export async function readOutbox(engine: StateEngine, partition: string): Promise<Outbox | null> {
  const read = await engine.read(partition, {
    keys: [OUTBOX, OUTBOX_ERASED],
    ranges: [{ ...prefixRange(OUTBOX_ROWS), limit: ROWS }],
  });
  const marker = read.entries.get(OUTBOX);
  if (marker === undefined) return null;
  const [found = []] = read.ranges;
  // Keys are by the writers' clocks, versions by the commits.
  const rows = found.toSorted((a, b) => a.version - b.version || (a.key < b.key ? -1 : 1));
  return {
    owner: jsonOf<Owner>(marker),
    events: rows.flatMap(eventsOfRow),
    erasures: Number(read.entries.get(OUTBOX_ERASED)?.value ?? 0),
    rows,
    version: marker.version,
    more: found.length === ROWS,
  };
}

/** Takes out what was published; published again it is known by its id. False where there is more by now. */
export async function clearOutbox(engine: StateEngine, partition: string, { rows, version, more }: Outbox): Promise<boolean> {
  const deletes = rows.map(({ key }) => key);
  if (!more) {
    const all = { checks: [{ key: OUTBOX, version }], deletes: [...deletes, OUTBOX], durability: "relaxed" } as const;
    if ((await committed(engine, partition, all)).ok) return true;
  }
  if (deletes.length > 0) await committed(engine, partition, { deletes, durability: "relaxed" });
  return false;
}

/**
 * Takes out all but what tells of an erasure, and counts that this was done.
 * `erased`: how many events went; `erasures`: the count, which is kept.
 */
export async function eraseOutbox(engine: StateEngine, partition: string): Promise<{ readonly erased: number; readonly erasures: number }> {
  let erased = 0;
  for (let from = OUTBOX_ROWS; ; ) {
    const query = { keys: [OUTBOX, OUTBOX_ERASED], ranges: [{ ...prefixRange(OUTBOX_ROWS), from, limit: ROWS }] };
    const page = await optimisticCommit(engine, partition, query, (read) => {
      const [rows = []] = read.ranges;
      const erasures = Number(read.entries.get(OUTBOX_ERASED)?.value ?? 0) + 1;
      const puts = [{ key: OUTBOX_ERASED, value: String(erasures) }];
      const deletes: string[] = [];
      let gone = 0;
      for (const row of rows) {
        const events = eventsOfRow(row);
        const stays = events.filter(({ type }) => type === "owner.erased");
        gone += events.length - stays.length;
        if (stays.length === 0) deletes.push(row.key);
        else if (stays.length < events.length) puts.push({ key: row.key, value: JSON.stringify(stays) });
      }
      const last = rows.length === ROWS ? rows.at(-1)?.key : undefined;
      return { commit: { checks: unchanged(read, OUTBOX, OUTBOX_ERASED), puts, deletes }, result: { gone, erasures, last } };
    });
    erased += page.gone;
    if (page.last === undefined) break;
    from = page.last;
  }
  return dropMarker(engine, partition, erased);
}

/** Of an outbox: how many of its events tell of something else than an erasure. */
export async function outboxResidue(engine: StateEngine, partition: string): Promise<number> {
  const rows = await rowsIn(engine, partition, prefixRange(OUTBOX_ROWS));
  return rows.flatMap(eventsOfRow).filter(({ type }) => type !== "owner.erased").length;
}

function dropMarker(engine: StateEngine, partition: string, erased: number) {
  const query = { keys: [OUTBOX, OUTBOX_ERASED], ranges: [{ ...prefixRange(OUTBOX_ROWS), limit: 1 }] };
  return optimisticCommit(engine, partition, query, (read) => {
    const empty = read.entries.has(OUTBOX) && read.ranges[0]?.length === 0;
    const result = { erased, erasures: Number(read.entries.get(OUTBOX_ERASED)?.value ?? 0) };
    return { commit: empty ? { checks: unchanged(read, OUTBOX), deletes: [OUTBOX] } : null, result };
  });
}

function eventsOfRow(row: StoredEntry): readonly OwnerEvent[] {
  return jsonOf<readonly OwnerEvent[]>(row);
}
