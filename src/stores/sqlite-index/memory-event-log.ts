import type { Clock } from "../../platform/clock.js";
import { openSqlite } from "../../platform/sqlite.js";
import { SqliteEventLog } from "./sqlite-event-log.js";

/** An event log that is gone with the process, beside stores that keep none. */
export function openMemoryEventLog(clock: Clock): { readonly log: SqliteEventLog; close(): void } {
  const db = openSqlite(":memory:", { durability: "normal" });
  return { log: new SqliteEventLog(db, clock), close: () => void db.close() };
}
