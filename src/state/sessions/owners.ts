import type { Owner } from "../../domain/owner.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { OWNER_KEY, ownerPartition } from "../partition.js";
import { jsonOf, partitionPages, rowsIn } from "../stored-rows.js";
import { wholeValues } from "../value-parts.js";
import { SESSIONS, sessionRange } from "./keys.js";
import { headOf, type StoredHead } from "./session-row.js";

/** Partitions, and sessions of one, read at once. */
const PARTITIONS = 200;
const SESSIONS_PAGE = 50;

/** All who have anything, in the engine's order. */
export async function* ownersOf(engine: StateEngine): AsyncGenerator<Owner> {
  for await (const page of ownerPages(engine)) yield* page.map(({ owner }) => owner);
}

export async function* ownerPages(engine: StateEngine): AsyncGenerator<readonly { readonly partition: string; readonly owner: Owner }[]> {
  for await (const page of partitionPages(engine, OWNER_KEY, PARTITIONS))
    yield page.map((entry) => ({ partition: entry.partition, owner: jsonOf<Owner>(entry) }));
}

export interface OwnedHead {
  readonly sessionId: string;
  readonly head: StoredHead;
}

/** The sessions' rows of an owner, in the order of their ids, page by page. */
export async function* headsOf(engine: StateEngine, owner: Owner): AsyncGenerator<readonly OwnedHead[]> {
  const all = prefixRange(SESSIONS);
  for (let from = all.from; ; ) {
    const entries = await rowsIn(engine, ownerPartition(owner), { from, to: all.to, limit: SESSIONS_PAGE });
    const isLast = entries.length < SESSIONS_PAGE;
    const rows = wholeValues(entries);
    // The last row of a full page may go on behind it.
    const whole = isLast ? rows : rows.slice(0, -1);
    if (whole.length > 0) yield whole.flatMap(({ key }) => ownedHead(owner, key, entries));
    if (isLast) return;
    from = rows.at(-1)?.key ?? all.to;
  }
}

function ownedHead(owner: Owner, key: string, entries: readonly StoredEntry[]): readonly OwnedHead[] {
  const { from, to } = sessionRange(key.slice(SESSIONS.length));
  const head = headOf(
    owner,
    entries.filter((entry) => entry.key >= from && entry.key < to),
  );
  return head === null ? [] : [{ sessionId: key.slice(SESSIONS.length), head }];
}
