import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { AppError } from "../platform/errors.js";
import { makeDirectory } from "../platform/file-system.js";
import { canonicalJson, parsedJson } from "../platform/json.js";
import { onStorage } from "../platform/storage-errors.js";
import type { ReadableState } from "../ports/transfer.js";
import type { CopyInUseOptions } from "./copy-in-use.js";
import type { MigrationReport } from "./migrate.js";
import { PartitionReader } from "./partition-reader.js";
import { eachPartition, portable } from "./portable-entries.js";
import { type StateCounts, StateTally } from "./state-counts.js";

/** All state, journals too, as rows of a SQLite file. */
export const BACKUP_STATE = "backup.db";
/** Written last: it says that a backup is whole. */
const BACKUP_FILE = "backup.json";

export interface BackupReport {
  readonly v: 1;
  /** When it began: what was answered before is in it. */
  readonly at: string;
  /** The version that made it. */
  readonly maitred: string;
  /** Of all else in the report, as canonical JSON, and {@link BACKUP_STATE} behind it. */
  readonly sha256: string;
  readonly holds: StateCounts;
  /** It is encrypted, and its keys are not in it: who is erased later can't be read in it any more. Absent where it is not. */
  readonly encrypted?: true;
  /** What could not be read in the store, and so is not in it. */
  readonly left_behind: MigrationReport["left_behind"];
}

/** Copies of all state into a directory, while servers may be using it, and back into an empty store while none is. */
export interface Backups {
  /** @throws INVALID_REQUEST, TARGET_NOT_EMPTY, STORAGE_IN_USE for half of a move, STORAGE_UNAVAILABLE, STORAGE_DAMAGED, ABORTED */
  backUp(to: string, options: CopyInUseOptions): Promise<BackupReport>;
  /** @throws INVALID_REQUEST, STORAGE_DAMAGED for a damaged backup, TARGET_NOT_EMPTY, STORAGE_IN_USE, STORAGE_UNAVAILABLE, ABORTED */
  restore(from: string, options: CopyInUseOptions): Promise<RestoreReport>;
}

/** The same broken off goes on. */
export interface RestoreReport extends MigrationReport {
  /** Of the backup. */
  readonly at: string;
}

/** What a restore needs to know of it. */
const reportSchema = z.looseObject({ v: z.literal(1), at: z.string(), sha256: z.string() });

/** Makes the directory. @throws TARGET_NOT_EMPTY, STORAGE_UNAVAILABLE */
export function beginBackup(dir: string): Promise<void> {
  return onStorage(async () => {
    await makeDirectory(dir);
    if ((await readdir(dir)).length > 0) throw new AppError("TARGET_NOT_EMPTY", { hint: "Name a directory that is not there yet." });
  });
}

/** Says that it is whole: {@link BACKUP_STATE} is closed, and is not changed any more. @throws STORAGE_UNAVAILABLE */
export function endBackup(dir: string, given: Omit<BackupReport, "v" | "sha256">): Promise<BackupReport> {
  return onStorage(async () => {
    const about = { v: 1, ...given } as const;
    const report = { ...about, sha256: await digestOf(dir, about) };
    await writeFile(join(dir, BACKUP_FILE), `${JSON.stringify(report)}\n`, { flush: true });
    return report;
  });
}

/** Reads all of it. @throws INVALID_REQUEST where it isn't whole, STORAGE_DAMAGED where it isn't what was written */
export async function soundBackup(dir: string): Promise<Pick<BackupReport, "at">> {
  const text = await readFile(join(dir, BACKUP_FILE), "utf8").catch(() => "");
  const report = reportSchema.safeParse(parsedJson(text));
  if (!report.success)
    throw new AppError("INVALID_REQUEST", {
      detail: `There is no whole backup: ${BACKUP_FILE}, which is written last, is missing or says something else.`,
      hint: "Name the directory that `maitred backup` made. One that was broken off can't be restored.",
    });
  const { sha256, ...about } = report.data;
  if ((await onStorage(() => digestOf(dir, about))) === sha256) return about;
  throw new AppError("STORAGE_DAMAGED", {
    detail: `The backup is damaged: what lies in ${dir} is not what was written there. Nothing was restored.`,
    hint: "Restore another copy of it, or an older backup.",
  });
}

/** Counts what a store holds, all of which is read. */
export async function countsOf(state: ReadableState, signal: AbortSignal): Promise<StateCounts> {
  const tally = new StateTally();
  await eachPartition(state, signal, async (partition, either) => {
    const add = tally.partition();
    for await (const { key, value } of portable(new PartitionReader(state, partition).entries(either))) add(key, value);
  });
  return tally.counts();
}

async function digestOf(dir: string, about: object): Promise<string> {
  const hash = createHash("sha256").update(canonicalJson(about));
  await pipeline(createReadStream(join(dir, BACKUP_STATE)), hash);
  return hash.digest("hex");
}
