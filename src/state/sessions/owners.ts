import type { Owner } from "../../domain/owner.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { OWNER_KEY, ownerPartition } from "../partition.js";
import { jsonOf, partitionPages, rowsIn, wholePage } from "../stored-rows.js";
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
  for (let from: string | null = all.from; from !== null; ) {
    const entries: readonly StoredEntry[] = await rowsIn(engine, ownerPartition(owner), { from, to: all.to, limit: SESSIONS_PAGE });
    const { rows, next } = wholePage(entries, SESSIONS_PAGE);
    if (rows.length > 0) yield rows.flatMap(({ key }) => ownedHead(owner, key, entries));
    from = next;
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
