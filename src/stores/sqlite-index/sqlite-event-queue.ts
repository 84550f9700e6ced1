import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, parseOwner } from "../../domain/owner.js";
import type { Sqlite } from "../../platform/sqlite.js";
import type { ClaimedOwner, DeadEvent, EventQueue } from "../../ports/event-queue.js";

/**
 * - `events_waiting`: what is to be delivered, in order; with the event, which may not be listed any more.
 * - `events_queue`: an owner some of whose events may wait. `due_ms` is null where none does; `touched` counts what was added.
 * - `events_dead`: what was given up.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS events_waiting (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  type TEXT NOT NULL,
  event TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_waiting_owner ON events_waiting (owner, place);
CREATE TABLE IF NOT EXISTS events_queue (
  owner TEXT PRIMARY KEY,
  due_ms INTEGER,
  leased_ms INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  touched INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS events_queue_due ON events_queue (due_ms) WHERE due_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS events_dead (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL,
  event TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  error TEXT NOT NULL,
  since TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_dead_tenant ON events_dead (tenant, place);
`;

interface DeadRow {
  readonly owner: Owner;
  readonly event: string;
  readonly attempts: number;
  readonly error: string;
  readonly since: string;
}

/** The queue of events in SQLite, for the one process that has the file. */
export class SqliteEventQueue implements EventQueue {
  readonly #db: Sqlite;

  constructor(db: Sqlite) {
    this.#db = db;
    db.exec(TABLES);
    // Whoever had them is gone.
    db.exec("UPDATE events_queue SET leased_ms = 0 WHERE leased_ms > 0");
  }

  /** For one who has a transaction open. */
  put(owner: Owner, event: OwnerEvent, nowMs: number): void {
    this.#db
      .prepare("INSERT INTO events_waiting (id, owner, type, event) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
      .run(event.id, owner, event.type, JSON.stringify(event));
    this.#db
      .prepare(
        `INSERT INTO events_queue (owner, due_ms) VALUES (?, ?)
         ON CONFLICT (owner) DO UPDATE SET touched = touched + 1, due_ms = COALESCE(due_ms, excluded.due_ms)`,
      )
      .run(owner, nowMs);
  }

  async claim(now: Date, limit: number, leaseMs: number): Promise<readonly ClaimedOwner[]> {
    const nowMs = now.getTime();
    return this.#db.transaction(() => {
      const due = this.#db
        .prepare<unknown[], { owner: Owner; attempts: number; touched: number }>(
          "SELECT owner, attempts, touched FROM events_queue WHERE due_ms <= ? AND leased_ms <= ? ORDER BY due_ms LIMIT ?",
        )
        .all(nowMs, nowMs, limit);
      const lease = this.#db.prepare("UPDATE events_queue SET leased_ms = ? WHERE owner = ?");
      for (const { owner } of due) lease.run(nowMs + leaseMs, owner);
      return due.map(({ owner, attempts, touched }) => ({ owner, attempts, mark: touched }));
    })();
  }

  async next(owner: Owner, limit: number): Promise<readonly OwnerEvent[]> {
    return this.#db
      .prepare<unknown[], { event: string }>("SELECT event FROM events_waiting WHERE owner = ? ORDER BY place LIMIT ?")
      .all(owner, limit)
      .map(({ event }) => JSON.parse(event) as OwnerEvent);
  }

  async delivered(owner: Owner, id: string): Promise<void> {
    this.#db.prepare("DELETE FROM events_waiting WHERE owner = ? AND id = ?").run(owner, id);
  }

  async bury(owner: Owner, id: string, { attempts, error, deadSince }: Parameters<EventQueue["bury"]>[2]): Promise<void> {
    const { tenant } = parseOwner(owner);
    this.#db.transaction(() => {
      this.#db
        .prepare(
          `INSERT INTO events_dead (id, owner, tenant, type, event, attempts, error, since)
           SELECT id, owner, ?, type, event, ?, ?, ? FROM events_waiting WHERE owner = ? AND id = ? ON CONFLICT (id) DO NOTHING`,
        )
        .run(tenant, attempts, error, deadSince, owner, id);
      this.#db.prepare("DELETE FROM events_waiting WHERE owner = ? AND id = ?").run(owner, id);
    })();
  }

  async release({ owner, mark }: ClaimedOwner, { dueAt, attempts }: Parameters<EventQueue["release"]>[1]): Promise<void> {
    const release = this.#db.prepare(
      `UPDATE events_queue SET leased_ms = 0, attempts = ?,
         due_ms = CASE WHEN ? IS NULL THEN CASE WHEN touched = ? THEN NULL ELSE 0 END ELSE ? END WHERE owner = ?`,
    );
    const dueMs = dueAt?.getTime() ?? null;
    release.run(attempts, dueMs, mark, dueMs, owner);
  }

  async nextDueMs(): Promise<number | null> {
    const row = this.#db
      .prepare<[], { at: number | null }>("SELECT min(max(due_ms, leased_ms)) AS at FROM events_queue WHERE due_ms IS NOT NULL")
      .get();
    return row?.at ?? null;
  }

  async dead(tenant: string, { after, limit }: { readonly after?: string; readonly limit: number }): Promise<readonly DeadEvent[]> {
    return this.#db
      .prepare<unknown[], DeadRow>(
        `SELECT owner, event, attempts, error, since FROM events_dead WHERE tenant = ?
           AND place > COALESCE((SELECT place FROM events_dead WHERE tenant = ? AND id = ?), 0) ORDER BY place LIMIT ?`,
      )
      .all(tenant, tenant, after ?? "", limit)
      .map(({ owner, event, attempts, error, since }) => ({
        owner,
        event: JSON.parse(event) as OwnerEvent,
        attempts,
        error,
        deadSince: since,
      }));
  }

  async retry(tenant: string, id: string, now: Date): Promise<boolean> {
    return this.#db.transaction(() => {
      const row = this.#db
        .prepare<unknown[], { owner: Owner; event: string }>("SELECT owner, event FROM events_dead WHERE tenant = ? AND id = ?")
        .get(tenant, id);
      if (row === undefined) return false;
      this.#db.prepare("DELETE FROM events_dead WHERE id = ?").run(id);
      this.put(row.owner, JSON.parse(row.event) as OwnerEvent, now.getTime());
      return true;
    })();
  }

  async pruneDead(before: Date): Promise<number> {
    return this.#db.prepare("DELETE FROM events_dead WHERE since < ?").run(before.toISOString()).changes;
  }

  async counts(): Promise<{ readonly waiting: number; readonly dead: number }> {
    const count = (table: string) => this.#db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
    return { waiting: count("events_waiting"), dead: count("events_dead") };
  }

  /** For one who has a transaction open: what is left tells of an erasure. */
  erase(owner: Owner): void {
    for (const table of ["events_waiting", "events_dead"])
      this.#db.prepare(`DELETE FROM ${table} WHERE owner = ? AND type <> 'owner.erased'`).run(owner);
    this.#db.prepare("DELETE FROM events_queue WHERE owner = ? AND owner NOT IN (SELECT owner FROM events_waiting)").run(owner);
  }

  residue(owner: Owner): number {
    const count = (table: string) =>
      this.#db.prepare<[string], { n: number }>(`SELECT count(*) AS n FROM ${table} WHERE owner = ? AND type <> 'owner.erased'`).get(owner)
        ?.n ?? 0;
    return count("events_waiting") + count("events_dead");
  }
}
