import { AppError } from "../platform/errors.js";
import type { Commit, EngineManifest } from "./engine.js";

type Limits = Pick<EngineManifest, "maxOperations" | "maxCommitBytes">;
type Sized = Pick<Commit, "puts" | "deletes">;

/** @throws COMMIT_TOO_LARGE where the commit is more than the engine takes at once */
export function assertFits(
  { maxOperations, maxValueBytes, maxCommitBytes }: Limits & Pick<EngineManifest, "maxValueBytes">,
  commit: Sized,
): void {
  assertAtMost("commit", operationsOf(commit), "operations", maxOperations);
  for (const { value } of commit.puts ?? []) assertAtMost("value", Buffer.byteLength(value), "bytes", maxValueBytes);
  assertAtMost("commit", bytesOf(commit), "bytes", maxCommitBytes);
}

function assertAtMost(what: string, is: number, unit: string, most: number): void {
  if (is > most) throw new AppError("COMMIT_TOO_LARGE", { detail: `A ${what} of ${is} ${unit}; ${most} are the most.` });
}

/** Whether the engine takes it at once. */
export function fits({ maxOperations, maxCommitBytes }: Limits, commit: Sized): boolean {
  return operationsOf(commit) <= maxOperations && bytesOf(commit) <= maxCommitBytes;
}

function bytesOf({ puts = [], deletes = [] }: Sized): number {
  const put = puts.reduce((bytes, { key, value }) => bytes + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return deletes.reduce((bytes, key) => bytes + Buffer.byteLength(key), put);
}

function operationsOf({ puts = [], deletes = [] }: Sized): number {
  return puts.length + deletes.length;
}

/** Changes in as few commits as the engine takes, each change whole. */
export function* inCommits<T extends Sized>(limits: Limits, changes: Iterable<T>): Generator<readonly T[]> {
  let batch: T[] = [];
  let operations = 0;
  let bytes = 0;
  for (const change of changes) {
    const [more, size] = [operationsOf(change), bytesOf(change)];
    if (batch.length > 0 && (operations + more > limits.maxOperations || bytes + size > limits.maxCommitBytes)) {
      yield batch;
      [batch, operations, bytes] = [[], 0, 0];
    }
    batch.push(change);
    operations += more;
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
