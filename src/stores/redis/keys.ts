import { type Owner, ownerHash } from "../../domain/owner.js";
import { SESSION_STATUSES, type SessionStatus } from "../../domain/session.js";

const IDEMPOTENCY_KEYS = ["idempotency", "idempotencyAt"] as const;
/** Of an owner's keys those that have a time of their own, or none, whatever that of their sessions is. */
export const LASTING_KEYS = ["own", "leases", "outbox", ...IDEMPOTENCY_KEYS] as const;
/** What the index has of an owner's sessions, beside their order. */
export const INDEXED_KEYS = ["states", "indexed", "external", "pending", "failed", "claims"] as const;

/**
 * The keys of one owner. All carry the owner's hash in braces, so that they share a slot of a Cluster and one script may touch them all.
 *
 * - `own` (hash): epoch, whether an erasure is open, the counter of fences, and which hints stand. Outlives an erasure.
 * - `leases` (hash): the locks that are held for the owner.
 * - `outbox` (list): events that were written with what they tell of, and are not in the event log yet.
 * - `idempotency` (hash, zset by time): gone by itself a day after the last key.
 * - `journals` (hash): each session with its last seq.
 * - `states`, `indexed` (hashes): what the index holds of each session, and up to which seq.
 * - `external` (zset): sessions by external id.
 * - `pending`, `failed` (hashes): turns whose write-back is not done; `claims` (hash): until when a worker has one.
 * - `images` (hash): by session and id.
 * - `ledger` (hash), `log`, `logHead` (hashes): tombstones, receipts and the like; the memory log by seq.
 */
const OWNER_KEYS = [...LASTING_KEYS, "journals", ...INDEXED_KEYS, "ledger", "log", "logHead", "images"] as const;

/** A status's sessions by last activity, by how long they have been as they are, and by when they end (zsets, in milliseconds). */
export type OrderKey = `${"listed" | "since" | "expires"}:${SessionStatus}`;
export const ORDER_KEYS: readonly OrderKey[] = SESSION_STATUSES.flatMap((status): OrderKey[] => [
  `listed:${status}`,
  `since:${status}`,
  `expires:${status}`,
]);

/**
 * The keys of one session: its head (hash), its records by seq (hash), the seqs of completed answers, user messages and summaries (zsets),
 * the first seq of each turn (hash), and what a rewind goes back to: standings (zset by seq) with the texts of their summaries (hash).
 */
export const SESSION_KEYS = ["head", "records", "answers", "asked", "summaries", "turns", "standings", "texts"] as const;

export type OwnerKey = (typeof OWNER_KEYS)[number] | OrderKey;
export type SessionKey = (typeof SESSION_KEYS)[number];
export type KeyName = OwnerKey | SessionKey;
export type Keys = Readonly<Record<KeyName, string>>;

/** What the index keeps of an owner, and of a session. */
export const INDEX_KEYS: readonly OwnerKey[] = [...INDEXED_KEYS, ...IDEMPOTENCY_KEYS, ...ORDER_KEYS];

const HASH_CHARS = 32;

/** The owner's part of every key of theirs: half of their SHA-256. */
export function tagOf(owner: Owner): string {
  return tagOfHash(ownerHash(owner));
}

export function tagOfHash(hash: string): string {
  return hash.slice(0, HASH_CHARS);
}

/** An owner's keys by their tag, and those of one of their sessions; where there is none, the session's are of no use. */
export function keysOf(prefix: string, tag: string, sessionId = ""): Keys {
  const base = `${prefix}:{${tag}}`;
  const owner = [...OWNER_KEYS, ...ORDER_KEYS].map((name) => [name, `${base}:${name}`]);
  const session = SESSION_KEYS.map((name) => [name, `${base}:session:${sessionId}:${name}`]);
  return Object.fromEntries([...owner, ...session]) as Keys;
}

/** Which owner a session is of: the one key by session alone. */
export function sessionOwnerKey(prefix: string, sessionId: string): string {
  return `${prefix}:session:${sessionId}`;
}
