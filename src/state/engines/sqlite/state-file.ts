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

/** Another answer after each erasure, and each time that `key` was put in any partition; also of a file that its process writes. */
export function erasuresOf(path: string, key: string): string {
  const db = openDatabase(path, { readonly: true, fileMustExist: true });
  try {
    return db
      .prepare<[string], { sign: string }>(
        `SELECT printf('%d/%d', total(p.epoch), total(e.version)) AS sign
         FROM partitions p LEFT JOIN entries e ON e.partition = p.partition AND e.key = ?`,
      )
      .all(key)
      .map(({ sign }) => sign)
      .join();
  } finally {
    db.close();
  }
}
