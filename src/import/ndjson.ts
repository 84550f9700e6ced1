import { isUtf8 } from "node:buffer";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsedJson } from "../platform/json.js";
import { checkLine, type ImportLine, ImportProblems, type LinePlace } from "./import-line.js";

/** A line becomes a journal record, which has its own limit of 1 MiB. */
const MAX_LINE_BYTES = 512 * 1024;

/**
 * Reads JSON lines, streamed; blank lines are passed over, a byte order mark and CRLF are let through. Lines that are wrong are
 * noted, and thrown together at the end (or as soon as there are too many), so what was yielded counts only if the reading ends well.
 * @throws INVALID_IMPORT with the numbers of the lines, from 1
 */
export async function* readNdjson(body: AsyncIterable<Uint8Array>, now: Date): AsyncGenerator<ImportLine> {
  const problems = new ImportProblems();
  for await (const lines of linesOf(body)) {
    for (const { number, bytes } of lines) {
      const line = parse(bytes, { line: number, now }, problems);
      if (line !== null) yield line;
    }
  }
  problems.throwIfAny();
}

function parse(bytes: Uint8Array, place: LinePlace, problems: ImportProblems): ImportLine | null {
  const wrong = bytes.length > MAX_LINE_BYTES ? "is over 512 KiB" : !isUtf8(bytes) ? "is not UTF-8" : null;
  if (wrong !== null) {
    problems.add(place.line, "", wrong);
    return null;
  }
  const text = new TextDecoder().decode(bytes);
  const value = parsedJson(text);
  if (value !== undefined) return checkLine(value, place, problems);
  if (text.trim() !== "") problems.add(place.line, "", "is not JSON");
  return null;
}

interface NumberedLine {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

const NEWLINE = 0x0a;

/** The lines that end within each chunk, without the empty ones; cut in bytes, as a chunk may end within a character. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly NumberedLine[]> {
  let pieces: Uint8Array[] = [];
  let number = 1;
  for await (const chunk of body) {
    const lines: NumberedLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (pieces.length > 0 || end > start) lines.push({ number, bytes: Buffer.concat([...pieces, chunk.subarray(start, end)]) });
      pieces = [];
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    yield lines;
  }
  if (pieces.length > 0) yield [{ number, bytes: Buffer.concat(pieces) }];
}

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
