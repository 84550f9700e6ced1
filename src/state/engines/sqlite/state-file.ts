import { openDatabase } from "../../../platform/sqlite.js";

/** Copies the file as it is at one moment, also while its process writes. `to` must not be there. */
export function copyStateFile(path: string, to: string): void {
  const db = openDatabase(path, { readonly: true, fileMustExist: true });
  try {
    db.prepare("VACUUM INTO ?").run(to);
  } finally {
    db.close();
  }
}
