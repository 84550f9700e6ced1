import type { Sqlite } from "../../platform/sqlite.js";

/**
 * Events, in the file of the index, so that they are written with it: what a journal tells of is there once the journal is folded in. They
 * outlive an index that is made anew, by their names.
 *
 * - `events`: `at_ms` is when it happened.
 * - `events_followed`: how far an owner's memory log was told; `open`: this process, or one that was killed, may have written behind it.
 * - `events_begin` (one row): nothing is told that happened before; it may have been told, and dropped.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  event TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_of_owner ON events (owner, seq);
CREATE INDEX IF NOT EXISTS events_of_tenant ON events (tenant, seq);
CREATE INDEX IF NOT EXISTS events_by_time ON events (at_ms);
CREATE TABLE IF NOT EXISTS events_followed (owner TEXT PRIMARY KEY, memory_seq INTEGER NOT NULL, open INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS events_open ON events_followed (open) WHERE open = 1;
CREATE TABLE IF NOT EXISTS events_begin (one INTEGER PRIMARY KEY CHECK (one = 1), at_ms INTEGER NOT NULL);
`;

/**
 * Makes them where they are not there. `begin`: since when things are told that happened, where that is not known yet. Returns it, in
 * milliseconds since the epoch.
 */
export function ensureEventTables(db: Sqlite, begin: Date): number {
  db.exec(TABLES);
  db.prepare("INSERT INTO events_begin (one, at_ms) VALUES (1, ?) ON CONFLICT DO NOTHING").run(begin.getTime());
  return db.prepare<[], { at_ms: number }>("SELECT at_ms FROM events_begin").get()?.at_ms ?? 0;
}
