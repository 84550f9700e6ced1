// Over 300 lines: one list, how it follows what is written, and how it is read.

import { hash } from "node:crypto";
import { DEFAULT_TENANT, type Owner, ownerHash, ownerOf, parseOwner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import { AppError, isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type {
  ConversationList,
  ConversationNotes,
  ConversationQuery,
  ListedConversation,
  ConversationNote as Note,
} from "../../ports/conversation-list.js";
import { committed } from "../durable-commit.js";
import { OPERATIONS_AT_ONCE, prefixRange, type StateEngine } from "../engine.js";
import { optimisticChange, unchanged } from "../optimistic-commit.js";
import { OWNER_KEY, ownerPartition, systemPartition } from "../partition.js";
import { sessionKey } from "../sessions/keys.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";

/** Writers of different owners hardly meet, and a page looks at all of them. */
const SHARDS = 16;
/** How long a conversation may be known to this process alone. */
const FLUSH_MS = 5_000;
/** Of one shard, in one commit: each is up to three operations. */
const IN_ONE_COMMIT = Math.floor(OPERATIONS_AT_ONCE / 3);
/** Rows looked at for one page. */
const MOST_LOOKED_AT = 4_000;
/** Rows of a shard that are read at first, for each row of a page: as many as it is likely to hold, twice over. */
const READ_AHEAD = 2 / SHARDS;
/** As many as a pool has connections: each look at a row's owner is a round trip. */
const LOOKED_AT_ONCE = 20;
/** Conversations that wait for a store that is away. */
const MOST_DIRTY = 10_000;
const TIME_DIGITS = 15;
const CURSOR = /^\d{15}\/[0-9a-f]{64}\/[\w-]{1,64}$/u;

interface Touched {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly notes: readonly Note[];
}

interface Row extends Omit<ConversationNotes, "last_active_at"> {
  /** As its key has it. */
  readonly time: string;
  /** Hash of the tenant: a filter needs no name. */
  readonly tenant: string;
}

export interface ConversationListParts {
  readonly engine: StateEngine;
  /** Null where the session is no more. */
  readonly session: (owner: Owner, sessionId: string) => Promise<Pick<Session, "updated_at" | "usage"> | null>;
  /** An erasure waits for it, and then keeps it out. @throws OWNER_ERASED */
  readonly begin: (owner: Owner) => { end(): void };
  readonly logger: Logger;
}

/**
 * A list over all owners, in partitions of its own: `t/{time}/{owner's hash}/{session}` in the order of time, and for each owner
 * `o/{hash}/{session}`, which holds the same, so that both change in one commit. No name and no word: who it is stands in their partition.
 */
export class EngineConversationList implements ConversationList {
  readonly #parts: ConversationListParts;
  readonly #dirty = new Map<string, Touched>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();

  constructor(parts: ConversationListParts) {
    this.#parts = parts;
  }

  touched(owner: Owner, sessionId: string, note?: Note): void {
    const key = `${owner} ${sessionId}`;
    const notes = [...(this.#dirty.get(key)?.notes ?? []), ...(note === undefined ? [] : [note])];
    this.#dirty.set(key, { owner, sessionId, notes });
    this.#timer ??= setTimeout(() => void this.settled(), FLUSH_MS).unref();
  }

  settled(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.then(async () => {
      const shards = byShard([...this.#dirty.values()]);
      this.#dirty.clear();
      await eachInParallel([...shards], ([shard, touched]) => this.#followed(shard, touched), SHARDS);
    });
    return this.#flushing;
  }

  async list(query: ConversationQuery): Promise<{ readonly data: readonly ListedConversation[]; readonly nextCursor: string | null }> {
    const { cursor } = query;
    if (cursor !== undefined && !CURSOR.test(cursor)) throw new AppError("INVALID_CURSOR");
    await this.settled();
    const keep = filterOf(query);
    const { rows, next } = query.user === undefined ? await this.#newest(query, keep) : await this.#ofUser(query, keep);
    const owners = new Map<string, Owner | null>();
    const hashes = new Set(rows.map(({ name }) => name.hash));
    const look = async (each: string) => void owners.set(each, jsonOf<Owner>(await rowAt(this.#parts.engine, `o:${each}`, OWNER_KEY)));
    await eachInParallel([...hashes], look, LOOKED_AT_ONCE);
    const data = rows.flatMap(({ name, row }) => {
      const owner = owners.get(name.hash) ?? null;
      // What went without a word stays out.
      return owner === null ? [] : [{ owner, sessionId: name.sessionId, notes: notesOf(row) }];
    });
    return { data, nextCursor: next };
  }

  async notes(owner: Owner, sessionId: string): Promise<ConversationNotes | null> {
    const row = jsonOf<Row>(await rowAt(this.#parts.engine, shardOf(ownerHash(owner)), ownerKeyOf({ owner, sessionId })));
    return row === null ? null : notesOf(row);
  }

  async erase(owner: Owner): Promise<number> {
    const partition = shardOf(ownerHash(owner));
    const rows = await this.#rowsOf(owner);
    for (let from = 0; from < rows.length; from += OPERATIONS_AT_ONCE / 2) {
      const some = rows.slice(from, from + OPERATIONS_AT_ONCE / 2);
      const deletes = some.flatMap((row) => [row.key, timeKeyOf(row.key, jsonOf<Row>(row))]);
      await committed(this.#parts.engine, partition, { deletes });
    }
    return rows.length;
  }

  async residue(owner: Owner): Promise<number> {
    return (await this.#rowsOf(owner)).length;
  }

  async close(): Promise<void> {
    await this.settled();
  }

  async #rowsOf(owner: Owner) {
    const ofOwner = ownerHash(owner);
    return rowsIn(this.#parts.engine, shardOf(ofOwner), prefixRange(`o/${ofOwner}/`));
  }

  async #followed(shard: string, all: readonly Touched[]): Promise<void> {
    for (let from = 0; from < all.length; from += IN_ONE_COMMIT) {
      const begun = all.slice(from, from + IN_ONE_COMMIT).flatMap((each) => this.#begun(each));
      let left: readonly Touched[] = begun.map(({ touched }) => touched);
      try {
        while (left.length > 0) {
          left = await this.#level(shard, left);
          left = await this.#ended(left);
        }
      } catch (error) {
        this.#parts.logger.debug({ err: error }, "the list of conversations could not follow");
        if (isAppError(error, "STORAGE_UNAVAILABLE")) this.#again(left);
        // One of them may be at fault.
        else if (left.length > 1) for (const each of left) await this.#followed(shard, [each]);
      } finally {
        for (const { end } of begun) end();
      }
    }
  }

  /** What an erasure keeps out stays out. */
  #begun(touched: Touched): readonly { readonly touched: Touched; readonly end: () => void }[] {
    try {
      const running = this.#parts.begin(touched.owner);
      return [{ touched, end: () => running.end() }];
    } catch (error) {
      this.#parts.logger.debug({ session_id: touched.sessionId, err: error }, "the list of conversations may not follow");
      return [];
    }
  }

  /** Once more with the next. */
  #again(touched: readonly Touched[]): void {
    for (const { owner, sessionId, notes } of touched) {
      if (this.#dirty.size >= MOST_DIRTY) return;
      const key = `${owner} ${sessionId}`;
      this.#dirty.set(key, { owner, sessionId, notes: [...notes, ...(this.#dirty.get(key)?.notes ?? [])] });
    }
  }

  /** Level with the sessions as they are now. Those that are listed, without the notes: these are counted once. */
  async #level(shard: string, touched: readonly Touched[]): Promise<readonly Touched[]> {
    const { engine, session } = this.#parts;
    const now = await Promise.all(
      touched.map(async (each) => ({ ...each, key: ownerKeyOf(each), state: await session(each.owner, each.sessionId) })),
    );
    const keys = now.map(({ key }) => key);
    await optimisticChange(engine, shard, { keys }, (read) => {
      const changes = now.map(({ owner, notes, key, state }) => changeOf(owner, notes, key, state, jsonOf<Row>(read.entries.get(key))));
      const [puts, deletes] = [changes.flatMap((each) => each.puts), changes.flatMap((each) => each.deletes)];
      return puts.length + deletes.length > 0 ? { checks: unchanged(read, ...keys), puts, deletes } : null;
    });
    return now.filter(({ state }) => state !== null).map(({ owner, sessionId }) => ({ owner, sessionId, notes: [] }));
  }

  /** What was put behind the end of its session, or an erasure: it is to be taken out again. */
  async #ended(listed: readonly Touched[]): Promise<readonly Touched[]> {
    const rows = await Promise.all(
      listed.map(({ owner, sessionId }) => rowAt(this.#parts.engine, ownerPartition(owner), sessionKey(sessionId))),
    );
    return listed.filter((_, place) => rows[place] === undefined);
  }

  /** All of one user's: few enough to be read together. */
  async #ofUser(query: ConversationQuery, keep: Keep): Promise<FoundRows> {
    const { tenant = DEFAULT_TENANT, user = "", limit, cursor } = query;
    const owner = ownerOf(tenant, user);
    const all = (await this.#rowsOf(owner)).map((entry): Found & { readonly key: string } => {
      const row = jsonOf<Row>(entry);
      const timeKey = timeKeyOf(entry.key, row);
      return { key: timeKey, name: nameOf(timeKey), row };
    });
    const behind = all.filter((found) => (cursor === undefined || found.key < `t/${cursor}`) && keep(found));
    const rows = behind.toSorted((a, b) => (a.key < b.key ? 1 : -1)).slice(0, limit);
    return { rows, next: behind.length > limit ? cursorOf(rows) : null };
  }

  /** Of all shards, in the order of time. */
  async #newest(query: ConversationQuery, keep: Keep): Promise<FoundRows> {
    const { limit, cursor, from, to } = query;
    const rows: Found[] = [];
    const bounds = [cursor === undefined ? "t0" : `t/${cursor}`, to === undefined ? "t0" : `t/${timeOf(to)}`];
    let before = bounds.toSorted()[0] ?? "t0";
    const first = from === undefined ? "t/" : `t/${timeOf(from)}`;
    // Where hardly any fits, each round reads more.
    for (
      let looked = 0, most = Math.ceil(limit * READ_AHEAD) + 1;
      looked < MOST_LOOKED_AT;
      most = Math.min(2 * most, MOST_LOOKED_AT / SHARDS)
    ) {
      const range = { from: first, to: before, limit: most, reverse: true };
      const shards = await Promise.all(Array.from({ length: SHARDS }, (_, shard) => rowsIn(this.#parts.engine, partitionOf(shard), range)));
      // Behind the last row of a shard that has more, others may come first.
      const ends = shards.flatMap((page) => (page.length === most ? [page.at(-1)?.key ?? ""] : []));
      const end = ends.toSorted().at(-1) ?? "";
      const page = shards
        .flat()
        .filter(({ key }) => key >= end)
        .toSorted((a, b) => (a.key < b.key ? 1 : -1));
      looked += page.length;
      for (const entry of page) {
        const found = { name: nameOf(entry.key), row: jsonOf<Row>(entry) };
        if (!keep(found)) continue;
        if (rows.length === limit) return { rows, next: cursorOf(rows) };
        rows.push(found);
      }
      const last = page.at(-1)?.key;
      if (ends.length === 0 || last === undefined) return { rows, next: null };
      before = last;
    }
    return { rows, next: before.slice("t/".length) };
  }
}

interface Found {
  readonly name: { readonly time: string; readonly hash: string; readonly sessionId: string };
  readonly row: Row;
}
interface FoundRows {
  readonly rows: readonly Found[];
  readonly next: string | null;
}
type Keep = (found: Found) => boolean;

function filterOf({ tenant, from, to, memoryStatus, failed, minCost }: ConversationQuery): Keep {
  const tenantHash = tenant === undefined ? null : hash("sha256", tenant);
  return ({ name, row }) =>
    (tenantHash === null || row.tenant === tenantHash) &&
    (from === undefined || name.time >= timeOf(from)) &&
    (to === undefined || name.time < timeOf(to)) &&
    (memoryStatus === undefined || row.memory_status === memoryStatus) &&
    (failed === undefined || row.failed > 0 === failed) &&
    (minCost === undefined || (row.cost !== null && row.cost >= minCost));
}

function rowOf(
  owner: Owner,
  { usage, updated_at }: Pick<Session, "usage" | "updated_at">,
  before: Row | null,
  notes: readonly Note[],
): Row {
  const ended = notes.flatMap((note) => note.ended ?? []);
  return {
    time: timeOf(updated_at),
    tenant: hash("sha256", parseOwner(owner).tenant),
    turns: Math.max(before?.turns ?? 0, ...notes.map(({ turn }) => turn)),
    cost: usage.cost ?? null,
    tokens: usage.total.input + usage.total.output,
    memory_status: ended.at(-1)?.memoryStatus ?? before?.memory_status ?? null,
    failed: (before?.failed ?? 0) + ended.filter(({ failed }) => failed).length,
  };
}

function notesOf({ tenant: _, time, ...row }: Row): ConversationNotes {
  return { last_active_at: new Date(Number(time)).toISOString(), ...row };
}

/** What becomes of a conversation's rows; `before`: the one that is there. */
function changeOf(
  owner: Owner,
  notes: readonly Note[],
  key: string,
  state: Pick<Session, "usage" | "updated_at"> | null,
  before: Row | null,
): { readonly puts: readonly { readonly key: string; readonly value: string }[]; readonly deletes: readonly string[] } {
  const old = before === null ? [] : [timeKeyOf(key, before)];
  if (state === null) return { puts: [], deletes: before === null ? [] : [key, ...old] };
  const row = rowOf(owner, state, before, notes);
  const value = JSON.stringify(row);
  const now = timeKeyOf(key, row);
  return { puts: [key, now].map((each) => ({ key: each, value })), deletes: old.filter((each) => each !== now) };
}

function byShard(touched: readonly Touched[]): ReadonlyMap<string, readonly Touched[]> {
  const shards = new Map<string, Touched[]>();
  for (const each of touched) {
    const shard = shardOf(ownerHash(each.owner));
    shards.set(shard, [...(shards.get(shard) ?? []), each]);
  }
  return shards;
}

function ownerKeyOf({ owner, sessionId }: Pick<Touched, "owner" | "sessionId">): string {
  return `o/${ownerHash(owner)}/${sessionId}`;
}

function timeOf(at: string): string {
  return String(Math.max(0, Date.parse(at))).padStart(TIME_DIGITS, "0");
}

function timeKeyOf(ownerKey: string, { time }: Row): string {
  const [, ofOwner = "", sessionId = ""] = ownerKey.split("/");
  return `t/${time}/${ofOwner}/${sessionId}`;
}

function nameOf(timeKey: string): Found["name"] {
  const [, time = "", ofOwner = "", sessionId = ""] = timeKey.split("/");
  return { time, hash: ofOwner, sessionId };
}

function cursorOf(rows: readonly Found[]): string {
  const { time = "", hash: ofOwner = "", sessionId = "" } = rows.at(-1)?.name ?? {};
  return `${time}/${ofOwner}/${sessionId}`;
}

function shardOf(ofOwner: string): string {
  return partitionOf(Number.parseInt(ofOwner.slice(0, 1), SHARDS));
}

function partitionOf(shard: number): string {
  return systemPartition("conversations", String(shard));
}
