import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImportLine } from "./import-line.js";

interface Place {
  readonly offset: number;
  readonly length: number;
}

const FLUSH_BYTES = 1024 * 1024;

/**
 * Lines that were checked, kept on disk until the whole import is: only where each stands is held in memory. In a file that nobody
 * else may read and that goes with the process; `close` frees it.
 */
export class Spool {
  readonly #directory: string;
  readonly #file: FileHandle;
  readonly #places = new Map<string, Place[]>();
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #end = 0;
  #count = 0;

  private constructor(directory: string, file: FileHandle) {
    this.#directory = directory;
    this.#file = file;
  }

  /** @param parent where its directory is made. Default: the system's for temporary files. */
  static async open(parent: string = tmpdir()): Promise<Spool> {
    const directory = await mkdtemp(join(parent, "maitred-import-"));
    const file = await open(join(directory, "lines"), "wx+", 0o600);
    // Without a name it goes with the process, however that ends. Where the system doesn't let an open file go, `close` removes it.
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
    return new Spool(directory, file);
  }

  get count(): number {
    return this.#count;
  }

  /** External ids of the sessions, in order of their first line. */
  get sessions(): readonly string[] {
    return [...this.#places.keys()];
  }

  async add(line: ImportLine): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(line));
    const places = this.#places.get(line.session_id) ?? [];
    places.push({ offset: this.#end, length: bytes.length });
    this.#places.set(line.session_id, places);
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    this.#end += bytes.length;
    this.#count += 1;
    if (this.#bufferedBytes >= FLUSH_BYTES) await this.#flush();
  }

  /** The lines of one session, in order. */
  async *linesOf(session: string): AsyncGenerator<ImportLine> {
    await this.#flush();
    for (const { offset, length } of this.#places.get(session) ?? []) {
      const { buffer } = await this.#file.read(Buffer.alloc(length), 0, length, offset);
      yield JSON.parse(buffer.toString("utf8")) as ImportLine;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #flush(): Promise<void> {
    if (this.#bufferedBytes === 0) return;
    const bytes = Buffer.concat(this.#buffered);
    this.#buffered = [];
    this.#bufferedBytes = 0;
    await this.#file.appendFile(bytes);
  }
}
