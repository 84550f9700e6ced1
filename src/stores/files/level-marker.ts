import { join } from "node:path";
import { z } from "zod";
import { type FileSystem, nodeFileSystem } from "../../platform/file-system.js";
import { JsonlLog } from "../../platform/jsonl-log.js";

const NAME = "index.level";

/** The index's file as it was closed: one that is another, newer or older, is not what the marker speaks of. */
const markerSchema = z.object({ v: z.literal(1), size: z.number(), mtimeMs: z.number() });
type Marker = z.infer<typeof markerSchema>;

/**
 * `index.level`: left when the process ends with an index that has all that the journals have, and taken away before anything is
 * written again. Where it is missing (a kill, a power cut), every journal is looked at.
 */
export class LevelMarker {
  readonly #dir: string;
  readonly #fs: FileSystem;

  constructor(dir: string, fs: FileSystem) {
    this.#dir = dir;
    this.#fs = fs;
  }

  /** To be called before the index is opened. True where the index was left level. Durably gone on resolve. */
  async take(): Promise<boolean> {
    const path = join(this.#dir, NAME);
    const opened = await JsonlLog.open(this.#fs, path);
    if (opened === null) return false;
    const line = await opened.log.lineAt(0);
    await opened.log.close();
    await this.#fs.unlink(path);
    await this.#fs.syncDirectory(this.#dir);
    const left = line === null ? null : parsed(line.bytes.toString("utf8"));
    const index = await this.#index();
    return left !== null && left.size === index?.size && left.mtimeMs === index.mtimeMs;
  }

  /** To be called when the index is closed, and its file durable. */
  async leave(): Promise<void> {
    const index = await this.#index();
    if (index === null) return;
    const marker: Marker = { v: 1, size: index.size, mtimeMs: index.mtimeMs };
    const log = await JsonlLog.create(this.#fs, join(this.#dir, NAME));
    try {
      await log.append(Buffer.from(`${JSON.stringify(marker)}\n`, "utf8"));
    } finally {
      await log.close();
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  /** SQLite writes it past the file system of the journals. */
  #index() {
    return nodeFileSystem.stat(join(this.#dir, "index.db"));
  }
}

function parsed(text: string): Marker | null {
  try {
    return markerSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
