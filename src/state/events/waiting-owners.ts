import type { Owner } from "../../domain/owner.js";
import type { PartitionRead } from "../engine.js";
import { jsonOf } from "../stored-rows.js";
import { dueKey, waitingKey } from "./event-keys.js";

/** An owner some of whose events are in the queue. Times are the engine's, in milliseconds since the epoch. */
export interface WaitingOwner {
  readonly owner: Owner;
  readonly dueAtMs: number;
  /** Nobody else is given the owner until then. */
  readonly leasedUntilMs: number;
  /** Which claim has the owner, until somebody else is given them. Default: none, as once it was released. */
  readonly claim?: string;
  readonly attempts: number;
}

export interface Changes {
  readonly puts: { readonly key: string; readonly value: string }[];
  readonly deletes: string[];
}

export function waitingOf(read: PartitionRead, ownerHash: string): WaitingOwner | null {
  return jsonOf<WaitingOwner>(read.entries.get(waitingKey(ownerHash)));
}

/** When somebody may be given the owner. */
export function availableAtMs({ dueAtMs, leasedUntilMs }: WaitingOwner): number {
  return Math.max(dueAtMs, leasedUntilMs);
}

/** Something was queued: due at once where nothing waited. Kept anew in any case, so that who read it before is refused. */
export function queuedFor(owner: Owner, before: WaitingOwner | null, nowMs: number): WaitingOwner {
  return before ?? { owner, dueAtMs: nowMs, leasedUntilMs: 0, attempts: 0 };
}

/** An owner's row and its place among those that are due, changed together. `after`: null takes both away. */
export function waitingChanges(ownerHash: string, before: WaitingOwner | null, after: WaitingOwner | null): Changes {
  const [from, to] = [placed(ownerHash, before), placed(ownerHash, after)];
  const puts = after === null ? [] : [{ key: waitingKey(ownerHash), value: JSON.stringify(after) }];
  if (to !== null && to !== from) puts.push({ key: to, value: "1" });
  const deletes = after === null && before !== null ? [waitingKey(ownerHash)] : [];
  if (from !== null && from !== to) deletes.push(from);
  return { puts, deletes };
}

function placed(ownerHash: string, waiting: WaitingOwner | null): string | null {
  return waiting === null ? null : dueKey(availableAtMs(waiting), ownerHash);
}
