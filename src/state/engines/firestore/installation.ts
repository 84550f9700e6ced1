import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { assertKnownLayout } from "../../../platform/layout-version.js";
import { OWNER_KEY } from "../../partition.js";
import type { DocumentReference, FirestoreClient } from "./firestore-client.js";
import { firestoreError, isConflict } from "./firestore-errors.js";

const LAYOUT = 1;

/** A document for each partition, with its head. */
export const PARTITIONS = "maitred";
/** Below each of them a document for each key. */
export const ENTRIES = "maitred_entries";

/** The id that the database has as a store of this kind; the first process makes it. @throws STORAGE_UNAVAILABLE with what to do */
export async function openInstallation(db: FirestoreClient): Promise<string> {
  const own = installationOf(db);
  try {
    for (;;) {
      const found = await own.get();
      // What lists partitions needs an index, and is told so at once.
      await db.collectionGroup(ENTRIES).where("key", "==", OWNER_KEY).orderBy("partition").limit(1).get();
      if (found.exists) {
        assertKnownLayout("What Firestore holds is", found.get("layout"), LAYOUT, "name another database with FIRESTORE_DATABASE");
        return String(found.get("id"));
      }
      if ((await db.collection(PARTITIONS).limit(1).get()).docs.length > 0) throw incomplete();
      await own.create({ id: newId(), layout: LAYOUT, beatAtMs: 0 }).catch((error) => (isConflict(error) ? null : Promise.reject(error)));
    }
  } catch (error) {
    throw firestoreError(error);
  }
}

export function installationOf(db: FirestoreClient): DocumentReference {
  return db.doc("maitred_installation/current");
}

function incomplete(): AppError {
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: `Firestore's collection \`${PARTITIONS}\` holds documents, and \`maitred_installation\` none.`,
    hint: "It was restored in part, or is somebody else's: restore it whole, or name another database with FIRESTORE_DATABASE.",
  });
}
