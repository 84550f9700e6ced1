import { type BigIntStats, constants } from "node:fs";
import { copyFile, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import { AppError } from "../../platform/errors.js";
import { errnoOf, makeDirectory } from "../../platform/file-system.js";
import { onStorage } from "../../platform/storage-errors.js";
import type { BackupOptions, BackupReport } from "../../ports/backups.js";
import { LAST_TOMBSTONE_KEY } from "../ledger/ledger-keys.js";
import { BACKUP_FILE, isDecisive, isJournal } from "./backup-contents.js";
import { RebuildMarker } from "./rebuild-marker.js";
import { requireNotFormer, STATE_FILE, type StateFile } from "./state-file.js";
import { syncPath } from "./sync-path.js";

export interface DirectoryBackupOptions extends BackupOptions {
  readonly now: Date;
  readonly version: string;
  readonly state: StateFile;
}

/** As often it is looked whether something was taken out meanwhile, this long after each other. */
const MAX_ROUNDS = 100;
const NEXT_ROUND_MS = 100;

/**
 * Copies what decides out of a storage directory that a server may be writing to: journals, lists of sessions, then {@link STATE_FILE} as
 * it is at one moment. What follows from these (what is listed of sessions, vectors) is made anew after a restore. Every answer that was
 * given before it began is in it, some of later ones may be. What is erased, purged or forgotten while it runs is taken out of the copy
 * too: it is looked until a look finds nothing taken out. The file {@link BACKUP_FILE} is written last and says that the copy is whole.
 * @throws INVALID_CONFIG for a directory of an older version, TARGET_NOT_EMPTY, STORAGE_UNAVAILABLE, STORAGE_DAMAGED, ABORTED
 */
export async function backUp(dir: string, target: string, options: DirectoryBackupOptions): Promise<BackupReport> {
  await requireApart(dir, target);
  return onStorage(async () => {
    await requireNotFormer(dir);
    await makeDirectory(target);
    if ((await readdir(target)).length > 0) throw new AppError("TARGET_NOT_EMPTY", { hint: "Name a directory that is not there yet." });
    const copy = new Copy(dir, target, options);
    for (let round = 1; await copy.round(); round++) {
      if (round === MAX_ROUNDS) throw new AppError("STORAGE_UNAVAILABLE", { detail: "Users were being erased all the time." });
      await pause(NEXT_ROUND_MS);
    }
    const report = { v: 1, at: options.now.toISOString(), maitred: options.version, ...copy.counts() } as const;
    await writeFile(join(target, BACKUP_FILE), `${JSON.stringify(report)}\n`, { flush: true });
    return report;
  });
}

/** @throws INVALID_REQUEST for a backup into the directory itself */
async function requireApart(dir: string, target: string): Promise<void> {
  const way = relative(dir, target);
  if (way === "" || !(way.startsWith("..") || way.startsWith("/")))
    throw new AppError("INVALID_REQUEST", {
      detail: "The backup would lie in the storage directory.",
      hint: "Name a directory elsewhere.",
    });
}

/** What tells one file from another that took its place. */
type Identity = Pick<BigIntStats, "ino" | "birthtimeNs">;

class Copy {
  readonly #dir: string;
  readonly #target: string;
  readonly #options: DirectoryBackupOptions;
  /** By path from the directory. */
  readonly #copied = new Map<string, Identity>();
  /** What the copied state has of erasures. */
  #erasures = "";
  /** Sessions that were there at the first look: only these are looked at again. */
  #sessions: ReadonlySet<string> | null = null;

  constructor(dir: string, target: string, options: DirectoryBackupOptions) {
    this.#dir = dir;
    this.#target = target;
    this.#options = options;
  }

  /** Copies what is new, again what was replaced, and removes what is gone. Whether anything was taken out of what was copied before. */
  async round(): Promise<boolean> {
    const found = await this.#list();
    let changed = this.#sessions === null;
    this.#sessions ??= new Set(found.filter(isJournal).map(sessionOf));
    const there = new Set(found);
    for (const path of [...this.#copied.keys()].filter((each) => !there.has(each))) {
      await this.#drop(path);
      changed = true;
    }
    let done = 0;
    const take = (paths: readonly string[], options: { readonly again: boolean }) =>
      eachInParallel(paths, async (path) => {
        this.#options.signal.throwIfAborted();
        if (await this.#take(path, options)) changed = true;
        this.#options.onProgress(++done, found.length);
      });
    const [journals, lists] = [found.filter(isJournal), found.filter(isList)];
    await take(journals, { again: false });
    // After the journals: a list has what was begun before.
    await take(lists, { again: changed });
    await take(
      found.filter((path) => !isJournal(path) && !isList(path) && path !== STATE_FILE),
      { again: false },
    );
    // After the journals, too: what one says to be written back must stand in the memory log.
    if (there.has(STATE_FILE) && (changed || this.#erasuresIn(this.#dir) !== this.#erasures)) {
      await this.#copyState();
      changed = true;
    }
    return changed;
  }

  counts(): Pick<BackupReport, "sessions" | "files"> {
    return { sessions: this.#sessions?.size ?? 0, files: this.#copied.size };
  }

  async #list(): Promise<string[]> {
    const entries = await readdir(this.#dir, { recursive: true, withFileTypes: true });
    const paths = entries.filter((each) => each.isFile()).map((each) => relative(this.#dir, join(each.parentPath, each.name)));
    return paths.filter((path) => isDecisive(path) && (!isJournal(path) || (this.#sessions?.has(sessionOf(path)) ?? true)));
  }

  /** Copies what is not there yet; `again`: also what is. Whether something that was copied before was replaced or is gone. */
  async #take(path: string, { again }: { readonly again: boolean }): Promise<boolean> {
    const before = this.#copied.get(path);
    const now = await stat(join(this.#dir, path), { bigint: true }).catch(ifMissing);
    const same = now !== null && before?.ino === now.ino && before.birthtimeNs === now.birthtimeNs;
    if (same && !again) return false;
    await this.#drop(path);
    if (now === null) return before !== undefined;
    await mkdir(dirname(join(this.#target, path)), { recursive: true });
    const copied = await copyFile(join(this.#dir, path), join(this.#target, path), constants.COPYFILE_FICLONE).then(() => true, ifMissing);
    if (copied === null) return before !== undefined;
    this.#copied.set(path, { ino: now.ino, birthtimeNs: now.birthtimeNs });
    await syncPath(join(this.#target, path));
    return before !== undefined && !same;
  }

  /** With what the journals have beyond the copy of them, so that the index is made anew from these. */
  async #copyState(): Promise<void> {
    const [from, to] = [join(this.#dir, STATE_FILE), join(this.#target, STATE_FILE)];
    await rm(to, { force: true });
    this.#options.state.copy(from, to);
    this.#erasures = this.#erasuresIn(this.#target);
    const engine = await this.#options.state.open(to);
    await new RebuildMarker(engine).leave();
    await engine.close();
    await syncPath(to);
    this.#copied.set(STATE_FILE, await stat(from, { bigint: true }));
  }

  #erasuresIn(dir: string): string {
    return this.#options.state.erasures(join(dir, STATE_FILE), LAST_TOMBSTONE_KEY);
  }

  async #drop(path: string): Promise<void> {
    this.#copied.delete(path);
    await rm(join(this.#target, path), { force: true });
  }
}

/** Of an owner's sessions. */
function isList(path: string): boolean {
  return path.startsWith(`owners${sep}`);
}

function sessionOf(path: string): string {
  return path.slice(0, path.indexOf("."));
}

function ifMissing(error: unknown): null {
  if (errnoOf(error) === "ENOENT") return null;
  throw error;
}
