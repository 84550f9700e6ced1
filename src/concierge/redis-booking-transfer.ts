import type { Owner } from "../domain/owner.js";
import type { TransferableRow, TransferableTable } from "../ports/transfer.js";
import { TABLES } from "./booking-transfer.js";
import { BOOKINGS_TAG, bookingKeys, MOVE_BOOKING, MOVE_SALE, salesKeys } from "./redis-booking-scripts.js";
import { callField, happening, quoteField, type ScriptDatabase, toldIn } from "./redis-bookings.js";

export interface ScannedDatabase extends ScriptDatabase {
  /** Keys that fit a pattern behind the prefix, in no order, some perhaps twice. */
  scan(pattern: string): AsyncIterable<string>;
}

/** The concierge's tables as Redis has them. The database stays the caller's to close. */
export function bookingsInRedis(database: ScannedDatabase): readonly TransferableTable[] {
  return [quotes(database), bookings(database), happenings(database)];
}

function quotes(database: ScannedDatabase): TransferableTable {
  return {
    name: "quotes",
    rows: () => guestRows(database, "quotes"),
    restore: async (rows) => {
      for (const row of rows)
        await database.command("HSETNX", bookingKeys(database.prefix, ownerOf(row)).quotes, String(row.id), JSON.stringify(row));
    },
  };
}

function bookings(database: ScannedDatabase): TransferableTable {
  return {
    name: "bookings",
    async *rows() {
      yield* guestRows(database, "bookings");
      // Empty where the sale is a guest's.
      for (const json of (await database.command("HVALS", salesKeys(database.prefix).sales)) as readonly string[])
        if (json !== "") yield rowOf("bookings", json);
    },
    restore: async (rows) => {
      for (const row of rows) {
        if (row.owner === null) await database.run(MOVE_SALE, salesKeys(database.prefix), JSON.stringify(row));
        else await database.run(MOVE_BOOKING, bookingKeys(database.prefix, ownerOf(row)), JSON.stringify(row), ...originOf(row));
      }
    },
  };
}

function happenings(database: ScannedDatabase): TransferableTable {
  return {
    name: "happenings",
    async *rows() {
      for await (const key of keysLike(database, "happenings")) {
        const told = toldIn((await database.command("ZRANGE", key, 0, -1, "WITHSCORES")) as readonly string[]);
        yield* told.map(({ owner, seq, booking_id, kind, at }) => ({ owner, seq, booking_id, kind, at }));
      }
    },
    restore: async (rows) => {
      for (const row of rows) {
        const told = happening(ownerOf(row), String(row.booking_id), row.kind === "booked" ? "booked" : "cancelled", String(row.at));
        await database.command("ZADD", bookingKeys(database.prefix, ownerOf(row)).happenings, "NX", Number(row.seq), told);
      }
    },
  };
}

async function* guestRows(database: ScannedDatabase, table: "quotes" | "bookings"): AsyncGenerator<TransferableRow> {
  for await (const key of keysLike(database, table))
    for (const json of (await database.command("HVALS", key)) as readonly string[]) yield rowOf(table, json);
}

/** A key of each guest who has one, each once. */
async function* keysLike(database: ScannedDatabase, name: string): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const key of database.scan(`${BOOKINGS_TAG}:*:${name}`)) {
    if (!seen.has(key)) yield key;
    seen.add(key);
  }
}

/** In the order of the columns, as tables have them. */
function rowOf(table: "quotes" | "bookings", json: string): TransferableRow {
  const kept = JSON.parse(json) as TransferableRow;
  return Object.fromEntries(TABLES[table].map((column) => [column, kept[column] ?? null]));
}

function ownerOf({ owner }: TransferableRow): Owner {
  // Written by the bookings alone, from an Owner.
  return String(owner) as Owner;
}

/** What the booking came of, where anything. */
function originOf({ session_id, turn, call_id, quote_id }: TransferableRow): readonly string[] {
  return [
    ...(quote_id == null ? [] : [quoteField(String(quote_id))]),
    ...(call_id == null ? [] : [callField({ sessionId: String(session_id), turn: Number(turn), callId: String(call_id) })]),
  ];
}
