import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { script } from "../../platform/lua-script.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { AppendMemoryOptions, ChangeRecord, MemoryLog, MemoryLogEntry, NewMemoryLogEntry } from "../../ports/memory-log.js";
import type { RestoresMemoryLogs } from "../../ports/transfer.js";
import { inBatches } from "../journal/in-batches.js";
import { type Kept, keptFor, keptJson, openedJson } from "../journal/kept-content.js";
import { memoryLogEntrySchema, redacted } from "../journal/memory-log-entries.js";
import { memoryEvents } from "../journal/memory-log-events.js";
import type { RedisDatabase } from "./database.js";
import { TELL } from "./event-outbox.js";
import { HINTS, Hints, type Need } from "./hints.js";
import { OwnerRegistry } from "./owner-registry.js";
import { NOTHING_TOLD, type WriteTeller } from "./redis-event-log.js";

/** Entries read at once. */
const PAGE = 200;
/** Another process may change the log while it is redacted: so often it is begun anew. */
const MAX_TRIES = 10;
const FOUND: readonly Need[] = [["owners", 0]];

const APPEND = script(
  ["own", "log", "logHead", "outbox"],
  `${HINTS}${TELL}
local given = cjson.decode(ARGV[1])
if given.epoch >= 0 and tonumber(call('HGET', K.own, 'epoch') or '0') ~= given.epoch then return { 'erased' } end
if tonumber(call('HGET', K.logHead, 'last') or '0') ~= given.seq - 1 then return { 'changed' } end
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
call('HSET', K.own, 'name', given.owner)
tell(given.told)
call('HSET', K.log, given.seq, ARGV[2])
call('HSET', K.logHead, 'last', given.seq)
return { 'written' }`,
);

/** Seqs and entries in turn, unless the log has moved on or was redacted since it was read. */
const REDACT = script(
  ["log", "logHead"],
  `local head = call('HMGET', K.logHead, 'last', 'redactions')
if (head[1] or '0') ~= ARGV[1] or (head[2] or '0') ~= ARGV[2] then return 0 end
for at = 3, #ARGV, 2 do call('HSET', K.log, ARGV[at], ARGV[at + 1]) end
if #ARGV > 2 then call('HINCRBY', K.logHead, 'redactions', 1) end
return 1`,
);

/** Entries as they were, behind those that are there: seqs and entries in turn. */
const RESTORE = script(
  ["own", "log", "logHead"],
  `${HINTS}
local given = cjson.decode(ARGV[1])
local asks = lacking(given.needs, given.offer ~= cjson.null and given.offer)
if asks then return asks end
call('HSET', K.own, 'name', given.owner)
for at = 2, #ARGV, 2 do call('HSET', K.log, ARGV[at], ARGV[at + 1]) end
call('HSET', K.logHead, 'last', ARGV[#ARGV - 1])
return { 'written' }`,
);

const ERASE = script(
  ["log", "logHead"],
  `local entries = call('HLEN', K.log)
call('UNLINK', K.log, K.logHead)
return entries`,
);

/** Memory logs as hashes of entries by seq. */
export class RedisMemoryLog implements MemoryLog, RestoresMemoryLogs {
  readonly #database: RedisDatabase;
  readonly #codec: ContentCodec | null;
  readonly #events: WriteTeller | null;
  readonly #hints: Hints;
  readonly #registry: OwnerRegistry;

  /** `events`: what is appended is told there. Default: nobody is told. */
  constructor(database: RedisDatabase, codec: ContentCodec | null = null, events: WriteTeller | null = null) {
    this.#events = events;
    this.#codec = codec;
    this.#database = database;
    this.#hints = new Hints(database);
    this.#registry = new OwnerRegistry(database, this.#hints);
  }

  async append(owner: Owner, entry: NewMemoryLogEntry, { expectedSeq, epoch, now }: AppendMemoryOptions): Promise<MemoryLogEntry> {
    const kept: MemoryLogEntry = { v: 1, seq: expectedSeq + 1, at: now.toISOString(), ...entry };
    const told = this.#events?.told(owner, memoryEvents(owner, kept)) ?? NOTHING_TOLD;
    const needs = [...FOUND, ...told.needs];
    const given = { owner, seq: kept.seq, epoch: epoch ?? -1, needs, told: told.rows };
    const keys = this.#database.keys(owner);
    const json = keptJson(kept, await keptFor(this.#codec, owner));
    const [outcome] = await this.#hints.having(owner, needs, (offer) =>
      this.#database.run(APPEND, keys, JSON.stringify({ ...given, offer }), json),
    );
    if (outcome === "written") {
      this.#events?.written(owner, told);
      return structuredClone(kept);
    }
    throw new AppError(outcome === "erased" ? "OWNER_ERASED" : "MEMORIES_CHANGED");
  }

  async *read(owner: Owner, options: { readonly fromSeq?: number; readonly signal?: AbortSignal } = {}): AsyncIterable<MemoryLogEntry> {
    const kept = await keptFor(this.#codec, owner);
    for await (const json of this.#lines(owner, options.fromSeq ?? 1, await this.lastSeq(owner), options.signal)) yield parsed(json, kept);
  }

  async lastSeq(owner: Owner): Promise<number> {
    return Number((await this.#head(owner))[0]);
  }

  async redact(owner: Owner, change: ChangeRecord): Promise<void> {
    const kept = await keptFor(this.#codec, owner);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const head = await this.#head(owner);
      const changed: string[] = [];
      for await (const json of this.#lines(owner, 1, Number(head[0]))) {
        const before = parsed(json, kept);
        const after = redacted(before, change);
        if (after !== before) changed.push(String(before.seq), keptJson(after, kept));
      }
      if ((await this.#database.run(REDACT, this.#database.keys(owner), ...head, ...changed)) === 1) return;
    }
    throw new AppError("MEMORIES_CHANGED");
  }

  async restore(owner: Owner, entries: () => AsyncIterable<MemoryLogEntry>): Promise<void> {
    const kept = await keptFor(this.#codec, owner);
    const keys = this.#database.keys(owner);
    await this.#database.run(ERASE, keys);
    for await (const batch of inBatches(entries())) {
      const lines = batch.flatMap((entry) => [entry.seq, keptJson(entry, kept)]);
      await this.#hints.having(owner, FOUND, (offer) =>
        this.#database.run(RESTORE, keys, JSON.stringify({ owner, needs: FOUND, offer }), ...lines),
      );
    }
  }

  async *owners(): AsyncIterable<Owner> {
    for await (const owner of this.#registry.owners()) if ((await this.residue(owner)) > 0) yield owner;
  }

  async erase(owner: Owner): Promise<number> {
    const entries = Number(await this.#database.run(ERASE, this.#database.keys(owner)));
    await this.#registry.leave(owner);
    return entries;
  }

  async residue(owner: Owner): Promise<number> {
    return Number(await this.#database.command("HLEN", this.#database.keys(owner).log));
  }

  /** Without effect: the database is the caller's. */
  async close(): Promise<void> {}

  /** The last seq, and how often the log was redacted. */
  async #head(owner: Owner): Promise<readonly [string, string]> {
    const reply = await this.#database.command("HMGET", this.#database.keys(owner).logHead, "last", "redactions");
    const [last, redactions] = reply as readonly (string | null)[];
    return [last ?? "0", redactions ?? "0"];
  }

  async *#lines(owner: Owner, fromSeq: number, lastSeq: number, signal?: AbortSignal): AsyncGenerator<string> {
    const { log } = this.#database.keys(owner);
    for (let next = fromSeq; next <= lastSeq; next += PAGE) {
      signal?.throwIfAborted();
      const seqs = Array.from({ length: Math.min(PAGE, lastSeq - next + 1) }, (_, index) => next + index);
      for (const json of (await this.#database.command("HMGET", log, ...seqs)) as readonly (string | null)[]) if (json !== null) yield json;
    }
  }
}

function parsed(json: string, kept: Kept): MemoryLogEntry {
  return memoryLogEntrySchema.parse(openedJson(json, kept));
}
