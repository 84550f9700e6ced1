import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { assertSameLayout } from "../../../platform/storage-errors.js";
import type { Commit, KeyRange, StoredEntry } from "../../engine.js";
import type { Seen } from "../../optimistic-heads.js";
import { OWNER_KEY } from "../../partition.js";
import { EMPTY_HEAD, type PartitionHead } from "../../partition-head.js";
import { type Document, type DocumentReference, type FirestoreClient, isConflict, type Query, type Timestamp } from "./firestore-client.js";

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

/** 2: a session's row names its turns by place. */
const LAYOUT = 2;

/** A document for each partition, with its head. */
export const PARTITIONS = "maitred";
/** Below each of them a document for each key. */
export const ENTRIES = "maitred_entries";

/** The id that the database has as a store of this kind; the first process makes it. @throws STORAGE_UNAVAILABLE with what to do */
export async function openInstallation(db: FirestoreClient): Promise<string> {
  const own = installationOf(db);
  for (;;) {
    const found = await own.get();
    // What lists partitions needs an index, and is told so at once.
    await db.collectionGroup(ENTRIES).where("key", "==", OWNER_KEY).orderBy("partition").limit(1).get();
    if (found.exists) {
      assertSameLayout("What Firestore holds is", found.get("layout"), LAYOUT, "name another database with FIRESTORE_DATABASE");
      return String(found.get("id"));
    }
    if ((await db.collection(PARTITIONS).limit(1).get()).docs.length > 0) throw incomplete();
    await unlessConflict(own.create({ id: newId(), layout: LAYOUT, beatAtMs: 0 }));
  }
}

export function installationOf(db: FirestoreClient): DocumentReference {
  return db.doc("maitred_installation/current");
}

/** Writes to what was opened. False where it is gone, or another one. */
export async function beatOf(db: FirestoreClient, installation: string): Promise<boolean> {
  const own = installationOf(db);
  if ((await own.get()).get("id") !== installation) return false;
  const batch = db.batch();
  batch.update(own, { beatAtMs: Date.now() }, { exists: true });
  // Others may do the same at the same time, which is as good.
  await unlessConflict(batch.commit());
  return true;
}

function incomplete(): AppError {
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: `Firestore's collection \`${PARTITIONS}\` holds documents, and \`maitred_installation\` none.`,
    hint: "It was restored in part, or is somebody else's: restore it whole, or name another database with FIRESTORE_DATABASE.",
  });
}
