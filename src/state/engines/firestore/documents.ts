import type { Commit, KeyRange, StoredEntry } from "../../engine.js";
import type { Seen } from "../../optimistic-heads.js";
import { OWNER_KEY } from "../../partition.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";
import type { Document, DocumentReference, Query, Timestamp } from "./firestore-client.js";
import { isConflict } from "./firestore-errors.js";
import { ENTRIES } from "./installation.js";

/** A document's id can't hold a `/`. `.:` stands for it and `.-` for a point, so that ids are in the order of what they are made of. */
export function documentId(key: string): string {
  return key.replace(/[./]/g, (character) => (character === "/" ? ".:" : ".-"));
}

export function nameOfDocument(id: string): string {
  return id.replace(/\.[:-]/g, (code) => (code === ".:" ? "/" : "."));
}

/** Null where somebody else was faster. */
export function unlessConflict<T>(write: Promise<T>): Promise<T | null> {
  return write.catch((error: unknown) => (isConflict(error) ? null : Promise.reject(error)));
}

/** Who a partition is, beside its head: for people who look for a user. */
export function ownerIn(puts: NonNullable<Commit["puts"]>, deletes: readonly string[]): { readonly owner?: string | null } {
  const named = puts.findLast(({ key }) => key === OWNER_KEY);
  if (named !== undefined) return { owner: named.value };
  return deletes.includes(OWNER_KEY) ? { owner: null } : {};
}

/** Keys that must not be there yet. */
export function madeIn(checks: NonNullable<Commit["checks"]>): ReadonlySet<string> {
  return new Set(checks.filter(({ version }) => version === null).map(({ key }) => key));
}

export function lookedAt(document: Document): Pick<Seen<Timestamp>, "head" | "tag" | "nowMs"> {
  const head: PartitionHead = { ...EMPTY_HEAD, ...(document.data() as PartitionHead | undefined) };
  return { head, tag: document.updateTime, nowMs: document.readTime.toMillis() };
}

export function entryRef(head: DocumentReference, key: string): DocumentReference {
  return head.collection(ENTRIES).doc(documentId(key));
}

export function entryOf(document: Document): StoredEntry {
  return { key: String(document.get("key")), value: String(document.get("value")), version: Number(document.get("version")) };
}

export function ofRange(entries: Query, { from, to, limit, reverse = false }: KeyRange): Query {
  const query = entries
    .where("key", ">=", from)
    .where("key", "<", to)
    .orderBy("key", reverse ? "desc" : "asc");
  return limit === undefined ? query : query.limit(limit);
}
