import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { AppendMemoryOptions, ChangeRecord, MemoryLog, MemoryLogEntry, NewMemoryLogEntry } from "../../ports/memory-log.js";
import type { RestoresMemoryLogs } from "../../ports/transfer.js";
import { inBatches } from "../journal/in-batches.js";
import { type Kept, keptFor, keptJson, openedJson } from "../journal/kept-content.js";
import { memoryLogEntrySchema, redacted } from "../journal/memory-log-entries.js";
import { memoryEvents } from "../journal/memory-log-events.js";
import type { PostgresDatabase } from "./database.js";
import type { OwnerRows } from "./owner-rows.js";
import type { PostgresEventLog } from "./postgres-event-log.js";
import { Statement } from "./statement.js";

/** Entries read at once. */
const PAGE = 500;

/** Memory logs as rows. */
export class PostgresMemoryLog implements MemoryLog, RestoresMemoryLogs {
  readonly #database: PostgresDatabase;
  readonly #owners: OwnerRows;
  readonly #codec: ContentCodec | null;
  readonly #events: PostgresEventLog | null;

  /** `events`: what is appended is told there. Default: nobody is told. */
  constructor(database: PostgresDatabase, owners: OwnerRows, codec: ContentCodec | null = null, events: PostgresEventLog | null = null) {
    this.#events = events;
    this.#codec = codec;
    this.#database = database;
    this.#owners = owners;
  }

  async append(owner: Owner, entry: NewMemoryLogEntry, { expectedSeq, epoch, now }: AppendMemoryOptions): Promise<MemoryLogEntry> {
    const key = await this.#owners.ensure(owner);
    const kept: MemoryLogEntry = { v: 1, seq: expectedSeq + 1, at: now.toISOString(), ...entry };
    const statement = new Statement();
    const p = (value: unknown, cast: string) => statement.parameter(value, cast);
    const [of, seq] = [p(owner, "text"), p(kept.seq, "int")];
    statement.part("head", `SELECT epoch FROM {owners} WHERE key = ${p(key, "text")} FOR SHARE`);
    statement.part(
      "added",
      `INSERT INTO {memory_log} (owner, seq, entry)
       SELECT ${of}, ${seq}, ${p(keptJson(kept, await keptFor(this.#codec, owner)), "text")} FROM head
       WHERE head.epoch = COALESCE(${p(epoch ?? null, "int")}, head.epoch)
         AND COALESCE((SELECT max(seq) FROM {memory_log} WHERE owner = ${of}), 0) = ${seq} - 1
       ON CONFLICT DO NOTHING RETURNING 1`,
    );
    const events = this.#events === null ? [] : memoryEvents(owner, kept);
    this.#events?.tell(statement, "added", owner, events);
    statement.check("head.epoch");
    statement.check("(SELECT count(*) FROM added) AS added");
    const [row] = await this.#database.query(statement.toString(), statement.values);
    if (Number(row?.added ?? 0) === 1) {
      this.#events?.added(owner, events);
      return structuredClone(kept);
    }
    throw new AppError(epoch !== undefined && Number(row?.epoch) !== epoch ? "OWNER_ERASED" : "MEMORIES_CHANGED");
  }

  async *read(owner: Owner, options: { readonly fromSeq?: number; readonly signal?: AbortSignal } = {}): AsyncIterable<MemoryLogEntry> {
    const kept = await keptFor(this.#codec, owner);
    for (let next = options.fromSeq ?? 1; ; ) {
      options.signal?.throwIfAborted();
      const rows = await this.#database.query(
        `SELECT seq, entry FROM {memory_log} WHERE owner = $1 AND seq >= $2 ORDER BY seq LIMIT ${PAGE}`,
        [owner, next],
      );
      for (const { entry } of rows) yield parsed(entry, kept);
      if (rows.length < PAGE) return;
      next = Number(rows.at(-1)?.seq) + 1;
    }
  }

  async lastSeq(owner: Owner): Promise<number> {
    const [row] = await this.#database.query("SELECT COALESCE(max(seq), 0) AS seq FROM {memory_log} WHERE owner = $1", [owner]);
    return Number(row?.seq ?? 0);
  }

  async redact(owner: Owner, change: ChangeRecord): Promise<void> {
    const key = await this.#owners.ensure(owner);
    const kept = await keptFor(this.#codec, owner);
    await this.#database.transaction(async ({ query, run }) => {
      await query("SELECT 1 FROM {owners} WHERE key = $1 FOR UPDATE", [key]);
      const rows = await query("SELECT entry FROM {memory_log} WHERE owner = $1 ORDER BY seq", [owner]);
      for (const row of rows) {
        const before = parsed(row.entry, kept);
        const after = redacted(before, change);
        if (after === before) continue;
        await run("UPDATE {memory_log} SET entry = $3 WHERE owner = $1 AND seq = $2", [owner, before.seq, keptJson(after, kept)]);
      }
    });
  }

  async restore(owner: Owner, entries: () => AsyncIterable<MemoryLogEntry>): Promise<void> {
    const kept = await keptFor(this.#codec, owner);
    await this.#owners.ensure(owner);
    await this.erase(owner);
    for await (const batch of inBatches(entries()))
      await this.#database.run("INSERT INTO {memory_log} (owner, seq, entry) SELECT $1, e.* FROM unnest($2::int[], $3::text[]) e", [
        owner,
        batch.map(({ seq }) => seq),
        batch.map((entry) => keptJson(entry, kept)),
      ]);
  }

  async *owners(): AsyncIterable<Owner> {
    for (let after = ""; ; ) {
      const rows = await this.#database.query(`SELECT DISTINCT owner FROM {memory_log} WHERE owner > $1 ORDER BY 1 LIMIT ${PAGE}`, [after]);
      for (const { owner } of rows) yield String(owner) as Owner;
      if (rows.length < PAGE) return;
      after = String(rows.at(-1)?.owner);
    }
  }

  async erase(owner: Owner): Promise<number> {
    return this.#database.run("DELETE FROM {memory_log} WHERE owner = $1", [owner]);
  }

  async residue(owner: Owner): Promise<number> {
    const [row] = await this.#database.query("SELECT count(*) AS entries FROM {memory_log} WHERE owner = $1", [owner]);
    return Number(row?.entries ?? 0);
  }

  /** Without effect: the database is the caller's. */
  async close(): Promise<void> {}
}

function parsed(entry: unknown, kept: Kept): MemoryLogEntry {
  return memoryLogEntrySchema.parse(openedJson(String(entry), kept));
}
