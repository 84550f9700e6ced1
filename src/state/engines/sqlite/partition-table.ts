import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import type { Sqlite } from "../../../platform/sqlite.js";
import { assertSameLayout } from "../../../platform/storage-errors.js";
import type { DuePartition } from "../../engine.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";

/** Of the tables below, in the file's `user_version`. */
export const LAYOUT = 2;

/**
 * Times are milliseconds since the epoch. `recent`: the last commits, as JSON `[[id, version, epoch]]`, oldest first. Entries are kept
 * under the number of their partition's row. Rows lie beside the index of their keys: as a rule each lies within one page, and a change
 * of it writes that page alone.
 */
const TABLES = `
CREATE TABLE partitions (
  id INTEGER PRIMARY KEY,
  partition TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  due INTEGER,
  claim TEXT,
  claimed_until INTEGER,
  recent TEXT NOT NULL
);
CREATE INDEX partitions_due ON partitions (due) WHERE due IS NOT NULL;
CREATE TABLE entries (
  partition INTEGER NOT NULL REFERENCES partitions,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (partition, key)
)`;

/** @throws STORAGE_UNAVAILABLE where another version, or another program, has written the file */
export function openLayout(db: Sqlite): void {
  const found = Number(db.pragma("user_version", { simple: true }));
  if (found === LAYOUT) return;
  if (found !== 0) assertSameLayout(`${db.name} is`, found, LAYOUT, "move the whole directory away, or name another");
  const tables = db.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length > 0)
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `${db.name} holds something else: ${tables.map(({ name }) => name).join(", ")}.`,
      hint: "Move it away, or name another directory.",
    });
  db.transaction(() => db.exec(`${TABLES}; PRAGMA user_version = ${LAYOUT};`)).immediate();
}

interface HeadRow {
  readonly id: number;
  readonly version: number;
  readonly epoch: number;
  readonly due: number | null;
  readonly claim: string | null;
  readonly claimed_until: number | null;
  readonly recent: string;
}

/** A head with the number of its row; null: it has none. */
export interface StoredHead {
  readonly id: number | null;
  readonly head: PartitionHead;
}

export function headOf(db: Sqlite, partition: string): StoredHead {
  const row = db
    .prepare<[string], HeadRow>("SELECT id, version, epoch, due, claim, claimed_until, recent FROM partitions WHERE partition = ?")
    .get(partition);
  if (row === undefined) return { id: null, head: EMPTY_HEAD };
  const { id, version, epoch, due, claim, claimed_until: untilMs } = row;
  const recent = JSON.parse(row.recent) as [string, number, number][];
  const head: PartitionHead = {
    version,
    epoch,
    dueAtMs: due,
    claim: claim === null || untilMs === null ? null : { token: claim, untilMs },
    recent: recent.map(([id, version, epoch]) => ({ id, version, epoch })),
  };
  return { id, head };
}

interface Place {
  readonly id: number | null;
  readonly version: number;
  readonly epoch: number;
  readonly dueAtMs: number | null;
}

const NOWHERE: Place = { id: null, version: EMPTY_HEAD.version, epoch: EMPTY_HEAD.epoch, dueAtMs: EMPTY_HEAD.dueAtMs };

/** Of a head what a look tells. */
export function placeOf(db: Sqlite, partition: string): Place {
  const row = db.prepare<[string], Place>("SELECT id, version, epoch, due AS dueAtMs FROM partitions WHERE partition = ?").get(partition);
  return row ?? NOWHERE;
}

/** The number of the row. An alarm that stays as it is costs no page of its index. */
export function putHead(db: Sqlite, partition: string, before: StoredHead, head: PartitionHead): number {
  const { version, epoch, dueAtMs, claim } = head;
  const values = [version, epoch, claim?.token ?? null, claim?.untilMs ?? null, recentOf(head)] as const;
  if (before.id === null) {
    const insert = "INSERT INTO partitions (version, epoch, claim, claimed_until, recent, due, partition) VALUES (?, ?, ?, ?, ?, ?, ?)";
    return Number(db.prepare(insert).run(...values, dueAtMs, partition).lastInsertRowid);
  }
  db.prepare("UPDATE partitions SET version = ?, epoch = ?, claim = ?, claimed_until = ?, recent = ? WHERE id = ?").run(
    ...values,
    before.id,
  );
  if (dueAtMs !== before.head.dueAtMs) db.prepare("UPDATE partitions SET due = ? WHERE id = ?").run(dueAtMs, before.id);
  return before.id;
}

function recentOf({ recent }: PartitionHead): string {
  return JSON.stringify(recent.map(({ id, version, epoch }) => [id, version, epoch]));
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
