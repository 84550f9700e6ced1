import { join } from "node:path";
import type { FileSystem } from "../../platform/file-system.js";
import { newId } from "../../platform/ids.js";
import { JsonlLog } from "../../platform/jsonl-log.js";
import { onStorage } from "../../platform/storage-errors.js";
import { committed } from "../durable-commit.js";
import type { StateEngine } from "../engine.js";
import { systemPartition } from "../partition.js";
import { rowAt } from "../stored-rows.js";

const FILES = systemPartition("files");
const LEVEL = "level";
const REBUILD = "rebuild";
/** Beside the journals: an index that was put here from elsewhere, newer or older, has another mark. */
const NAME = "index.level";

/**
 * What stands beside an index of journals. Level: left when the process ends with an index that has all that the journals have, and taken
 * away before anything is written again. Where it is missing (a kill, a power cut), is another index's, or there are more or fewer journals
 * than it says, every journal is looked at.
 * Rebuilding: there as long as an index may have more than its journals, or only some of what they have: it is made anew from them.
 */
export class IndexMarkers {
  readonly #engine: StateEngine;
  readonly #dir: string;
  readonly #fs: FileSystem;

  constructor(engine: StateEngine, { dir, fileSystem }: { readonly dir: string; readonly fileSystem: FileSystem }) {
    this.#engine = engine;
    this.#dir = dir;
    this.#fs = fileSystem;
  }

  async isRebuilding(): Promise<boolean> {
    return (await rowAt(this.#engine, FILES, REBUILD)) !== undefined;
  }

  async beginRebuild(): Promise<void> {
    await committed(this.#engine, FILES, { puts: [{ key: REBUILD, value: "true" }] });
  }

  async endRebuild(): Promise<void> {
    await committed(this.#engine, FILES, { deletes: [REBUILD] });
  }

  /** True where the index was left level with so many journals. Durably gone on resolve. */
  async takeLevel(journals: number): Promise<boolean> {
    const left = await rowAt(this.#engine, FILES, LEVEL);
    const mark = await onStorage(() => this.#takeMark());
    if (left === undefined) return false;
    await committed(this.#engine, FILES, { deletes: [LEVEL] });
    return mark !== null && left.value === levelValue(journals, mark);
  }

  async leaveLevel(journals: number): Promise<void> {
    const mark = newId();
    await onStorage(() => this.#leaveMark(mark));
    await committed(this.#engine, FILES, { puts: [{ key: LEVEL, value: levelValue(journals, mark) }] });
  }

  async #takeMark(): Promise<string | null> {
    const opened = await JsonlLog.open(this.#fs, this.#path);
    if (opened === null) return null;
    const line = await opened.log.lineAt(0);
    await opened.log.close();
    await this.#fs.unlink(this.#path);
    await this.#fs.syncDirectory(this.#dir);
    return line?.bytes.toString("utf8").trim() ?? null;
  }

  async #leaveMark(mark: string): Promise<void> {
    const log = await JsonlLog.create(this.#fs, this.#path);
    try {
      await log.append(Buffer.from(`${mark}\n`, "utf8"));
    } finally {
      await log.close();
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  get #path(): string {
    return join(this.#dir, NAME);
  }
}

function levelValue(journals: number, mark: string): string {
  return JSON.stringify({ journals, mark });
}
