import { join } from "node:path";
import type { Owner } from "../../domain/owner.js";
import type { FileSystem, OpenFile } from "../../platform/file-system.js";
import { isId } from "../../platform/ids.js";
import { JsonlLog } from "../../platform/jsonl-log.js";
import { headOf, ownerMark } from "../journal/journal-codec.js";
import { ownerOfLog } from "./journal-file.js";
import { readPackedHeader } from "./packed-journal.js";

type JournalKind = "journal" | "packed";
const SUFFIX = { journal: ".jsonl", packed: ".jsonl.gz" } as const;
const TEMPORARY = ".tmp";
const NAME = /^(.{36})\.jsonl(\.gz)?(\.tmp)?$/;

/** The names in a storage directory. Only ids that were checked become part of a path. */
export class JournalDirectory {
  readonly #dir: string;
  readonly #fs: FileSystem;

  constructor(dir: string, fs: FileSystem) {
    this.#dir = dir;
    this.#fs = fs;
  }

  path(sessionId: string, kind: JournalKind): string {
    return join(this.#dir, `${sessionId}${SUFFIX[kind]}`);
  }

  /** Removes the temporary files that a crash left. */
  async prepare(): Promise<void> {
    for (const name of await this.#fs.readdir(this.#dir)) {
      if (name.endsWith(TEMPORARY) && idOf(name) !== null) await this.#fs.unlink(join(this.#dir, name));
    }
  }

  /** Ids of all sessions that have a file of any kind here, temporary ones included. */
  async sessionIds(): Promise<string[]> {
    const names = await this.#fs.readdir(this.#dir);
    return [...new Set(names.map(idOf).filter((id) => id !== null))];
  }

  /** Puts a new file in the place of the old one, or of none: written and synced aside, renamed, name synced. */
  async replaceRaw(sessionId: string, kind: JournalKind, fill: (file: OpenFile) => Promise<void>): Promise<void> {
    const file = await this.#fs.open(this.#temporary(sessionId, kind), "create");
    await this.#moveIn(sessionId, kind, file, () => fill(file));
  }

  async replaceLog(sessionId: string, fill: (log: JsonlLog) => Promise<void>): Promise<void> {
    const log = await JsonlLog.create(this.#fs, this.#temporary(sessionId, "journal"));
    await this.#moveIn(sessionId, "journal", log, () => fill(log));
  }

  async #moveIn(sessionId: string, kind: JournalKind, file: { close(): Promise<void> }, fill: () => Promise<void>): Promise<void> {
    const temporary = this.#temporary(sessionId, kind);
    try {
      try {
        await fill();
      } finally {
        await file.close();
      }
      await this.#fs.rename(temporary, this.path(sessionId, kind));
    } catch (error) {
      await this.#fs.unlink(temporary).catch(() => undefined);
      throw error;
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  /** Without effect when it isn't there. */
  async remove(sessionId: string, kind: JournalKind): Promise<void> {
    await this.#removePath(this.path(sessionId, kind));
  }

  async removeTemporary(sessionId: string): Promise<void> {
    for (const kind of ["journal", "packed"] as const) await this.#removePath(this.#temporary(sessionId, kind));
  }

  async #removePath(path: string): Promise<void> {
    if ((await this.#fs.stat(path)) === null) return;
    await this.#fs.unlink(path);
    await this.#fs.syncDirectory(this.#dir);
  }

  /** How many of a session's files, temporary ones included, are this owner's, by what stands in them. */
  async filesOf(sessionId: string, owner: Owner): Promise<number> {
    let found = 0;
    for (const suffix of ["", TEMPORARY]) {
      if (await this.#logBelongs(`${this.path(sessionId, "journal")}${suffix}`, owner)) found += 1;
      const header = await readPackedHeader(this.#fs, `${this.path(sessionId, "packed")}${suffix}`);
      if (header?.owner === owner) found += 1;
    }
    return found;
  }

  async #logBelongs(path: string, owner: Owner): Promise<boolean> {
    const opened = await JsonlLog.open(this.#fs, path);
    if (opened === null) return false;
    try {
      const head = await opened.log.lineAt(0);
      const whose = head === null ? null : headOf(head)?.owner;
      if (whose != null) return whose === owner;
      return (await ownerOfLog(opened.log))?.mark === ownerMark(owner);
    } finally {
      await opened.log.close();
    }
  }

  #temporary(sessionId: string, kind: JournalKind): string {
    return `${this.path(sessionId, kind)}${TEMPORARY}`;
  }
}

function idOf(name: string): string | null {
  const id = NAME.exec(name)?.[1];
  return id !== undefined && isId(id) ? id : null;
}
