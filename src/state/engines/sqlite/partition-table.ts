import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { assertKnownLayout } from "../../../platform/layout-version.js";
import type { Sqlite } from "../../../platform/sqlite.js";
import type { DuePartition } from "../../engine.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";

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

interface HeadRow {
  readonly version: number;
  readonly epoch: number;
  readonly due: number | null;
  readonly claim: string | null;
  readonly claimed_until: number | null;
  readonly recent: string;
}

export function headOf(db: Sqlite, partition: string): PartitionHead {
  const row = db
    .prepare<[string], HeadRow>("SELECT version, epoch, due, claim, claimed_until, recent FROM partitions WHERE partition = ?")
    .get(partition);
  if (row === undefined) return EMPTY_HEAD;
  const { version, epoch, due, claim, claimed_until: untilMs } = row;
  const recent = JSON.parse(row.recent) as [string, number, number][];
  return {
    version,
    epoch,
    dueAtMs: due,
    claim: claim === null || untilMs === null ? null : { token: claim, untilMs },
    recent: recent.map(([id, version, epoch]) => ({ id, version, epoch })),
  };
}

/** Of a head what a look tells. */
export function placeOf(db: Sqlite, partition: string): Pick<PartitionHead, "version" | "epoch" | "dueAtMs"> {
  const row = db
    .prepare<[string], Pick<PartitionHead, "version" | "epoch" | "dueAtMs">>(
      "SELECT version, epoch, due AS dueAtMs FROM partitions WHERE partition = ?",
    )
    .get(partition);
  return row ?? EMPTY_HEAD;
}

export function putHead(db: Sqlite, partition: string, { version, epoch, dueAtMs, claim, recent }: PartitionHead): void {
  db.prepare(
    `INSERT INTO partitions (partition, version, epoch, due, claim, claimed_until, recent) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (partition) DO UPDATE SET version = excluded.version, epoch = excluded.epoch, due = excluded.due,
         claim = excluded.claim, claimed_until = excluded.claimed_until, recent = excluded.recent`,
  ).run(
    partition,
    version,
    epoch,
    dueAtMs,
    claim?.token ?? null,
    claim?.untilMs ?? null,
    JSON.stringify(recent.map((commit) => [commit.id, commit.version, commit.epoch])),
  );
}

/** Those that nobody has claimed at `engineMs`, the longest due first; claimed for `leaseMs` from then on, where that is not 0. */
export function takeDue(db: Sqlite, nowMs: number, limit: number, leaseMs: number, engineMs: number): readonly DuePartition[] {
  const rows = db
    .prepare<[number, number, number], { partition: string; due: number }>(
      `SELECT partition, due FROM partitions
       WHERE due <= ? AND (claimed_until IS NULL OR claimed_until <= ?) ORDER BY due LIMIT ?`,
    )
    .all(nowMs, engineMs, limit);
  if (leaseMs <= 0) return rows.map(({ partition, due }) => ({ partition, dueAtMs: due, token: "" }));
  const claim = db.prepare("UPDATE partitions SET claim = ?, claimed_until = ? WHERE partition = ?");
  return rows.map(({ partition, due }) => {
    const token = newId();
    claim.run(token, engineMs + leaseMs, partition);
    return { partition, dueAtMs: due, token };
  });
}
