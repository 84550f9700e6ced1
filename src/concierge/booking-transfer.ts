import { openSqlite, type Sqlite } from "../platform/sqlite.js";
import type { TransferableRow, TransferableTable } from "../ports/transfer.js";
import { Bookings } from "./bookings.js";
import type { SqlDatabase } from "./postgres-bookings.js";

/** The concierge's tables, with all columns that mean anything: what was made anonymous too, and where each sale came from. */
const OFFER = [
  "id",
  "event_id",
  "title",
  "venue",
  "city",
  "starts_at",
  "section",
  "quantity",
  "total_cents",
  "companions",
  "waived",
  "created_at",
];
export const TABLES: Readonly<Record<"quotes" | "bookings" | "happenings", readonly string[]>> = {
  quotes: [...OFFER, "owner", "session_id", "turn", "stop", "absent", "mentioned", "expires_at", "booking_id"],
  bookings: [...OFFER, "owner", "session_id", "turn", "call_id", "quote_id", "reference", "status", "holds_seats", "cancelled_at"],
  happenings: ["owner", "seq", "booking_id", "kind", "at"],
};

export interface BookingTransfer {
  readonly tables: readonly TransferableTable[];
  close(): void;
}

/** Of the file that {@link Bookings} keeps, which is made where it is missing. */
export function bookingsInFile(path: string): BookingTransfer {
  Bookings.open(path).close();
  const db = openSqlite(path, { durability: "full" });
  const tables = Object.entries(TABLES).map(([name, columns]): TransferableTable => {
    const insert = `INSERT OR IGNORE INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    return {
      name,
      rows: () => pagesOf(async (after) => rowsAfter(db, name, columns, after)),
      restore: async (rows) => {
        db.transaction(() => {
          for (const row of rows) db.prepare(insert).run(...columns.map((column) => row[column] ?? null));
        }).immediate();
      },
    };
  });
  return { tables, close: () => db.close() };
}

/** Of the tables that PostgreSQL has for the concierge. The database stays the caller's to close. */
export function bookingsInPostgres(database: SqlDatabase): BookingTransfer {
  const tables = Object.entries(TABLES).map(([name, columns]): TransferableTable => {
    const values = columns.map((_, index) => `$${index + 1}`).join(", ");
    const insert = `INSERT INTO {concierge_${name}} (${columns.join(", ")}) VALUES (${values}) ON CONFLICT DO NOTHING`;
    const order = orderOf(name).map((column) => `${column}::text COLLATE "C"`);
    return {
      name,
      rows: () =>
        pagesOf(async (after) => {
          const found = await database.query(
            `SELECT ${columns.join(", ")} FROM {concierge_${name}}
             WHERE $1::text IS NULL OR (${order.join(", ")}) > ($1, $2) ORDER BY ${order.join(", ")} LIMIT ${PAGE}`,
            after === null ? [null, null] : [...after],
          );
          return found.map((row) => ({ row: row as TransferableRow, at: positionOf(name, row as TransferableRow) }));
        }),
      restore: (rows) =>
        database.transaction(async ({ run }) => {
          for (const row of rows)
            await run(
              insert,
              columns.map((column) => row[column] ?? null),
            );
        }),
    };
  });
  return { tables, close: () => {} };
}

/** Rows read at once. */
const PAGE = 500;
type Position = readonly [string, string];
interface Found {
  readonly row: TransferableRow;
  readonly at: Position;
}

/** Unique in each table, and never null. */
function orderOf(table: string): readonly [string, string] {
  return table === "happenings" ? ["booking_id", "kind"] : ["id", "created_at"];
}

function positionOf(table: string, row: TransferableRow): Position {
  const [first, second] = orderOf(table);
  return [String(row[first]), String(row[second])];
}

function rowsAfter(db: Sqlite, table: string, columns: readonly string[], after: Position | null): readonly Found[] {
  const [first, second] = orderOf(table);
  const behind = after === null ? "" : `WHERE (${first}, ${second}) > (?, ?)`;
  return db
    .prepare<string[], TransferableRow>(`SELECT ${columns.join(", ")} FROM ${table} ${behind} ORDER BY ${first}, ${second} LIMIT ${PAGE}`)
    .all(...(after ?? []))
    .map((row) => ({ row, at: positionOf(table, row) }));
}

async function* pagesOf(pageAfter: (position: Position | null) => Promise<readonly Found[]>): AsyncGenerator<TransferableRow> {
  for (let position: Position | null = null; ; ) {
    const page: readonly Found[] = await pageAfter(position);
    for (const { row } of page) yield row;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    position = last.at;
  }
}
