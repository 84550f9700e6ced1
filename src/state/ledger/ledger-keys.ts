import { hash } from "node:crypto";
import { numberKey, systemPartition } from "../partition.js";

/** Keys of a ledger, in its owner's partition. What an erasure leaves of them tells no name. */
export const LEDGER = "ledger/";
export const USER_KEY = "ledger/user";
/** There as long as an erasure, or a merge's fence, is open. */
export const ERASURE_KEY = "ledger/erasure";
export const TOMBSTONES = "ledger/tombstone/";
/** The place that the last tombstone was given. */
export const LAST_TOMBSTONE_KEY = "ledger/tombstones";
export const AUDIT = "ledger/audit/";
export const RECEIPTS = "ledger/receipt/";
export const PROGRESS = "ledger/progress/";

/** Erasures that were begun: `open/{partition}/{epoch}` holds the owner. Put before the intent, and deleted behind its end. */
export const ERASURES = systemPartition("erasures");
export const OPEN = "open/";

/** Ids and names as they may stand in a key; what may not is there by its hash. */
const SAFE = /^[\w.-]{1,128}$/;

export const tombstoneKey = (memoryId: string) => `${TOMBSTONES}${safe(memoryId)}`;
export const auditKey = (place: number) => `${AUDIT}${numberKey(place)}`;
export const receiptKey = (epoch: number) => `${RECEIPTS}${numberKey(epoch)}`;
export const progressKey = (job: string) => `${PROGRESS}${safe(job)}`;
export const openKey = (partition: string, epoch: number) => `${OPEN}${partition}/${numberKey(epoch)}`;

/** Of the ledger, all that tells nothing of what the owner has said or is called. */
export function outlivesErasure(key: string): boolean {
  return key.startsWith(LEDGER) && key !== USER_KEY && !key.startsWith(TOMBSTONES);
}

function safe(name: string): string {
  return SAFE.test(name) ? name : `sha256-${hash("sha256", name)}`;
}
