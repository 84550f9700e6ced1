import { AppError } from "../../../platform/errors.js";
import { assertKnownLayout } from "../../../platform/layout-version.js";
import type { Sqlite } from "../../../platform/sqlite.js";

/** Of the tables below, in the file's `user_version`. */
export const LAYOUT = 1;

/** Times are milliseconds since the epoch. `recent`: the last commits, as JSON `[[id, version, epoch]]`, oldest first. */
const TABLES = `
CREATE TABLE partitions (
  partition TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  due INTEGER,
  claim TEXT,
  claimed_until INTEGER,
  recent TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX partitions_due ON partitions (due) WHERE due IS NOT NULL;
CREATE TABLE entries (
  partition TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (partition, key)
) WITHOUT ROWID`;

/** @throws STORAGE_UNAVAILABLE where a newer version, or another program, has written the file */
export function openLayout(db: Sqlite): void {
  const found = Number(db.pragma("user_version", { simple: true }));
  if (found === LAYOUT) return;
  assertKnownLayout(`${db.name} is`, found, LAYOUT);
  const tables = db.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length > 0)
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `${db.name} holds something else: ${tables.map(({ name }) => name).join(", ")}.`,
      hint: "Move it away, or name another directory.",
    });
  db.transaction(() => db.exec(`${TABLES}; PRAGMA user_version = ${LAYOUT};`)).immediate();
}
