import type { Owner } from "../../domain/owner.js";
import type { ClaimedOwner, DeadEvent, EventQueue } from "../../ports/event-queue.js";
import type { PostgresDatabase } from "./database.js";
import { keptEvent } from "./postgres-event-log.js";

/**
 * The queue of events in PostgreSQL, for as many workers as like: an owner is one row, which whoever adds an event locks, so that none
 * comes between the last look of a worker and its release. Times are the server's.
 */
export class PostgresEventQueue implements EventQueue {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async claim(_now: Date, limit: number, leaseMs: number): Promise<readonly ClaimedOwner[]> {
    const rows = await this.#database.query(
      `UPDATE {events_queue} q SET leased = now() + $2::double precision * interval '1 millisecond'
       WHERE owner IN (
         SELECT owner FROM {events_queue} WHERE due <= now() AND leased <= now() ORDER BY due LIMIT $1 FOR UPDATE SKIP LOCKED
       ) RETURNING owner, attempts, touched`,
      [limit, leaseMs],
    );
    return rows.map(({ owner, attempts, touched }) => ({
      owner: String(owner) as Owner,
      attempts: Number(attempts),
      mark: Number(touched),
    }));
  }

  async next(owner: Owner, limit: number): ReturnType<EventQueue["next"]> {
    const rows = await this.#database.query("SELECT owner, event FROM {events_waiting} WHERE owner = $1 ORDER BY xid, place LIMIT $2", [
      owner,
      limit,
    ]);
    return rows.map((row) => keptEvent(row).event);
  }

  async delivered(owner: Owner, id: string): Promise<void> {
    await this.#database.run("DELETE FROM {events_waiting} WHERE owner = $1 AND id = $2", [owner, id]);
  }

  async bury(owner: Owner, id: string, { attempts, error, deadSince }: Parameters<EventQueue["bury"]>[2]): Promise<void> {
    await this.#database.run(
      `WITH gone AS (DELETE FROM {events_waiting} WHERE owner = $1 AND id = $2 RETURNING id, owner, tenant, type, event)
       INSERT INTO {events_dead} (id, owner, tenant, type, event, attempts, error, since)
       SELECT id, owner, tenant, type, event, $3::int, $4, $5 FROM gone ON CONFLICT (id) DO NOTHING`,
      [owner, id, attempts, error, deadSince],
    );
  }

  async release({ owner, mark }: ClaimedOwner, { dueAt, attempts }: Parameters<EventQueue["release"]>[1]): Promise<void> {
    const inMs = dueAt === null ? null : Math.max(0, dueAt.getTime() - Date.now());
    await this.#database.run(
      `UPDATE {events_queue} SET leased = '-infinity', attempts = $3::int,
         due = CASE WHEN $4::double precision IS NOT NULL THEN now() + $4 * interval '1 millisecond'
           WHEN touched = $2::bigint THEN NULL ELSE now() END
       WHERE owner = $1`,
      [owner, mark, attempts, inMs],
    );
  }

  async nextDueMs(): Promise<number | null> {
    const [row] = await this.#database.query(
      `SELECT extract(epoch FROM min(GREATEST(due, leased)) - now()) * 1000 AS in_ms FROM {events_queue} WHERE due IS NOT NULL`,
    );
    return row?.in_ms == null ? null : Date.now() + Number(row.in_ms);
  }

  async dead(tenant: string, { after, limit }: { readonly after?: string; readonly limit: number }): Promise<readonly DeadEvent[]> {
    const rows = await this.#database.query(
      `SELECT owner, event, attempts, error, since FROM {events_dead} WHERE tenant = $1
         AND place > COALESCE((SELECT place FROM {events_dead} WHERE tenant = $1 AND id = $2), 0) ORDER BY place LIMIT $3`,
      [tenant, after ?? "", limit],
    );
    return rows.map((row) => ({
      ...keptEvent(row),
      attempts: Number(row.attempts),
      error: String(row.error),
      deadSince: String(row.since),
    }));
  }

  async retry(tenant: string, id: string): Promise<boolean> {
    const rows = await this.#database.query(
      `WITH again AS (DELETE FROM {events_dead} WHERE tenant = $1 AND id = $2 RETURNING id, owner, tenant, type, event),
       waiting AS (
         INSERT INTO {events_waiting} (place, id, owner, tenant, type, event)
         SELECT nextval(pg_get_serial_sequence('{events}', 'seq')), id, owner, tenant, type, event FROM again ON CONFLICT (id) DO NOTHING
       ),
       queued AS (
         INSERT INTO {events_queue} AS q (owner, due) SELECT owner, now() FROM again
         ON CONFLICT (owner) DO UPDATE SET touched = q.touched + 1, due = COALESCE(q.due, excluded.due)
       )
       SELECT 1 FROM again`,
      [tenant, id],
    );
    return rows.length > 0;
  }

  async pruneDead(before: Date): Promise<number> {
    return this.#database.run(`DELETE FROM {events_dead} WHERE since COLLATE "C" < $1`, [before.toISOString()]);
  }

  async counts(): Promise<{ readonly waiting: number; readonly dead: number }> {
    const [row] = await this.#database.query(
      "SELECT (SELECT count(*) FROM {events_waiting}) AS waiting, (SELECT count(*) FROM {events_dead}) AS dead",
    );
    return { waiting: Number(row?.waiting ?? 0), dead: Number(row?.dead ?? 0) };
  }
}
