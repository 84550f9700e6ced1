import { AppError } from "../platform/errors.js";
import type { Commit, EngineManifest } from "./engine.js";

/** @throws COMMIT_TOO_LARGE where the commit is more than the engine takes at once */
export function assertFits(
  { maxOperations, maxValueBytes, maxCommitBytes }: Pick<EngineManifest, "maxOperations" | "maxValueBytes" | "maxCommitBytes">,
  { puts = [], deletes = [] }: Commit,
): void {
  const operations = puts.length + deletes.length;
  if (operations > maxOperations) throw tooLarge(`A commit of ${operations} operations; ${maxOperations} are the most.`);
  let bytes = 0;
  for (const { key, value } of puts) {
    const valueBytes = Buffer.byteLength(value);
    if (valueBytes > maxValueBytes) throw tooLarge(`A value of ${valueBytes} bytes; ${maxValueBytes} are the most.`);
    bytes += Buffer.byteLength(key) + valueBytes;
  }
  for (const key of deletes) bytes += Buffer.byteLength(key);
  if (bytes > maxCommitBytes) throw tooLarge(`A commit of ${bytes} bytes; ${maxCommitBytes} are the most.`);
}

function tooLarge(detail: string): AppError {
  return new AppError("COMMIT_TOO_LARGE", { detail });
}
