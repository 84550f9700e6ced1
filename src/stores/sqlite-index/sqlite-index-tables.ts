import type { Sqlite } from "../../platform/sqlite.js";

/** Raised when the tables change, or what the fold makes of a journal: an index of another version is rebuilt from the journals. */
const INDEX_VERSION = 3;

/** `since_ms` is the last activity of an active session, and the time of its status of any other. */
const TABLES = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  external_id TEXT,
  status TEXT NOT NULL,
  title_folded TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  indexed_seq INTEGER NOT NULL,
  state TEXT NOT NULL
);
CREATE INDEX sessions_newest ON sessions (owner, status, updated_at DESC, id DESC);
CREATE INDEX sessions_external ON sessions (owner, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX sessions_since ON sessions (status, since_ms, id);
CREATE INDEX sessions_expiring ON sessions (status, expires_ms) WHERE expires_ms IS NOT NULL;

-- The conversation as it was after a record: what a rewind goes back to.
CREATE TABLE standings (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  opened_by INTEGER,
  summary_id INTEGER,
  PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
CREATE TABLE summaries (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX summaries_session ON summaries (session_id);

CREATE TABLE pending (
  session_id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  owner TEXT NOT NULL,
  from_seq INTEGER NOT NULL,
  answered_seq INTEGER NOT NULL,
  state TEXT NOT NULL,
  planned INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_ms INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  error_code TEXT,
  PRIMARY KEY (session_id, turn)
) WITHOUT ROWID;
CREATE INDEX pending_oldest ON pending (state, at_ms);
CREATE INDEX pending_owner ON pending (owner);

CREATE TABLE idempotency (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  session_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  entry TEXT NOT NULL,
  PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at_ms);
CREATE INDEX idempotency_session ON idempotency (session_id);
`;

/** Those with a session_id; `sessions` itself has it as `id`. */
export const SESSION_TABLES = ["standings", "summaries", "pending", "idempotency"] as const;

/** True when they were made now, so that there is something to rebuild. */
export function ensureTables(db: Sqlite): boolean {
  if (db.pragma("user_version", { simple: true }) === INDEX_VERSION) return false;
  db.transaction(() => {
    const tables = db.prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'events%'",
    );
    for (const { name } of tables.all()) db.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`);
    db.exec(TABLES);
    db.pragma(`user_version = ${INDEX_VERSION}`);
  })();
  return true;
}
