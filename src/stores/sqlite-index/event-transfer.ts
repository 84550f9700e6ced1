import { parseOwner } from "../../domain/owner.js";
import type { Sqlite } from "../../platform/sqlite.js";
import type { TransferableRow, TransferableTable } from "../../ports/transfer.js";
import { deadEventOfRow, EVENT_ROWS, EVENT_TABLES, eventOfRow } from "../journal/event-rows.js";
import type { SqliteEventQueue } from "./sqlite-event-queue.js";

/** Events, in order, as they are moved. What waited is due at once where it comes. `nowMs`: that is now. */
export function eventTablesOf(db: Sqlite, queue: SqliteEventQueue, nowMs: () => number): readonly TransferableTable[] {
  const table = (name: string, from: string, place: string, columns: string, put: (row: TransferableRow) => void): TransferableTable => ({
    name,
    rows: () => rowsOf(db, `SELECT ${place} AS place, id, owner, event${columns} FROM ${from} WHERE ${place} > ? ORDER BY ${place}`),
    restore: async (rows) => db.transaction(() => rows.forEach(put))(),
  });
  const insert = "INSERT INTO events (id, owner, tenant, type, at_ms, event) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING";
  const bury = `INSERT INTO events_dead (id, owner, tenant, type, event, attempts, error, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO NOTHING`;
  return [
    table(EVENT_TABLES.log, "events", "seq", "", (row) => {
      const { owner, event } = eventOfRow(row);
      const { tenant } = parseOwner(owner);
      db.prepare(insert).run(event.id, owner, tenant, event.type, Date.parse(event.timestamp), JSON.stringify(event));
    }),
    table(EVENT_TABLES.waiting, "events_waiting", "place", "", (row) => {
      const { owner, event } = eventOfRow(row);
      queue.put(owner, event, nowMs());
    }),
    table(EVENT_TABLES.dead, "events_dead", "place", ", attempts, error, since AS dead_since", (row) => {
      const { owner, event, attempts, error, deadSince } = deadEventOfRow(row);
      const { tenant } = parseOwner(owner);
      db.prepare(bury).run(event.id, owner, tenant, event.type, JSON.stringify(event), attempts, error, deadSince);
    }),
  ];
}

async function* rowsOf(db: Sqlite, sql: string): AsyncGenerator<TransferableRow> {
  const page = db.prepare<[number], TransferableRow & { readonly place: number }>(`${sql} LIMIT ${EVENT_ROWS}`);
  for (let last = 0; ; ) {
    const found = page.all(last);
    for (const { place, ...row } of found) {
      yield row;
      last = place;
    }
    if (found.length < EVENT_ROWS) return;
  }
}
