import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { derivedId, newId } from "../../platform/ids.js";
import type { ErasureReceipt, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import type { LedgerContents } from "../../ports/transfer.js";
import { type Kept, keptJson, opened } from "./kept-content.js";

const counts = z.record(z.string(), z.number());

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
});
const user = z.object({
  displayName: z.string().nullable(),
  provider: z.string().nullable(),
  timeZone: z.string().nullable(),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
});
const audit = z.object({
  at: z.string(),
  action: z.enum(["export", "erase", "forget", "purge_session", "delete_memories", "import", "merge", "unmerge"]),
  by: z.string(),
  receiptId: z.string().nullable(),
  counts,
});
const receipt = z.object({
  receipt_id: z.string(),
  completed_at: z.string(),
  erased: counts,
  verified: z.boolean(),
  residue: counts.exactOptional(),
});

/** One line of a ledger. The owner's name stands only in the intent of an erasure that is still open. */
export const ledgerEntrySchema = z.discriminatedUnion("type", [
  z.object({ v: z.literal(1), type: z.literal("tombstone"), tombstone }),
  z.object({ v: z.literal(1), type: z.literal("user"), user }),
  z.object({ v: z.literal(1), type: z.literal("audit"), entry: audit }),
  z.object({ v: z.literal(1), type: z.literal("progress"), job: z.string(), cursor: z.string() }),
  z.object({ v: z.literal(1), type: z.literal("erasure_begun"), owner: z.string(), at: z.string(), epoch: z.number().int() }),
  z.object({ v: z.literal(1), type: z.literal("erasure_withdrawn"), epoch: z.number().int() }),
  z.object({ v: z.literal(1), type: z.literal("erased"), epoch: z.number().int(), receipt }),
]);
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

/** As JSON text. What tells of a person passes the codec; counts, epochs and receipts, which outlive an erasure, stand as they are. */
export function keptEntry(entry: LedgerEntry, kept: Kept): string {
  return keptJson(entry, entry.type === "user" || entry.type === "tombstone" ? kept : null);
}

/** @throws where the text is no entry, or needs a codec that is not there */
export function openedEntry(json: string, kept: Kept): LedgerEntry {
  return ledgerEntrySchema.parse(opened(JSON.parse(json), kept));
}

/** A ledger as it stands after its lines. */
export type LedgerState = LedgerContents;

export const EMPTY_LEDGER: LedgerState = {
  tombstones: [],
  user: null,
  audit: [],
  progress: new Map(),
  receipts: [],
  epoch: 0,
  open: null,
};

/** Pure: one line folded in. */
export function foldLedger(state: LedgerState, entry: LedgerEntry): LedgerState {
  switch (entry.type) {
    case "tombstone":
      return {
        ...state,
        tombstones: [...state.tombstones.filter(({ memoryId }) => memoryId !== entry.tombstone.memoryId), entry.tombstone],
      };
    case "user":
      return { ...state, user: entry.user };
    case "audit":
      return { ...state, audit: [...state.audit, entry.entry] };
    case "progress":
      return { ...state, progress: new Map(state.progress).set(entry.job, entry.cursor) };
    case "erasure_begun":
      // Written by the ledger alone, from an Owner.
      return { ...state, epoch: entry.epoch, open: { owner: entry.owner as Owner, epoch: entry.epoch, at: entry.at } };
    case "erasure_withdrawn":
      return { ...state, epoch: entry.epoch, open: null };
    case "erased":
      return { ...state, epoch: entry.epoch, open: null, receipts: [...state.receipts, entry.receipt] };
  }
}

export function tombstoneEntry({ messageIds, askedIn, ...tombstone }: Tombstone): LedgerEntry {
  const asked = askedIn === undefined ? {} : { askedIn: [...askedIn] };
  return { v: 1, type: "tombstone", tombstone: { ...tombstone, messageIds: [...messageIds], ...asked } };
}

/** What stays of a ledger when an erasure is complete: epoch, audit trail, receipts, and the progress of the jobs to `keep`. */
export function erasedEntries(state: LedgerState, receipt: ErasureReceipt, keep: readonly string[] = []): LedgerEntry[] {
  const receipts = [...state.receipts.filter(({ receipt_id }) => receipt_id !== receipt.receipt_id), receipt];
  const progress = new Map([...state.progress].filter(([job]) => keep.includes(job)));
  return entriesOf({ ...EMPTY_LEDGER, audit: state.audit, receipts, progress, epoch: state.epoch });
}

/** Entries that fold into the same again. */
export function entriesOf(contents: LedgerContents): LedgerEntry[] {
  const { tombstones, user, audit, progress, receipts, epoch, open } = contents;
  return [
    ...(user === null ? [] : [{ v: 1, type: "user", user: { ...user } } as const]),
    ...tombstones.map(tombstoneEntry),
    ...[...progress].map(([job, cursor]): LedgerEntry => ({ v: 1, type: "progress", job, cursor })),
    ...audit.map((entry): LedgerEntry => ({ v: 1, type: "audit", entry: { ...entry } })),
    // Else the receipts, or the intent that is open, tell the epoch.
    ...(receipts.length === 0 && open === null && epoch > 0 ? [{ v: 1, type: "erasure_withdrawn", epoch } as const] : []),
    ...receipts.map((receipt): LedgerEntry => ({ v: 1, type: "erased", epoch, receipt: { ...receipt } })),
    ...(open === null ? [] : [{ v: 1, type: "erasure_begun", ...open } as const]),
  ];
}

/** The slot of an erasure that is open. */
export const ERASURE_SLOT = "erasure";

/** For stores that keep entries by slot: a later entry takes the place of the one before it in the same slot. */
export function slotOf(entry: LedgerEntry): string {
  switch (entry.type) {
    case "tombstone":
      return `tombstone:${entry.tombstone.memoryId}`;
    case "user":
      return "user";
    case "progress":
      return `progress:${entry.job}`;
    case "erasure_begun":
      return ERASURE_SLOT;
    case "erasure_withdrawn":
      return "withdrawn";
    case "erased":
      return `receipt:${entry.receipt.receipt_id}`;
    case "audit":
      return `audit:${newId()}`;
  }
}

/** The same for every try of one erasure, and on every replica. */
export function receiptIdOf(owner: Owner, epoch: number): string {
  return derivedId("receipt", owner, epoch);
}

/** Only a later sighting of nothing new is left out, for a minute. */
const SEEN_THROTTLE_MS = 60_000;

export interface Sighting {
  readonly at: string;
  readonly displayName?: string;
  readonly provider?: string;
  readonly timeZone?: string;
}

/** The user's record after a sighting, or null where it isn't worth a line. */
export function afterSeen(before: UserRecord | null, seen: Sighting): UserRecord | null {
  const after: UserRecord = {
    displayName: seen.displayName ?? before?.displayName ?? null,
    provider: seen.provider ?? before?.provider ?? null,
    timeZone: seen.timeZone ?? before?.timeZone ?? null,
    firstSeenAt: before?.firstSeenAt ?? seen.at,
    lastSeenAt: seen.at,
  };
  if (before === null) return after;
  const news = after.displayName !== before.displayName || after.provider !== before.provider || after.timeZone !== before.timeZone;
  const due = Date.parse(seen.at) - Date.parse(before.lastSeenAt) >= SEEN_THROTTLE_MS;
  return news || due ? after : null;
}
