import { parseOwner } from "../../domain/owner.js";
import type { TransferableRow, TransferableTable } from "../../ports/transfer.js";
import { deadEventOfRow, EVENT_ROWS, EVENT_TABLES, eventOfRow } from "../journal/event-rows.js";
import type { PostgresDatabase, Queries } from "./database.js";

/** Events, in order, as they are moved. What waited is due at once where it comes. */
export function eventTablesOf(database: PostgresDatabase): readonly TransferableTable[] {
  const table = (
    name: string,
    rows: TransferableTable["rows"],
    put: (row: TransferableRow, queries: Queries) => Promise<unknown>,
  ): TransferableTable => ({
    name,
    rows,
    restore: (given) =>
      database.transaction(async (queries) => {
        for (const row of given) await put(row, queries);
      }),
  });
  return [
    table(
      EVENT_TABLES.log,
      () => eventsOf(database, "events", "seq"),
      async (row, { run }) => {
        const { owner, event } = eventOfRow(row);
        await run("INSERT INTO {events} (id, owner, tenant, type, at_ms, event) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING", [
          event.id,
          owner,
          parseOwner(owner).tenant,
          event.type,
          Date.parse(event.timestamp),
          JSON.stringify(event),
        ]);
      },
    ),
    table(
      EVENT_TABLES.waiting,
      () => eventsOf(database, "events_waiting", "place"),
      async (row, { run }) => {
        const { owner, event } = eventOfRow(row);
        await run(
          `INSERT INTO {events_waiting} (place, id, owner, tenant, type, event)
         VALUES (nextval(pg_get_serial_sequence('{events}', 'seq')), $1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`,
          [event.id, owner, parseOwner(owner).tenant, event.type, JSON.stringify(event)],
        );
        await run("INSERT INTO {events_queue} (owner, due) VALUES ($1, now()) ON CONFLICT (owner) DO UPDATE SET due = now()", [owner]);
      },
    ),
    table(
      EVENT_TABLES.dead,
      () => deadOf(database),
      async (row, { run }) => {
        const { owner, event, attempts, error, deadSince } = deadEventOfRow(row);
        await run(
          `INSERT INTO {events_dead} (id, owner, tenant, type, event, attempts, error, since)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
          [event.id, owner, parseOwner(owner).tenant, event.type, JSON.stringify(event), attempts, error, deadSince],
        );
      },
    ),
  ];
}

async function* eventsOf(database: PostgresDatabase, from: string, place: string): AsyncGenerator<TransferableRow> {
  for (let last: readonly [string, string] = ["0", "0"]; ; ) {
    const rows = await database.query(
      `SELECT xid::text AS xid, ${place}::text AS place, id, owner, event FROM {${from}}
       WHERE (xid, ${place}) > ($1::xid8, $2::bigint) ORDER BY xid, ${place} LIMIT ${EVENT_ROWS}`,
      last,
    );
    for (const { id, owner, event } of rows) yield { id: String(id), owner: String(owner), event: String(event) };
    const end = rows.at(-1);
    if (end === undefined || rows.length < EVENT_ROWS) return;
    last = [String(end.xid), String(end.place)];
  }
}

async function* deadOf(database: PostgresDatabase): AsyncGenerator<TransferableRow> {
  for (let last = "0"; ; ) {
    const rows = await database.query(
      `SELECT place::text AS place, id, owner, event, attempts, error, since FROM {events_dead}
       WHERE place > $1::bigint ORDER BY place LIMIT ${EVENT_ROWS}`,
      [last],
    );
    for (const { id, owner, event, attempts, error, since } of rows) {
      const kept = { id: String(id), owner: String(owner), event: String(event) };
      yield { ...kept, attempts: Number(attempts), error: String(error), dead_since: String(since) };
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < EVENT_ROWS) return;
    last = String(end.place);
  }
}
