import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, parseOwner } from "../../domain/owner.js";
import type { Clock } from "../../platform/clock.js";
import { type Sqlite, scrub } from "../../platform/sqlite.js";
import type { EventLog, EventQuery, EventScope, KeptEvent } from "../../ports/event-log.js";
import type { TransferableTable } from "../../ports/transfer.js";
import { AddedEvents } from "../journal/added-events.js";
import { ensureEventTables } from "./event-tables.js";
import { eventTablesOf } from "./event-transfer.js";
import { SqliteEventQueue } from "./sqlite-event-queue.js";

/** How old what is told again may be, in milliseconds: as long as events are kept, unless otherwise said. */
const AGAIN_MS = 7 * 86_400_000;

interface EventRow {
  readonly owner: Owner;
  readonly event: string;
}

/** Events in SQLite, for the one process that has the file. */
export class SqliteEventLog implements EventLog {
  readonly pollMs = null;
  readonly #db: Sqlite;
  readonly #added = new AddedEvents();
  readonly #clock: Clock;
  /** What was added since {@link keepQueue}. */
  readonly queue: SqliteEventQueue;
  #queued = false;
  /** What happened before is not told, also when an index is made anew. */
  #beginMs: number;

  /**
   * `db`: open, and its owner's to close. `lost`: what was told before is not known any more, and is told again as far as it is young
   * enough. Default false.
   */
  constructor(db: Sqlite, clock: Clock, { lost = false }: { readonly lost?: boolean } = {}) {
    this.#db = db;
    this.#clock = clock;
    this.queue = new SqliteEventQueue(db);
    this.#beginMs = ensureEventTables(db, new Date(clock.now().getTime() - (lost ? AGAIN_MS : 0)));
  }

  /** Everything that is told, for another store. */
  tables(): readonly TransferableTable[] {
    return eventTablesOf(this.#db, this.queue, () => this.#clock.now().getTime());
  }

  /** For as long as this is open, nothing of what is folded in or added is told: it comes by {@link tables}. */
  tellNothing(): void {
    this.#beginMs = Number.POSITIVE_INFINITY;
  }

  /** From now on what is added is to be delivered. */
  keepQueue(): void {
    this.#queued = true;
  }

  async add(owner: Owner, events: readonly OwnerEvent[]): Promise<void> {
    if (events.length === 0) return;
    this.#db.transaction(() => this.insert(owner, events))();
    this.#added.tell(owner);
  }

  /** For one who has a transaction open, and then tells by {@link added}. */
  insert(owner: Owner, events: readonly OwnerEvent[]): void {
    const { tenant } = parseOwner(owner);
    const insert = this.#db.prepare(
      "INSERT INTO events (id, owner, tenant, type, at_ms, event) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
    );
    for (const event of events) {
      const atMs = Date.parse(event.timestamp);
      if (atMs < this.#beginMs) continue;
      const { changes } = insert.run(event.id, owner, tenant, event.type, atMs, JSON.stringify(event));
      if (this.#queued && changes > 0) this.queue.put(owner, event, this.#clock.now().getTime());
    }
  }

  added(owner: Owner): void {
    this.#added.tell(owner);
  }

  onAdded(listener: (owner: Owner) => void): () => void {
    return this.#added.listen(listener);
  }

  async read(scope: EventScope, { after, limit }: EventQuery): Promise<readonly KeptEvent[]> {
    const { where, values } = whereOf(scope);
    const from = this.#db.prepare<unknown[], { seq: number }>(`SELECT seq FROM events WHERE ${where} AND id = ?`).get(...values, after);
    return this.#db
      .prepare<unknown[], EventRow>(`SELECT owner, event FROM events WHERE ${where} AND seq > ? ORDER BY seq LIMIT ?`)
      .all(...values, from?.seq ?? 0, limit)
      .map(({ owner, event }) => ({ owner, event: JSON.parse(event) as OwnerEvent }));
  }

  async newest(scope: EventScope): Promise<string | null> {
    const { where, values } = whereOf(scope);
    const row = this.#db
      .prepare<unknown[], { id: string }>(`SELECT id FROM events WHERE ${where} ORDER BY seq DESC LIMIT 1`)
      .get(...values);
    return row?.id ?? null;
  }

  async prune(before: Date): Promise<number> {
    return this.#db.transaction(() => {
      this.#beginMs = Math.max(this.#beginMs, before.getTime());
      this.#db.prepare("UPDATE events_begin SET at_ms = ?").run(this.#beginMs);
      return this.#db.prepare("DELETE FROM events WHERE at_ms < ?").run(this.#beginMs).changes;
    })();
  }

  async erase(owner: Owner): Promise<number> {
    const gone = this.#db.transaction(() => {
      this.#db.prepare("DELETE FROM events_followed WHERE owner = ?").run(owner);
      this.queue.erase(owner);
      return this.#db.prepare("DELETE FROM events WHERE owner = ? AND type <> 'owner.erased'").run(owner).changes;
    })();
    scrub(this.#db);
    return gone;
  }

  async residue(owner: Owner): Promise<number> {
    const count = (from: string) => this.#db.prepare<[string], { n: number }>(`SELECT count(*) AS n FROM ${from}`).get(owner)?.n ?? 0;
    return (
      count("events WHERE owner = ? AND type <> 'owner.erased'") + count("events_followed WHERE owner = ?") + this.queue.residue(owner)
    );
  }

  /** Up to which entry of the owner's memory log was told; null where it was never followed. */
  followedTo(owner: Owner): number | null {
    const row = this.#db.prepare<[string], { memory_seq: number }>("SELECT memory_seq FROM events_followed WHERE owner = ?").get(owner);
    return row?.memory_seq ?? null;
  }

  /** Adds what entries of a memory log tell of, and notes that it was told up to one. `open`: more may be written behind it. */
  follow(owner: Owner, events: readonly OwnerEvent[], seq: number, open: boolean): void {
    this.#db.transaction(() => {
      this.insert(owner, events);
      this.#db
        .prepare(
          `INSERT INTO events_followed (owner, memory_seq, open) VALUES (?, ?, ?)
           ON CONFLICT (owner) DO UPDATE SET memory_seq = excluded.memory_seq, open = excluded.open`,
        )
        .run(owner, seq, open ? 1 : 0);
    })();
    if (events.length > 0) this.#added.tell(owner);
  }

  /** Owners whose memory log may have more than was told. */
  openOwners(): readonly Owner[] {
    return this.#db
      .prepare<[], { owner: Owner }>("SELECT owner FROM events_followed WHERE open = 1")
      .all()
      .map(({ owner }) => owner);
  }

  /** All that was written was told. */
  allTold(): void {
    this.#db.prepare("UPDATE events_followed SET open = 0 WHERE open = 1").run();
  }
}

function whereOf(scope: EventScope): { readonly where: string; readonly values: readonly string[] } {
  if (scope === "all") return { where: "true", values: [] };
  return "owner" in scope ? { where: "owner = ?", values: [scope.owner] } : { where: "tenant = ?", values: [scope.tenant] };
}
