import { hash } from "node:crypto";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { derivedId } from "../../platform/ids.js";
import type { AuditEntry, Sighting, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import { type ErasureReceipt, erasureReceiptSchema } from "../../ports/resources.js";
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

const counts = z.record(z.string(), z.number());

/** With its place among the owner's, which is no part of it. */
const tombstone = z.object({
  memoryId: z.string(),
  messageIds: z.array(z.string()),
  askedIn: z.array(z.string()).exactOptional(),
  textHash: z.string(),
  // Written by the ledger's user alone, from an Owner.
  hashOf: z
    .string()
    .transform((owner) => owner as Owner)
    .exactOptional(),
  at: z.string(),
  n: z.number().int(),
});
const user = z.object({
  displayName: z.string().nullable(),
  provider: z.string().nullable(),
  timeZone: z.string().nullable(),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
}) satisfies z.ZodType<UserRecord>;
const audit = z.object({
  at: z.string(),
  action: z.enum(["export", "erase", "forget", "purge_session", "delete_memories", "import", "merge", "unmerge", "look"]),
  by: z.string(),
  receiptId: z.string().nullable(),
  counts,
}) satisfies z.ZodType<AuditEntry>;
const intent = z.object({ v: z.literal(1), receiptId: z.string(), at: z.string(), epoch: z.number().int() });

/** An erasure that is open. */
export type ErasureIntent = z.infer<typeof intent>;

export const userOf = (value: string): UserRecord => user.parse(JSON.parse(value));
export const auditOf = (value: string): AuditEntry => audit.parse(JSON.parse(value));
export const receiptOf = (value: string): ErasureReceipt => erasureReceiptSchema.parse(JSON.parse(value));
export const intentOf = (value: string): ErasureIntent => intent.parse(JSON.parse(value));

export function tombstoneValue(tombstone: Tombstone, n: number): string {
  return JSON.stringify({ ...tombstone, n });
}

/** In the order in which they were added last. */
export function tombstonesOf(values: readonly string[]): readonly Tombstone[] {
  const parsed = values.map((value) => tombstone.parse(JSON.parse(value)));
  return parsed.toSorted((a, b) => a.n - b.n).map(({ n: _, ...rest }) => rest);
}

/** The same for every try of one erasure, and on every replica. */
export function receiptIdOf(owner: Owner, epoch: number): string {
  return derivedId("receipt", owner, epoch);
}

/** For whoever is refused by an erasure: to be tried again when it is over. */
export function ownerErased(): AppError {
  return new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
}

/** Only a later sighting of nothing new is left out, for so long, in milliseconds. */
export const SEEN_THROTTLE_MS = 60_000;

/** What it tells of the owner, in no words. */
export function hashOfSighting(owner: Owner, { displayName, provider, timeZone }: Sighting): string {
  return hash("sha256", JSON.stringify([owner, displayName, provider, timeZone]));
}

/** Whether a user who was seen is to be noted for the time alone. */
export function isDue(lastSeenAt: string, { at }: Sighting): boolean {
  return Date.parse(at) - Date.parse(lastSeenAt) >= SEEN_THROTTLE_MS;
}

/** Whether a user has been seen since. */
export function isPast(lastSeenAt: string, { at }: Sighting): boolean {
  return Date.parse(at) < Date.parse(lastSeenAt);
}

/** The user's record after a sighting, or null where it isn't worth a write. Of one that comes late holds what isn't known since. */
export function afterSeen(before: UserRecord | null, seen: Sighting): UserRecord | null {
  const comesLate = before !== null && isPast(before.lastSeenAt, seen);
  const latest = (known: string | null = null, told: string | null = null) => (comesLate ? (known ?? told) : (told ?? known));
  const after: UserRecord = {
    displayName: latest(before?.displayName, seen.displayName),
    provider: latest(before?.provider, seen.provider),
    timeZone: latest(before?.timeZone, seen.timeZone),
    firstSeenAt: before?.firstSeenAt ?? seen.at,
    lastSeenAt: comesLate ? before.lastSeenAt : seen.at,
  };
  if (before === null) return after;
  const news = after.displayName !== before.displayName || after.provider !== before.provider || after.timeZone !== before.timeZone;
  return news || isDue(before.lastSeenAt, seen) ? after : null;
}
