import type { OwnerEvent } from "../../domain/event.js";
import type { Owner } from "../../domain/owner.js";
import type { DeadEvent } from "../../ports/event-queue.js";
import type { TransferableRow } from "../../ports/transfer.js";

/** Names of the tables in which events are moved from one store to another: the log, what waits for a webhook, and what it gave up. */
export const EVENT_TABLES = { log: "events", waiting: "events that wait", dead: "events given up" } as const;

/** Rows that are read, or put, in one step. */
export const EVENT_ROWS = 500;

/** An event as a row: of the log, or of what waits. */
export function eventRow(owner: Owner, event: OwnerEvent): TransferableRow {
  return { id: event.id, owner, event: JSON.stringify(event) };
}

export function deadEventRow({ owner, event, attempts, error, deadSince }: DeadEvent): TransferableRow {
  return { ...eventRow(owner, event), attempts, error, dead_since: deadSince };
}

export function eventOfRow(row: TransferableRow): { readonly owner: Owner; readonly event: OwnerEvent } {
  return { owner: String(row.owner) as Owner, event: JSON.parse(String(row.event)) as OwnerEvent };
}

export function deadEventOfRow(row: TransferableRow): DeadEvent {
  return { ...eventOfRow(row), attempts: Number(row.attempts), error: String(row.error), deadSince: String(row.dead_since) };
}
