import { hash } from "node:crypto";
import { DEFAULT_TENANT, type Owner, ownerHash, ownerOf, parseOwner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import { AppError, isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { ConversationList, ConversationNotes, ConversationQuery, ListedConversation } from "../../ports/conversation-list.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { OWNER_KEY, ownerOfValue, systemPartition } from "../partition.js";

/** Writers of different owners hardly meet, and a page looks at all of them. */
const SHARDS = 16;
/** How long a conversation may be known to this process alone. */
const FLUSH_MS = 100;
/** Rows looked at for one page. */
const MOST_LOOKED_AT = 4_000;
const AT_ONCE = 90;
/** Conversations that wait for a store that is away. */
const MOST_DIRTY = 10_000;
const TIME_DIGITS = 15;
const CURSOR = /^\d{15}\/[0-9a-f]{64}\/[\w-]{1,64}$/u;

type Note = NonNullable<Parameters<ConversationList["touched"]>[2]>;

interface Row extends Omit<ConversationNotes, "last_active_at"> {
  /** Hash of the tenant: a filter needs no name. */
  readonly tenant: string;
}

export interface ConversationListParts {
  readonly engine: StateEngine;
  /** Null where the session is no more. */
  readonly session: (owner: Owner, sessionId: string) => Promise<Pick<Session, "updated_at" | "usage"> | null>;
  readonly turns: (owner: Owner, sessionId: string) => Promise<number>;
  readonly epoch: (owner: Owner) => Promise<number>;
  /** Runs what an erasure of the owner waits for, and then keeps out. @throws OWNER_ERASED */
  readonly during: <T>(owner: Owner, work: () => Promise<T>) => Promise<T>;
  readonly logger: Logger;
}

/**
 * A list over all owners, in partitions of its own: `t/{time}/{owner's hash}/{session}` in the order of time, and for each owner
 * `o/{hash}/{session}`, which holds the time, so that both change in one commit. No name and no word: who it is stands in their partition.
 */
export class EngineConversationList implements ConversationList {
  readonly #parts: ConversationListParts;
  readonly #dirty = new Map<string, { readonly owner: Owner; readonly sessionId: string; readonly notes: readonly Note[] }>();
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
      const dirty = [...this.#dirty.values()];
      this.#dirty.clear();
      await eachInParallel(dirty, async ({ owner, sessionId, notes }) => {
        try {
          await this.#parts.during(owner, () => this.#follow(owner, sessionId, notes));
        } catch (error) {
          this.#parts.logger.debug({ session_id: sessionId, err: error }, "the list of conversations could not follow");
          // Once more with the next; what an erasure keeps out stays out.
          if (!isAppError(error, "STORAGE_UNAVAILABLE") || this.#dirty.size >= MOST_DIRTY) return;
          const key = `${owner} ${sessionId}`;
          this.#dirty.set(key, { owner, sessionId, notes: [...notes, ...(this.#dirty.get(key)?.notes ?? [])] });
        }
      });
    });
    return this.#flushing;
  }

  async list(query: ConversationQuery): Promise<{ readonly data: readonly ListedConversation[]; readonly nextCursor: string | null }> {
    const { cursor } = query;
    if (cursor !== undefined && !CURSOR.test(cursor)) throw new AppError("INVALID_CURSOR");
    await this.settled();
    const keep = filterOf(query);
    const { rows, next } = query.user === undefined ? await this.#newest(query, keep) : await this.#ofUser(query, keep);
    const data: (ListedConversation | null)[] = rows.map(() => null);
    await eachInParallel([...rows.entries()], async ([place, { name, row }]) => {
      const owner = await this.#ownerOf(name.hash);
      // What went without a word stays out.
      if (owner !== null) data[place] = { owner, sessionId: name.sessionId, notes: notesOf(name, row) };
    });
    return { data: data.filter((each) => each !== null), nextCursor: next };
  }

  async notes(owner: Owner, sessionId: string): Promise<ConversationNotes | null> {
    const found = await this.#read(owner, sessionId);
    return found === null ? null : notesOf(found.name, found.row);
  }

  async erase(owner: Owner): Promise<number> {
    const partition = shardOf(ownerHash(owner));
    const rows = await this.#rowsOf(owner);
    for (let from = 0; from < rows.length; from += AT_ONCE / 2) {
      const some = rows.slice(from, from + AT_ONCE / 2);
      const deletes = some.flatMap(({ key, value }) => [key, timeKeyOf(key, value)]);
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
    const { ranges } = await this.#parts.engine.read(shardOf(ofOwner), { ranges: [prefixRange(`o/${ofOwner}/`)] });
    return ranges[0] ?? [];
  }

  /** Level with the session as it is now. An erasure that came in between takes out what was put behind it. */
  async #follow(owner: Owner, sessionId: string, notes: readonly Note[]): Promise<void> {
    const { engine, session, turns, epoch } = this.#parts;
    const before = await epoch(owner);
    const [state, count] = await Promise.all([session(owner, sessionId), turns(owner, sessionId).catch(() => 0)]);
    const ofOwner = ownerHash(owner);
    const key = `o/${ofOwner}/${sessionId}`;
    await optimisticCommit(engine, shardOf(ofOwner), { keys: [key] }, async (read) => {
      const entry = read.entries.get(key);
      const old = entry === undefined ? null : timeKeyOf(key, entry.value);
      const checks = unchanged(read, key);
      if (state === null) return { commit: old === null ? null : { checks, deletes: [key, old] }, result: undefined };
      const kept = old === null ? undefined : (await engine.read(shardOf(ofOwner), { keys: [old] })).entries.get(old);
      const row = kept === undefined ? null : (JSON.parse(kept.value) as Row);
      const time = String(Math.max(0, Date.parse(state.updated_at))).padStart(TIME_DIGITS, "0");
      const now = `t/${time}/${ofOwner}/${sessionId}`;
      const puts = [
        { key, value: JSON.stringify(time) },
        { key: now, value: JSON.stringify(rowOf(owner, state, count, row, notes)) },
      ];
      return { commit: { checks, puts, deletes: old === null || old === now ? [] : [old] }, result: undefined };
    });
    if ((await epoch(owner)) !== before) await this.erase(owner);
  }

  async #read(owner: Owner, sessionId: string) {
    const ofOwner = ownerHash(owner);
    const { engine } = this.#parts;
    const key = `o/${ofOwner}/${sessionId}`;
    const entry = (await engine.read(shardOf(ofOwner), { keys: [key] })).entries.get(key);
    if (entry === undefined) return null;
    const timeKey = timeKeyOf(key, entry.value);
    const found = (await engine.read(shardOf(ofOwner), { keys: [timeKey] })).entries.get(timeKey);
    return found === undefined ? null : { name: nameOf(timeKey), row: JSON.parse(found.value) as Row };
  }

  async #ownerOf(ofOwner: string): Promise<Owner | null> {
    const entry = (await this.#parts.engine.read(`o:${ofOwner}`, { keys: [OWNER_KEY] })).entries.get(OWNER_KEY);
    return entry === undefined ? null : ownerOfValue(entry.value);
  }

  /** All of one user's: few enough to be read together. */
  async #ofUser(query: ConversationQuery, keep: Keep): Promise<FoundRows> {
    const { tenant = DEFAULT_TENANT, user = "", limit, cursor } = query;
    const owner = ownerOf(tenant, user);
    const partition = shardOf(ownerHash(owner));
    const keys = (await this.#rowsOf(owner)).map(({ key, value }) => timeKeyOf(key, value)).toSorted((a, b) => (a < b ? 1 : -1));
    const behind = cursor === undefined ? keys : keys.filter((key) => key < `t/${cursor}`);
    const rows: Found[] = [];
    for (let from = 0; from < behind.length; from += AT_ONCE) {
      const some = behind.slice(from, from + AT_ONCE);
      const { entries } = await this.#parts.engine.read(partition, { keys: some });
      for (const key of some) {
        const entry = entries.get(key);
        const found = entry === undefined ? null : { name: nameOf(key), row: JSON.parse(entry.value) as Row };
        if (found === null || !keep(found)) continue;
        if (rows.length === limit) return { rows, next: cursorOf(rows) };
        rows.push(found);
      }
    }
    return { rows, next: null };
  }

  /** Of all shards, in the order of time. */
  async #newest(query: ConversationQuery, keep: Keep): Promise<FoundRows> {
    const { limit, cursor, from, to } = query;
    const rows: Found[] = [];
    const bounds = [cursor === undefined ? "t0" : `t/${cursor}`, to === undefined ? "t0" : `t/${timeOf(to)}`];
    let before = bounds.toSorted()[0] ?? "t0";
    const first = from === undefined ? "t/" : `t/${timeOf(from)}`;
    for (let looked = 0; looked < MOST_LOOKED_AT; ) {
      const range = { from: first, to: before, limit: limit + 1, reverse: true };
      const shards = await Promise.all(
        Array.from(
          { length: SHARDS },
          async (_, shard) => (await this.#parts.engine.read(partitionOf(shard), { ranges: [range] })).ranges[0] ?? [],
        ),
      );
      // Behind the last row of a shard that has more, others may come first.
      const ends = shards.flatMap((page) => (page.length > limit ? [page.at(-1)?.key ?? ""] : []));
      const end = ends.toSorted().at(-1) ?? "";
      const page = shards
        .flat()
        .filter(({ key }) => key >= end)
        .toSorted((a, b) => (a.key < b.key ? 1 : -1));
      looked += page.length;
      for (const { key, value } of page) {
        const found = { name: nameOf(key), row: JSON.parse(value) as Row };
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

function rowOf(owner: Owner, { usage }: Pick<Session, "usage">, turns: number, before: Row | null, notes: readonly Note[]): Row {
  return {
    tenant: hash("sha256", parseOwner(owner).tenant),
    turns,
    cost: usage.cost ?? null,
    tokens: usage.total.input + usage.total.output,
    memory_status: notes.at(-1)?.memoryStatus ?? before?.memory_status ?? null,
    failed: (before?.failed ?? 0) + notes.filter(({ failed }) => failed).length,
  };
}

function notesOf({ time }: Found["name"], { tenant: _, ...row }: Row): ConversationNotes {
  return { last_active_at: new Date(Number(time)).toISOString(), ...row };
}

function timeOf(at: string): string {
  return String(Math.max(0, Date.parse(at))).padStart(TIME_DIGITS, "0");
}

function timeKeyOf(ownerKey: string, value: string): string {
  const [, ofOwner = "", sessionId = ""] = ownerKey.split("/");
  return `t/${JSON.parse(value) as string}/${ofOwner}/${sessionId}`;
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
